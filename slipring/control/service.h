// What an operator can ask of a controller: the use-cases behind the CLI, the HTTP API and the dashboard, as one
// interface over plain values. The controller implements it; ApiClient implements it over HTTP, so a command is the
// same code against both; tests implement it in memory.
//
// Invariant: a call that answers an error has changed nothing, unless the code is kDeadlineExceeded (outcome unknown:
// read before acting again). Codes used throughout:
//   kNotFound            no such pool, node, router, plan or move
//   kInvalidArgument     a name, weight, address or option is wrong in any state
//   kFailedPrecondition  another plan is open, or the plan is in a state that does not allow it; the message says what
//                        would
//   kAborted             the topology changed in between: ask again
//   kUnavailable         this controller does not lead (the message names who does) or cannot reach its metadata store
// Thread-safety: any thread may call; calls may block on servers for seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/rebalance/preflight.h"
#include "slipring/topology/snapshot.h"

namespace slipring::control {

// An empty pool name in any request means "the only one"; with several pools that is kInvalidArgument naming them.

// ---- preflight
// -------------------------------------------------------------------------------------------------------

// One thing that preflight found, and what to do about it. A plan starts only when no finding refuses.
using rebalance::Finding;
using rebalance::refuses;
using rebalance::Severity;

// ---- status
// ----------------------------------------------------------------------------------------------------------

enum class NodeState : uint8_t { kUp = 0, kDown = 1, kLoading = 2, kJoining = 3, kLeaving = 4, kUnknown = 5 };

struct NodeStatus {
  std::string name;
  std::string address;
  uint64_t generation = 1;
  std::string zone;
  int64_t weight_milli = 1000;
  double share = 0;               // of the key space that it owns now, 0 to 1
  std::optional<uint64_t> keys;   // none: the node did not answer
  std::optional<uint64_t> bytes;  // used memory
  NodeState state = NodeState::kUnknown;
  std::string detail;  // why it is down, what it is doing; may be empty

  bool operator==(const NodeStatus&) const = default;
};

enum class RouterState : uint8_t { kServing = 0, kBehind = 1, kGone = 2, kFenced = 3 };

struct RouterStatus {
  std::string id;
  std::string listen;
  uint64_t epoch = 0;
  uint64_t generation = 0;
  RouterState state = RouterState::kGone;
  int64_t silent_ms = 0;  // since its last heartbeat
  uint64_t clients = 0;
  uint64_t commands = 0;  // since its start
  uint64_t errors = 0;
  uint64_t held = 0;  // commands on hold now

  bool operator==(const RouterStatus&) const = default;
};

enum class PlanState : uint8_t {
  kRunning = 0,
  kPaused = 1,
  kGrace = 2,       // every move is owned by its target; changes are copied back
  kCompleting = 3,  // cleanup
  kRollingBack = 4,
  kCancelling = 5,
  kStopped = 6,        // it gave up a step; `reason` says why; resume, rollback or cancel leave it
  kNeedsDecision = 7,  // decide leaves it
  kCompleted = 8,      // final
  kRolledBack = 9,     // final
  kCancelled = 10,     // final
};
bool is_final(PlanState state);

// Where the plan can be taken back without losing new writes.
struct RollbackStatus {
  bool available = false;
  std::string reason;                // why not
  int64_t unavailable_since_ms = 0;  // wall clock; 0: it is available, or never was

  bool operator==(const RollbackStatus&) const = default;
};

struct PlanSummary {
  uint64_t id = 0;
  std::string pool;
  std::string title;  // "add node n4 (weight 1)"
  PlanState state = PlanState::kRunning;
  std::string reason;  // of kStopped, kNeedsDecision, kPaused; what to do included
  int64_t created_at_ms = 0;
  int64_t finished_at_ms = 0;    // 0: still open
  int64_t grace_ends_at_ms = 0;  // 0: not in grace
  uint64_t epoch_before = 0;
  uint64_t epoch_now = 0;   // the last epoch that the plan published
  uint64_t keys_total = 0;  // estimated
  uint64_t keys_done = 0;
  uint64_t bytes_total = 0;
  uint64_t bytes_done = 0;
  double keys_per_second = 0;
  double bytes_per_second = 0;
  std::optional<int64_t> time_left_ms;  // until cutover of the last move; none: not known
  uint64_t feed_lag_bytes = 0;          // of the slowest feed
  RollbackStatus rollback;

  bool operator==(const PlanSummary&) const = default;
};

struct PoolStatus {
  std::string name;
  std::string kind;    // "store" or "cache"
  std::string scheme;  // describe(SchemeSpec)
  std::string key_prefix;
  std::vector<NodeStatus> nodes;    // while a plan is open: of its old and its new side
  std::optional<PlanSummary> plan;  // the open one
  std::string fence = "acl";        // or "names"

