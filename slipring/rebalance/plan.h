// What a plan is in the metadata store: its records, their binary form, and the transactions that change them. The
// records alone are enough to go on from after any crash; intent is written before it is carried out.
//
//   epoch                the current snapshot (topology/codec.h); every publish compares and replaces it
//   attempt              the newest attempt of the cluster: at most one is open, numbers rise by one
//   open-plan/POOL       id of the pool's open plan: at most one
//   plan/ID              PlanRecord
//   group/ID/N           GroupRecord
//
// Invariant: decode(encode(r)) == r, damaged bytes are refused; ownership changes only in the transaction that commits
// an attempt. Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/coordination/metadata_store.h"
#include "slipring/store/server_facts.h"
#include "slipring/topology/snapshot.h"

namespace slipring::rebalance {

// The operator's intent for a whole plan.
enum class Goal : uint8_t {
  kForward = 0,    // cut over, wait out the grace time, clean up
  kComplete = 1,   // as kForward, without waiting
  kRollBack = 2,   // give ownership back, remove the copies
  kCancel = 3,     // the same, and end with strays where a target is gone
  kForceBack = 4,  // as kRollBack, but what cannot be reached is left behind as with kCancel
};

constexpr bool goes_back(Goal goal) {
  return goal == Goal::kRollBack || goal == Goal::kCancel || goal == Goal::kForceBack;
}

// Where a group is. The owner is the source until the commit of a cutover, the target after it
// (GroupRecord::target_owns).
//
//   planned > streaming > verifying > ready > cutover > grace > cleanup > done
//                 ^                     ^________|        |
//                 |    withdrawn, up to attempts_max      | rollback
//   cleanup of the copies > cancelled  <-----------  rolling_back (stream, verify, attempts the other way)
//
// stopped and needs_decision can be entered from every stage that is not final.
enum class Stage : uint8_t {
  kPlanned = 0,
  kStreaming = 1,
  kVerifying = 2,
  kReady = 3,
  kCutover = 4,
  kGrace = 5,
  kRollingBack = 6,
  kCleanup = 7,  // entered by compare-and-set: from here on nothing flips without a new stream
  kDone = 8,
  kNeedsDecision = 9,
  kStopped = 10,
  kCancelled = 11,
};
std::string_view stage_name(Stage stage);
constexpr bool is_final(Stage s) {
  return s == Stage::kDone || s == Stage::kCancelled;
}

enum class PlanState : uint8_t { kOpen = 0, kCompleted = 1, kRolledBack = 2, kCancelled = 3 };
std::string_view plan_state_name(PlanState state);

struct PlanOptions {
  int64_t grace_ms = 600'000;
  uint64_t keys_per_second = 0;   // 0 = no limit
  uint64_t bytes_per_second = 0;  // 0 = no limit
  uint32_t hold_bound_ms = 200;
  uint32_t hold_max_ms = 2'000;
  uint32_t attempts_max = 5;
  uint64_t key_bytes_max = 8u << 20;  // a larger key stops its move
  int64_t unreachable_ms = 30'000;    // an owner that does not answer for this long after a commit needs a decision
  bool accept_weaker = false;         // persistence and replicas of a target may be weaker than the source's
  bool serial_slices = false;         // a slice starts when the ones before it are cleaned up

  bool operator==(const PlanOptions&) const = default;
};

struct PlanRecord {
  uint64_t id = 0;
  std::string pool;
  std::string title;  // "add node n4 (weight 1)"
  Epoch base_epoch{0};
  Layout old_layout;
  Layout next_layout;
  uint32_t slices = 1;
  PlanOptions options;
  PlanState state = PlanState::kOpen;
  Goal goal = Goal::kForward;
  bool paused = false;
  uint32_t group_count = 0;
  int64_t created_at_ms = 0;
  int64_t finished_at_ms = 0;

  bool operator==(const PlanRecord&) const = default;
};

// A sum of 128-bit key digests mod 2^128: independent of order.
struct DigestSum {
  uint64_t low = 0;
  uint64_t high = 0;

  void add(const DigestSum& d) {
    const uint64_t before = low;
    low += d.low;
    high += d.high + (low < before ? 1 : 0);
  }
  bool operator==(const DigestSum&) const = default;
};

// What verification compared for one move: the verification table.
struct MoveTotals {
  uint64_t keys = 0;   // compared and equal
  uint64_t bytes = 0;  // of their payloads
  DigestSum owner;
  DigestSum other;

  bool operator==(const MoveTotals&) const = default;
};

struct GroupMove {
  uint32_t move = 0;  // index into OpenPlan::moves
  Instance target;
  MoveTotals totals;

