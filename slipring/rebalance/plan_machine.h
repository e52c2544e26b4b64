// The controller's side of a plan: stages, attempts, fences, commit, grace, rollback, cleanup, decisions. It holds what
// the records say and works out what to do next; the caller performs the actions and brings the results back. Built
// from the records alone it goes on from any point: what is uncertain is done again or withdrawn.
//
// Invariants: intent is written before it is carried out; nothing touches a server of a group before the users of older
// terms are removed there; ownership flips only by a transaction that compares the open attempt, the epoch and the
// lease; before it every router in the acknowledged set holds, every other router user is removed and its removal
// durable; a transaction with unknown outcome is read back before anything else happens; a key is deleted only in
// cleanup. Every state that is not final has a command that leaves it.
// Thread-safety: one owner. No I/O, no clock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "slipring/rebalance/copy_machine.h"
#include "slipring/rebalance/plan.h"

namespace slipring::rebalance {

// ---- actions. Those with an id are answered by one event with that id.

// Answer: StoreRecords or StoreFailed.
struct StoreRead {
  uint64_t id = 0;
  std::vector<std::string> keys;
};
// The caller adds the comparison of its lease (with_lease) and commits. Answer: StoreCommitted.
struct StoreCommit {
  uint64_t id = 0;
  Transaction transaction;
};
// Removes mover and controller users of older terms on the server, makes those of this term, durably. Answer: Done.
struct FenceTerms {
  uint64_t id = 0;
  Instance instance;
};
// Removes every router user (ACL DELUSER, which also ends its connections) whose generation is not in `keep`, durably
// (ACL SAVE, CONFIG REWRITE). Answer: Done.
struct FenceRouters {
  uint64_t id = 0;
  Instance instance;
  std::vector<uint64_t> keep;  // ascending
};
// Answer: RouterUsers or Done with an error.
struct ListRouterUsers {
  uint64_t id = 0;
  Instance instance;
};
// What the instance holds now must survive a crash of it, if it persists at all: an AOF that was on since `since_ms`,
// or a BGSAVE or rewrite started after it. Answer: Done (an error means not yet).
struct EnsurePersisted {
  uint64_t id = 0;
  Instance instance;
  int64_t since_ms = 0;
};
// Sends AttemptOpen to every router of `generations` (and again to one that reconnects, until AnnounceClosed).
struct AnnounceOpen {
  AttemptRecord attempt;
  std::string pool;
  std::vector<uint32_t> moves;  // of the open plan
  uint32_t hold_bound_ms = 0;
  uint32_t hold_max_ms = 0;
};
// The attempt is closed in the store. Committed: Publish comes first.
struct AnnounceClosed {
  uint64_t attempt = 0;
  bool committed = false;
  Epoch epoch{0};
};
// This snapshot is in the store as the current one: push it to every router.
struct Publish {
  std::shared_ptr<const Snapshot> snapshot;
};
// Builds a CopyMachine for the group, drops an earlier one with its feeds and connections (their ends confirmed), and
// starts it.
struct StartCopy {
  uint32_t group = 0;
  CopySpec spec;
};
struct TellCopy {
  uint32_t group = 0;
  CopyCommand command = CopyCommand::kProceed;
  uint64_t attempt = 0;  // of kSeal
};
// Ends the group's CopyMachine and closes its feeds.
struct StopCopy {
  uint32_t group = 0;
};
// Something did not go as it should (status, log); `group` may be kNoGroup.
struct Note {
  uint32_t group = 0;
  std::string text;
};
inline constexpr uint32_t kNoGroup = UINT32_MAX;

using PlanAction = std::variant<StoreRead, StoreCommit, FenceTerms, FenceRouters, ListRouterUsers, EnsurePersisted,
                                AnnounceOpen, AnnounceClosed, Publish, StartCopy, TellCopy, StopCopy, Note>;
using PlanActions = std::vector<PlanAction>;

// ---- events

// One record for each key asked for, in that order; revision 0 = absent.
struct StoreRecords {
  uint64_t id = 0;
  std::vector<Record> records;
};
struct StoreFailed {
  uint64_t id = 0;
  std::string message;
};
enum class CommitOutcome : uint8_t { kCommitted = 0, kAborted = 1, kUnknown = 2, kUnavailable = 3 };
struct StoreCommitted {
  uint64_t id = 0;
  CommitOutcome outcome = CommitOutcome::kCommitted;
  uint64_t revision = 0;  // of the records written
};
struct Done {
  uint64_t id = 0;
  bool ok = true;
  std::string message;
};
struct RouterUsers {
  uint64_t id = 0;
  std::vector<uint64_t> generations;  // ascending
  ServerIdentity identity;            // read after the list
};
// All generations that the controller has given out and that are not known to be fenced everywhere.
struct RouterView {
  uint64_t generation = 0;
  std::string router;
  bool alive = false;  // connected and heard of within the heartbeat time-out
  Epoch epoch{0};      // acknowledged: every thread serves by it, nothing older is in flight
  bool operator==(const RouterView&) const = default;
};
struct RoutersChanged {
  std::vector<RouterView> routers;
};
struct AttemptAcked {
  uint64_t attempt = 0;
  uint64_t generation = 0;
};
struct WithdrawAsked {
  uint64_t attempt = 0;
};
// A report of the group's copy machine (one of the report actions).
struct CopyReport {
  uint32_t group = 0;
  CopyAction report;
};
struct PlanTick {};

using PlanEvent = std::variant<StoreRecords, StoreFailed, StoreCommitted, Done, RouterUsers, RoutersChanged,
                               AttemptAcked, WithdrawAsked, CopyReport, PlanTick>;

// ---- commands of an operator
enum class Order : uint8_t {
  kPause = 0,   // no new stage, no new batch; an open attempt is withdrawn
  kResume = 1,  // also leaves stopped
  kRollBack = 2,
  kComplete = 3,  // end the grace time now; stopped while it removed what cannot be reached: end with strays
  kCancel = 4,
  kDecideOwner = 5,
  kDecideOther = 6,
  kDecideMerge = 7,
  // As kRollBack, but the source's copy is taken as it is, with what was written meanwhile lost, for the moves whose
  // target does not answer, has stopped or needs a decision.
  kForceBack = 8,
};
std::string_view order_name(Order order);
// The orders that leave a stage; never empty for a stage that is not final.
std::vector<Order> orders_leaving(Stage stage);

struct PlanLimits {
  int64_t retry_ms = 200;    // after a failed step
  int64_t backoff_ms = 250;  // after the first failed attempt; doubles
  int64_t backoff_max_ms = 8'000;
  int64_t ack_wait_ms = 0;          // 0: the plan's hold_bound_ms
};

class PlanMachine {
 public:
  // `groups` in order of their index. REQUIRES: groups.size() == plan.value.group_count.
  PlanMachine(Revised<PlanRecord> plan, std::vector<Revised<GroupRecord>> groups, PlanLimits limits = {});
  ~PlanMachine();
  PlanMachine(PlanMachine&&) noexcept;
  PlanMachine& operator=(PlanMachine&&) noexcept;

  // Goes on from the records. Call once.
  PlanActions start(Now now);
  PlanActions on(PlanEvent event, Now now);
  // kFailedPrecondition: not in this state; the message says what would. `group` only for decisions.
  Result<PlanActions> order(Order order, uint32_t group, Now now);

  std::optional<MonoTime> next_wake() const;
  const PlanRecord& plan() const;
  const GroupRecord& group(uint32_t index) const;
  size_t group_count() const;
  bool finished() const { return plan().state != PlanState::kOpen; }
  // False until it is known whether an earlier controller left an attempt open: until then no router is told that it is
  // synchronised (channel::Synced).
  bool recovered() const;
  // The plan's attempt that may be open in the store. While there is one, no router user may be created on the servers
  // of attempt_instances().
  std::optional<AttemptRecord> open_attempt() const;
  std::vector<Instance> attempt_instances() const;
  // The other side has every change: a rollback would lose nothing. Else why not.
  Status rollback_available() const;

  // A record is being written: what was ordered last is not durable yet.
  bool saving() const;

  struct State;  // plan_state.h

 private:
  std::unique_ptr<State> state_;
};

}  // namespace slipring::rebalance