  bool operator==(const PoolStatus&) const = default;
};

struct ClusterStatus {
  std::string cluster_id;
  std::string version;
  uint64_t epoch = 0;
  std::string leader;  // id of the leading controller; empty: none known
  uint64_t term = 0;
  std::vector<PoolStatus> pools;
  std::vector<RouterStatus> routers;
  std::vector<std::string> warnings;  // what an operator should see: a tripwire, strays, routers behind

  bool operator==(const ClusterStatus&) const = default;
};

// ---- locate
// ----------------------------------------------------------------------------------------------------------

inline constexpr size_t kLocateKeysMax = 10'000;

struct Location {
  std::string key;
  std::string owner;  // who serves it now
  std::string address;
  std::vector<std::string> preference_list;
  std::string point;
  std::string range;
  uint64_t epoch = 0;
  // While a plan touches the key:
  std::string old_owner;  // both empty: no plan touches it
  std::string new_owner;
  std::string stage;  // of its move: "stream", "grace", ...

  bool operator==(const Location&) const = default;
};

// ---- changes and plans
// -----------------------------------------------------------------------------------------------

struct NodeAdd {
  std::string name;
  std::string address;  // host:port
  int64_t weight_milli = 1000;
  std::string zone;

  bool operator==(const NodeAdd&) const = default;
};
struct NodeRemove {
  std::string name;

  bool operator==(const NodeRemove&) const = default;
};
struct NodeWeight {
  std::string name;
  int64_t weight_milli = 1000;

  bool operator==(const NodeWeight&) const = default;
};
using Change = std::variant<NodeAdd, NodeRemove, NodeWeight>;
// "add node n4 (weight 1)".
std::string describe(const Change& change);
// "ring", or with options "ring seed=7 vnodes=64".
std::string describe(const SchemeSpec& scheme);

// Absent: the controller's configured default.
struct PlanOptions {
  std::optional<int64_t> grace_ms;          // 0: cleanup follows the cutover at once
  std::optional<uint64_t> keys_per_second;  // 0: no limit
  std::optional<uint64_t> bytes_per_second;
  bool accept_weaker = false;  // the target may persist less than the source

  bool operator==(const PlanOptions&) const = default;
};

struct ChangeRequest {
  std::string pool;
  Change change;
  PlanOptions options;

  bool operator==(const ChangeRequest&) const = default;
};

// What the plan moves between one source and one target, estimated from a sample of the source's keys.
struct MoveEstimate {
  std::string source;
  std::string target;
  double share = 0;  // of the key space
  uint64_t keys = 0;
  uint64_t bytes = 0;

  bool operator==(const MoveEstimate&) const = default;
};

struct NodeLoad {
  std::string node;
  double share_before = 0;  // of the key space
  double share_after = 0;
  uint64_t keys_before = 0;
  uint64_t keys_after = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;

  bool operator==(const NodeLoad&) const = default;
};

// A change as it would be carried out. Nothing has been changed and nothing is kept for it.
struct PlanPreview {
  std::string pool;
  std::string title;
  uint64_t epoch = 0;      // that it was computed on: start() takes it back
  double share_moved = 0;  // of the key space
  double share_least = 0;  // what any placement must move for this change of weights
  std::vector<MoveEstimate> moves;
  std::vector<NodeLoad> loads;
  uint64_t keys = 0;
  uint64_t bytes = 0;
  int64_t estimated_ms = 0;  // until the last cutover
  uint32_t slices = 1;
  uint32_t slices_with_instant_rollback = 1;  // fewer than slices where memory does not allow the whole plan at once
  std::vector<Finding> findings;

  bool operator==(const PlanPreview&) const = default;
};

// The answer of start(): a plan, or what refused it.
struct Started {
  uint64_t plan = 0;  // 0: preflight refused; nothing was changed
  std::vector<Finding> findings;

  bool operator==(const Started&) const = default;
};

enum class MoveStage : uint8_t {
  kWaiting = 0,
  kStream = 1,
  kVerify = 2,
  kCutover = 3,
  kGrace = 4,
  kCleanup = 5,
  kRollback = 6,
  kDone = 7,
  kRolledBack = 8,
  kCancelled = 9,
  kStopped = 10,
  kNeedsDecision = 11,
};

struct MoveProgress {
  uint32_t index = 0;  // in the plan; `plan decide` takes it
  std::string source;  // node names
  std::string target;
  uint32_t slice = 0;
  MoveStage stage = MoveStage::kWaiting;
  bool target_owns = false;
  uint64_t keys_total = 0;  // estimated until the scan has ended
  uint64_t keys_done = 0;   // of this stage: copied, compared or cleaned
  uint64_t bytes_done = 0;
  double keys_per_second = 0;
  double bytes_per_second = 0;
  std::optional<int64_t> time_left_ms;  // of this stage
  uint64_t dirty_keys = 0;              // changed since they were copied
  uint32_t rounds = 0;
  uint32_t attempts = 0;  // at the cutover
  int64_t hold_us = 0;    // how long commands were held at the last cutover; 0: none yet
  std::string reason;     // of kStopped and kNeedsDecision: what each side holds, what can be decided
  std::string key;        // the key it is about, where there is one; bytes