  bool operator==(const GroupMove&) const = default;
};

inline constexpr uint32_t kNoServer = UINT32_MAX;

// One source instance and slice: the unit of a cutover.
struct GroupRecord {
  uint64_t plan = 0;
  uint32_t index = 0;
  uint32_t slice = 0;
  Instance source;
  std::vector<GroupMove> moves;
  Stage stage = Stage::kPlanned;
  Stage from = Stage::kPlanned;  // of kStopped and kNeedsDecision: the stage before
  bool target_owns = false;
  uint32_t attempts = 0;  // failed ones in a row
  std::string reason;     // of kStopped and kNeedsDecision; else the last thing worth knowing
  uint64_t strays = 0;    // keys left on the side that does not own them
  bool merge = false;     // decided: what the owner lacks is copied to it first; until then it serves nobody
  bool force = false;     // decided: the other side becomes the owner as it is
  // Of kNeedsDecision: the server that is another process than before (as in `identities`); kNoServer: one does not
  // answer.
  uint32_t changed_server = kNoServer;
  int64_t grace_ends_at_ms = 0;
  int64_t committed_at_ms = 0;
  // The processes that the copies are valid for: [0] the source, [1 + i] the target of moves[i]. Empty run ids: none
  // yet.
  std::vector<ServerIdentity> identities;

  bool operator==(const GroupRecord&) const = default;
};

enum class AttemptState : uint8_t { kOpen = 0, kCommitted = 1, kWithdrawn = 2 };

struct AttemptRecord {
  uint64_t number = 0;
  uint64_t plan = 0;
  uint32_t group = 0;
  Epoch epoch{0};     // commit requires that this is still the current one
  bool back = false;  // ownership goes to the source
  AttemptState state = AttemptState::kWithdrawn;
  std::vector<uint64_t> generations;  // of routers that must acknowledge, ascending

  bool operator==(const AttemptRecord&) const = default;
};

inline constexpr std::string_view kEpochKey = "epoch";
inline constexpr std::string_view kAttemptKey = "attempt";
std::string open_plan_key(std::string_view pool);
// The plan's id in the record of open_plan_key(). kDataLoss: damaged.
Result<uint64_t> decode_open_plan(std::string_view bytes);
std::string plan_key(uint64_t id);
std::string group_key(uint64_t id, uint32_t group);
std::string group_prefix(uint64_t id);

std::string encode(const PlanRecord& record);
std::string encode(const GroupRecord& record);
std::string encode(const AttemptRecord& record);
// kDataLoss: foreign, damaged or truncated bytes; kUnimplemented: a format of a later Slipring.
Result<PlanRecord> decode_plan(std::string_view bytes);
Result<GroupRecord> decode_group(std::string_view bytes);
Result<AttemptRecord> decode_attempt(std::string_view bytes);

// A record's content with the revision that a compare needs; revision 0 = absent.
template <typename T>
struct Revised {
  T value;
  uint64_t revision = 0;
};

// Groups of an open plan's moves, by (source, slice), in order. REQUIRES: moves are sorted (topology/snapshot.h).
std::vector<GroupRecord> make_groups(uint64_t plan, const std::vector<MoveOwner>& moves);

// The next epoch, in which the pool's plan is open and every source still owns. kFailedPrecondition: a plan is open,
// kNotFound: no such pool.
Result<Snapshot> snapshot_with_plan(const Snapshot& now, const PlanRecord& plan, std::vector<MoveOwner> moves);
// The next epoch, in which these moves are owned by their target or source. kFailedPrecondition: not this plan's
// snapshot.
Result<Snapshot> snapshot_with_owner(const Snapshot& now, const PlanRecord& plan, const GroupRecord& group,
                                     bool target_owns);
// The next epoch, in which the plan is closed: the pool has the next layout (forward) or the old one.
// kFailedPrecondition: not this plan's snapshot, or some move is owned by the other side.
Result<Snapshot> snapshot_without_plan(const Snapshot& now, const PlanRecord& plan, bool forward);

// Every transaction here is to be fenced by the leader's lease: with_lease() adds the comparison.
Transaction with_lease(Transaction transaction, std::string_view lease_name, const Lease& lease);

// Opens a plan: {no open plan of the pool, epoch as read} -> {plan, groups, next epoch}.
Transaction open_plan_transaction(const Revised<Snapshot>& epoch, const PlanRecord& plan,
                                  const std::vector<GroupRecord>& groups, const Snapshot& next);
// Opens an attempt: {newest attempt closed, epoch and group as read} -> {attempt open, group in cutover}.
Transaction open_attempt_transaction(const Revised<AttemptRecord>& newest, uint64_t epoch_revision,
                                     const AttemptRecord& attempt, uint64_t group_revision, const GroupRecord& group);
// The point of no return: {attempt open, epoch and group as read} -> {attempt committed, next epoch, group flipped}.
Transaction commit_transaction(const Revised<AttemptRecord>& open, const Revised<GroupRecord>& group,
                               uint64_t epoch_revision, const Snapshot& next, const GroupRecord& flipped);
// {attempt open, group as read} -> {attempt withdrawn, group}.
Transaction withdraw_transaction(const Revised<AttemptRecord>& open, uint64_t group_revision, const GroupRecord& group);
// {plan and epoch as read} -> {plan closed, next epoch, pool free for another plan}.
Transaction close_plan_transaction(const Revised<PlanRecord>& plan, uint64_t epoch_revision, const Snapshot& next,
                                   const PlanRecord& closed);

}  // namespace slipring::rebalance
