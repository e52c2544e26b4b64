// The snapshot's own binary form, so that reading it needs no JSON and nothing but this library: on disk, on the
// channel to routers and in the metadata store. docs/snapshot-format.md describes it byte by byte.
//
//   8 bytes magic "SLPRSNAP" | u16 format | u64 length of body | body | 16 bytes XXH3-128 of everything before
//
// Invariant: decode(encode(x)) == x; equal snapshots have equal bytes; any changed, missing or added byte is refused.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring {

// Largest encoded snapshot; validate() refuses what would be larger, so a snapshot always fits a frame of the channel.
inline constexpr size_t kSnapshotBytesMax = 24u << 20;

// Cost: linear in nodes and moves.
std::string encode_snapshot(const Snapshot& snapshot);

// kDataLoss: foreign, damaged or truncated bytes; kUnimplemented: a format of a later Slipring. The form is checked,
// not the meaning: call validate() on bytes that somebody may have made. Memory: bounded by the input, at most about 50
// times.
Result<Snapshot> decode_snapshot(std::string_view bytes);

// For people: one line a pool, node and plan; moves are counted, not listed.
std::string dump(const Snapshot& snapshot);

}  // namespace slipring
