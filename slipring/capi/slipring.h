// Slipring for C and everything that calls C: where a key lives, from a snapshot file of a router or from a placement
// made in the program. Link with -lslipring_c.
//
// ABI: symbols carry the version SLIPRING_1; within it functions are only added and structs never change.
// Errors: every function that can fail answers a slipring_code; slipring_last_error() says why, for the calling thread.
// After a failure nothing was made or changed, and out-parameters hold what they held.
// Threads: any number of threads may look up in one handle at once. A handle is closed by one thread, when no other uses
// it. Keys are bytes with a length; NUL bytes and empty keys are keys.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLIPRING_ABI_VERSION 1u

// The numbers are those of gRPC's canonical codes.
typedef enum slipring_code {
  SLIPRING_OK = 0,
  SLIPRING_UNKNOWN = 2,
  SLIPRING_INVALID_ARGUMENT = 3,
  SLIPRING_NOT_FOUND = 5,
  SLIPRING_RESOURCE_EXHAUSTED = 8,
  SLIPRING_FAILED_PRECONDITION = 9,
  SLIPRING_OUT_OF_RANGE = 11,
  SLIPRING_UNIMPLEMENTED = 12,
  SLIPRING_INTERNAL = 13,
  SLIPRING_UNAVAILABLE = 14,
  SLIPRING_DATA_LOSS = 15
} slipring_code;

// SLIPRING_ABI_VERSION of the library that is loaded.
uint32_t slipring_abi_version(void);

// Why the last failing call of this thread failed, "" if none did. Valid until this thread's next failing call.
const char *slipring_last_error(void);

// --- A snapshot: the topology of one epoch ---

typedef struct slipring_snapshot slipring_snapshot;

// Reads DIR/router-ID.snapshot of a router, or what `slipring topology export` wrote. SLIPRING_NOT_FOUND: no such file;
// SLIPRING_DATA_LOSS: damaged; SLIPRING_UNIMPLEMENTED: written by a later Slipring.
slipring_code slipring_snapshot_open(const char *path, slipring_snapshot **out);
// NULL is allowed.
void slipring_snapshot_close(slipring_snapshot *snapshot);

uint64_t slipring_snapshot_epoch(const slipring_snapshot *snapshot);
size_t slipring_snapshot_pool_count(const slipring_snapshot *snapshot);
// NULL if there is no such pool. Valid until the snapshot is closed.
const char *slipring_snapshot_pool_name(const slipring_snapshot *snapshot, size_t pool);
// The index of a pool; name NULL: the only one. SLIPRING_NOT_FOUND; SLIPRING_INVALID_ARGUMENT: NULL and several pools.
slipring_code slipring_snapshot_find_pool(const slipring_snapshot *snapshot, const char *name, size_t *out);

// Strings are valid until the snapshot is closed.
typedef struct slipring_location {
  const char *node;    /* who serves the key in this epoch */
  const char *address; /* host:port */
  const char *source;  /* while a plan moves the key: the node that gives it, else NULL */
  const char *target;  /* and the node that takes it */
  uint64_t epoch;
} slipring_location;

// Who serves the key. One or two placement look-ups, no allocation.
slipring_code slipring_snapshot_locate(const slipring_snapshot *snapshot, size_t pool, const void *key,
                                       size_t key_bytes, slipring_location *out);

// The key's point and the range that holds it, as text, under the placement of the node that serves it. Both are
// NUL-terminated. SLIPRING_OUT_OF_RANGE: a buffer is too small (128 bytes suffice for every scheme).
slipring_code slipring_snapshot_explain(const slipring_snapshot *snapshot, size_t pool, const void *key,
                                        size_t key_bytes, char *point, size_t point_bytes, char *range,
                                        size_t range_bytes);

// --- A placement made in the program ---

typedef struct slipring_placement slipring_placement;

typedef struct slipring_member {
  const char *name;              /* 1 to 64 of [A-Za-z0-9._-], no two equal */
  const char *label;             /* what the scheme hashes; NULL: the name */
  const char *zone;              /* NULL: a zone of its own */
  int64_t weight_milli;          /* thousandths, 0 to 1000000; 1000 is the ordinary weight */
  const char *const *attributes; /* "name=value" texts with NULL at the end, or NULL */
} slipring_member;

#define SLIPRING_NO_NODE UINT32_MAX

// scheme: a name that `slipring schemes` lists; options: "name=value" texts with NULL at the end, or NULL.
// SLIPRING_INVALID_ARGUMENT says which option or member is wrong and what is allowed.
slipring_code slipring_placement_new(const char *scheme, const char *const *options, const slipring_member *members,
                                     size_t member_count, slipring_placement **out);
// NULL is allowed.
void slipring_placement_free(slipring_placement *placement);

// Index of the owner among the members; SLIPRING_NO_NODE only if none owns anything. No allocation.
uint32_t slipring_placement_owner(const slipring_placement *placement, const void *key, size_t key_bytes);
// owners[i] for keys[i], faster than one by one.
void slipring_placement_owners(const slipring_placement *placement, const void *const *keys, const size_t *key_bytes,
                               size_t count, uint32_t *owners);
// The first `capacity` nodes of the key's preference list, the owner first; answers how many there are.
size_t slipring_placement_list(const slipring_placement *placement, const void *key, size_t key_bytes,
                               uint32_t *nodes, size_t capacity);
// As slipring_snapshot_explain().
slipring_code slipring_placement_explain(const slipring_placement *placement, const void *key, size_t key_bytes,
                                         char *point, size_t point_bytes, char *range, size_t range_bytes);

#ifdef __cplusplus
}
#endif
