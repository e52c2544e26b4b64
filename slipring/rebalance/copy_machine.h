// The copying of one group (a source and slice with its targets) as a state machine: feeds, scans, rounds over changed
// keys, verification, the last round inside a hold, the flip to the other direction, cleanup. Events in, actions out;
// batches of keys, never single ones. The owner's state is copied to the other side: source to targets before the
// cutover, targets to source after it.
//
//   opening > (proceed) > copying > settling > verifying > steady <> sealing > sealed > (flip) steady, other direction
//                            ^_____________________________|                            (unseal) steady
//   sweep: steady or earlier > sweeping > swept
//
// Invariants: the feeds of both sides are open before the first scan and the first write; one copy in flight per key; a
// key is removed from the other side only if an uninterrupted owner (run id, role, replication id as recorded) lacks
// it; every key that was written is compared before the machine is steady; a change on the other side that the machine
// did not make itself is an alarm that names the key.
// Memory: sets of keys are bounded (CopyLimits); above that they become bitmaps of buckets that are scanned again.
// Thread-safety: one owner. No I/O, no clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/rebalance/key_set.h"
#include "slipring/rebalance/plan.h"
#include "slipring/rebalance/token_bucket.h"

namespace slipring::rebalance {

// Time as an input: monotonic for waiting, wall clock for expiry of keys.
struct Now {
  MonoTime mono{};
  int64_t wall_ms = 0;
};

// Servers of a group: 0 is the source, 1 + i the target of moves[i].
using Peer = uint32_t;
inline constexpr Peer kSource = 0;
// Index into the group's moves (not into the plan's).
using MoveInGroup = uint32_t;

// ---- actions: what the caller does. Everything with an id or batch is answered by exactly one event with that number,
// and only when its outcome is *certain*: every reply was read, or the server confirmed the end of the connection
// (CLIENT KILL), or the process is another one. A request that may still run has no outcome yet.

// Opens the feed of changed keys (and closes the one before, if any). Answer: FeedOpened or FeedFailed.
struct OpenFeed {
  Peer peer = 0;
};
// Changes that happened on the server before now are delivered (FeedChanges) before the answer BarrierReached.
struct Barrier {
  uint64_t id = 0;
  Peer peer = 0;
};
// Next step of an iteration over the server's keys; cursor 0 begins. Only keys of this group (for a target's scan: of
// its move) are answered. Answer: Scanned or ScanFailed.
struct Scan {
  uint64_t id = 0;
  Peer peer = 0;
  uint64_t cursor = 0;
};
// Reads keys of one move from the owner; with payload: the caller keeps what a WriteKeys of the same batch writes. The
// identity is read on the same connection AFTER the keys. Answer: KeysRead or BatchFailed.
struct ReadKeys {
  uint64_t batch = 0;
  MoveInGroup move = 0;
  Peer peer = 0;
  bool payload = true;  // false: only whether the key exists
  KeyList keys;
};
// Writes what ReadKeys of this batch read, by index: RESTORE REPLACE ABSTTL, or UNLINK. if_absent: without REPLACE, and
// a key that exists is left alone. Answer: KeysWritten or BatchFailed; after either the caller forgets the payloads.
struct WriteKeys {
  uint64_t batch = 0;
  MoveInGroup move = 0;
  Peer peer = 0;
  std::vector<uint32_t> restore;
  std::vector<uint32_t> remove;
  bool if_absent = false;
};
// The batch that ReadKeys kept is not needed.
struct DropBatch {
  uint64_t batch = 0;
};
// Reads keys on both sides and digests value and expiry. Answer: KeysCompared or BatchFailed.
struct CompareKeys {
  uint64_t batch = 0;
  MoveInGroup move = 0;
  Peer owner = 0;
  Peer other = 0;
  KeyList keys;
};
// UNLINK. Answer: KeysDeleted or BatchFailed.
struct DeleteKeys {
  uint64_t batch = 0;
  MoveInGroup move = 0;
  Peer peer = 0;
  KeyList keys;
};

// ---- reports to the plan machine (also actions)

// Feeds are open; `identities` by peer. The machine waits for kProceed, so that they are recorded first.
struct FeedsOpen {
  std::vector<ServerIdentity> identities;
};
// Everything was copied once; verification runs.
struct CopiedOnce {};
// Converged and compared; a hold would be short. Sent each time the machine becomes so; NotReady when it is no longer.
struct Ready {
  std::vector<MoveTotals> totals;  // by move
};
struct NotReady {
  std::string reason;
};
struct Sealed {
  uint64_t attempt = 0;  // of the kSeal that it answers
  std::vector<ServerIdentity> identities;  // by peer, read at the last barrier
  std::vector<MoveTotals> totals;
  uint64_t keys_in_hold = 0;
};
// The last round failed, or a sealed copy was touched: the attempt must be withdrawn.
struct SealBroken {
  std::string reason;
};
// The direction is the other one now; routers may be told.
struct Flipped {};
struct Swept {
  uint64_t deleted = 0;
  uint64_t strays = 0;
};
// Somebody else changed a key on the side that does not own it, or a copy differed. It is repaired from the owner.
struct Alarm {
  MoveInGroup move = 0;
  std::string key;
  std::string what;
};
// The machine rests; nothing is written or deleted any more.
struct CopyStopped {
  std::string reason;  // names the key where there is one
};
// The owner is another process than the one whose state was copied. The machine rests; nothing was deleted.
struct OwnerChanged {
  Peer peer = 0;
  ServerIdentity now;
  uint64_t extras = 0;  // keys that only the other side holds, as far as known
  std::string reason;
};
// A server does not answer (message) or answers again (empty).
struct PeerTrouble {
  Peer peer = 0;
  std::string message;
};

using CopyAction = std::variant<OpenFeed, Barrier, Scan, ReadKeys, WriteKeys, DropBatch, CompareKeys, DeleteKeys,
                                FeedsOpen, CopiedOnce, Ready, NotReady, Sealed, SealBroken, Flipped, Swept, Alarm,
                                CopyStopped, OwnerChanged, PeerTrouble>;
using CopyActions = std::vector<CopyAction>;

// ---- events

struct FeedOpened {
  Peer peer = 0;
  ServerIdentity identity;
};
// Not opened. `refused`: trying again is useless (another database in use, a server that allows no feed).
struct FeedFailed {
  Peer peer = 0;
  bool refused = false;
  std::string message;
};
enum class ChangeKind : uint8_t {
  kWrite = 0,    // any effect but the two below
  kRestore = 1,  // a RESTORE
  kRemove = 2,   // DEL or UNLINK, of a client or because of expiry
};
struct FeedChange {
  MoveInGroup move = 0;
  ChangeKind kind = ChangeKind::kWrite;
  std::string_view key;  // valid during the call
};
struct FeedChanges {
  Peer peer = 0;
  std::vector<FeedChange> changes;
};
// FLUSHALL: every key of the server is gone.
struct FeedFlushed {
  Peer peer = 0;
};
// The feed showed something whose keys are not known: every key may have changed.
struct FeedUnclear {
  Peer peer = 0;
  std::string message;
};
// The feed showed what a move cannot follow (SWAPDB, a write in another database): the machine stops.
struct FeedUnusable {
  Peer peer = 0;
  std::string message;
};
// Changes since the last delivered one are unknown. The caller has closed the feed.
struct FeedLost {
  Peer peer = 0;
  std::string message;
};
struct BarrierReached {
  uint64_t id = 0;
  ServerIdentity identity;
};
// Also sent when the feed was lost before the barrier was reached.
struct BarrierFailed {
  uint64_t id = 0;
};
struct Scanned {
  uint64_t id = 0;
  uint64_t next_cursor = 0;   // 0: the iteration is complete
  std::vector<KeyList> keys;  // by move; may hold repeats
};
struct ScanFailed {
  uint64_t id = 0;
  std::string message;
};
// kUnread: with payloads only; the keys before it in the batch take all the memory that a batch may.
enum class KeyState : uint8_t { kAbsent = 0, kPresent = 1, kTooBig = 2, kUnread = 3 };
struct KeyEntry {
  KeyState state = KeyState::kAbsent;
  DigestSum digest;       // of type, value and expiry; only of CompareKeys
  int64_t expire_ms = 0;  // wall clock; 0: none
  uint64_t bytes = 0;     // of the payload
};
struct KeysRead {
  uint64_t batch = 0;
  ServerIdentity identity;
  std::vector<KeyEntry> entries;
};
enum class WriteEffect : uint8_t { kNone = 0, kRestored = 1, kRemoved = 2 };
struct KeysWritten {
  uint64_t batch = 0;
  std::vector<WriteEffect> restored;  // by WriteKeys::restore; kNone: it existed (if_absent) or had expired
  std::vector<WriteEffect> removed;   // by WriteKeys::remove; kNone: it did not exist
};
struct KeysCompared {
  uint64_t batch = 0;
  ServerIdentity owner_identity;
  ServerIdentity other_identity;
  std::vector<KeyEntry> owner;
  std::vector<KeyEntry> other;
};
struct KeysDeleted {
  uint64_t batch = 0;
  std::vector<WriteEffect> effects;
};
// Nothing, a part or all of it was done, and nothing of it will happen later. `refused`: the server answered an error
// that will come again (OOM, READONLY, NOPERM).
struct BatchFailed {
  uint64_t batch = 0;
  Peer peer = 0;
  bool refused = false;
  std::string message;
};
// Time passed; call at next_wake().
struct CopyTick {};

using CopyEvent = std::variant<FeedOpened, FeedFailed, FeedChanges, FeedFlushed, FeedUnclear, FeedUnusable, FeedLost,
                               BarrierReached, BarrierFailed, Scanned, ScanFailed, KeysRead, KeysWritten, KeysCompared,
                               KeysDeleted, BatchFailed, CopyTick>;

// ---- what the plan machine tells it
enum class CopyCommand : uint8_t {
  kProceed = 0,  // identities are recorded
  kPause = 1,    // no new batches; feeds are read
  kResume = 2,
  kSeal = 3,     // commands are held, others fenced: last round; carries the attempt
  kUnseal = 4,   // withdrawn
  kFlip = 5,     // committed: confirm that nobody touched the new owner, then Flipped
  kFlipNow = 6,  // committed, and waiting longer is worse
  kSweep = 7,    // delete what the side that does not own holds
};

struct CopyLimits {
  size_t batch_keys = 512;
  uint64_t batch_bytes = 16u << 20;  // aimed at, by the mean size of what was copied so far
  size_t batches_in_flight = 4;
  size_t set_keys_max = 2'000'000;    // of each set of keys
  size_t set_bytes_max = 256u << 20;  // of each set of keys
  uint64_t ready_keys = 1'000;        // a round this small may end in a hold
  uint64_t ready_bytes = 4u << 20;
  uint32_t rounds_without_shrinking_max = 30;
  uint32_t seal_rounds_max = 5;
  int64_t idle_ms = 20;    // between rounds of a steady machine
  int64_t retry_ms = 200;  // after a failure of a server
};

struct CopySpec {
  size_t moves = 1;
  bool target_owns = false;  // direction: targets to source
  bool sweep_only = false;   // restarted in cleanup: nothing is copied any more
  uint64_t keys_per_second = 0;
  uint64_t bytes_per_second = 0;
  std::vector<ServerIdentity> recorded;  // by peer; empty run ids: none yet
  bool merge_first = false;   // decided: what the owner lacks is copied to it from the other side before all else
  bool recheck_owner = true;  // a changed owner that holds every copied key goes on; false: OwnerChanged at once
  CopyLimits limits;
};

// For status and metrics.
struct CopyProgress {
  uint64_t scanned = 0;
  uint64_t copied_keys = 0;
  uint64_t copied_bytes = 0;
  uint64_t dirty = 0;
  uint64_t rounds = 0;
  uint64_t alarms = 0;
  bool ready = false;
};

enum class CopyPhase : uint8_t {
  kOpening,
  kWaiting,
  kCopying,
  kSettling,
  kVerifying,
  kSteady,
  kSealing,
  kSealed,
  kFlipping,
  kMerging,
  kSweeping,
  kSwept,
  kStopped
};
std::string_view copy_phase_name(CopyPhase phase);

class CopyMachine {
 public:
  explicit CopyMachine(CopySpec spec);
  ~CopyMachine();
  CopyMachine(CopyMachine&&) noexcept;
  CopyMachine& operator=(CopyMachine&&) noexcept;

  CopyActions start(Now now);
  CopyActions on(CopyEvent event, Now now);
  // `attempt`: of kSeal; Sealed repeats it, so that one which comes too late is not taken for the answer to the next.
  CopyActions command(CopyCommand command, Now now, uint64_t attempt = 0);

  // When to send CopyTick, if nothing else happens before.
  std::optional<MonoTime> next_wake() const;
  CopyPhase phase() const;
  bool target_owns() const;
  CopyProgress progress() const;
  const std::vector<MoveTotals>& totals() const;

  struct State;  // copy_state.h

 private:
  std::unique_ptr<State> state_;
};

}  // namespace slipring::rebalance