  bool operator==(const MoveProgress&) const = default;
};

// What verification compared in one range (a slice of one move).
struct VerificationRow {
  std::string source;
  std::string target;
  uint32_t slice = 0;
  uint64_t keys_source = 0;
  uint64_t keys_target = 0;
  uint64_t bytes_source = 0;
  uint64_t bytes_target = 0;
  std::string digest_source;  // 16 hex digits
  std::string digest_target;
  bool equal = false;

  bool operator==(const VerificationRow&) const = default;
};

// A page of a long list: items [offset, offset + limit).
struct Page {
  uint64_t offset = 0;
  uint64_t limit = 1000;  // 1 to kPageItemsMax
};
inline constexpr uint64_t kPageItemsMax = 10'000;
inline constexpr size_t kAlarmsMax = 100;

struct PlanDetail {
  PlanSummary summary;
  PlanOptions options;              // all present
  std::vector<MoveProgress> moves;  // the page that was asked for
  uint64_t moves_total = 0;
  std::vector<VerificationRow> verification;  // of the moves on the page
  int64_t hold_longest_us = 0;                // over all moves
  uint64_t strays = 0;                        // keys that lie where they do not belong; never deleted by a plan
  // Keys that were changed or differed behind Slipring's back, and what was done, the newest last; see kAlarmsMax.
  std::vector<std::string> alarms;

  bool operator==(const PlanDetail&) const = default;
};

struct PlanEvent {
  uint64_t sequence = 0;  // rises by one within a plan, from 1
  int64_t at_ms = 0;      // wall clock
  Severity severity = Severity::kNote;
  std::string text;

  bool operator==(const PlanEvent&) const = default;
};

// What a person may do to an open plan.
enum class PlanAction : uint8_t { kPause = 0, kResume = 1, kRollback = 2, kComplete = 3, kCancel = 4 };

// What shall become of a move in kNeedsDecision: the owner as it is, the other side's copy, or the owner plus what only
// the other side holds.
enum class Choice : uint8_t { kOwner = 0, kOther = 1, kMerge = 2 };

// ---- the service
// -----------------------------------------------------------------------------------------------------

class ControllerService {
 public:
  virtual ~ControllerService() = default;

  virtual Result<ClusterStatus> status() = 0;
  // In the order of `keys` (bytes). kResourceExhausted above kLocateKeysMax keys.
  virtual Result<std::vector<Location>> locate(const std::string& pool, const std::vector<std::string>& keys) = 0;

  // What the change would do: preflight and estimates. Findings that refuse are part of the answer, not an error.
  virtual Result<PlanPreview> preview(const ChangeRequest& request) = 0;
  // Preflight again, then the intent is written and the plan runs. kAborted: the epoch is not `if_epoch` any more.
  virtual Result<Started> start(const ChangeRequest& request, uint64_t if_epoch) = 0;

  // Open and finished plans, newest first.
  virtual Result<std::vector<PlanSummary>> plans(const std::string& pool, const Page& page) = 0;
  virtual Result<PlanDetail> plan(uint64_t id, const Page& moves) = 0;
  // Events with a sequence above `after`, oldest first, at most `limit`.
  virtual Result<std::vector<PlanEvent>> plan_events(uint64_t id, uint64_t after, uint64_t limit) = 0;
  // `force` matters to kRollback alone: take the source's copy although it is behind. Answers when the action has been
  // recorded, not when it has ended.
  virtual Result<PlanSummary> act(uint64_t id, PlanAction action, bool force) = 0;
  virtual Result<PlanSummary> decide(uint64_t id, uint32_t move, Choice choice) = 0;

  // Forgets a router that will not come back: its users are removed from every node, and nobody waits for it.
  // kFailedPrecondition while it is connected.
  virtual Status forget_router(const std::string& id) = 0;

  // The address of a new, empty store server under this name, started next to the controller; the same address when
  // asked again. kUnimplemented where no supervisor (`slipring up`) runs the servers.
  virtual Result<std::string> spawn_node(const std::string& name) = 0;
  // Ends a server made by spawn_node() that no pool uses. kFailedPrecondition if one does.
  virtual Status release_node(const std::string& name) = 0;

  // The metadata as a backup, and back: import publishes its topology as the next epoch and answers that epoch.
  // kFailedPrecondition while a plan is open; kDataLoss: damaged; kInvalidArgument: another cluster's.
  virtual Result<std::string> export_topology() = 0;
  virtual Result<uint64_t> import_topology(const std::string& backup) = 0;

  // Prometheus text exposition, version 0.0.4.
  virtual std::string metrics() = 0;
  // Ok: leads, reaches its metadata store and has published an epoch. Otherwise the reason.
  virtual Status ready() = 0;
};

}  // namespace slipring::control
