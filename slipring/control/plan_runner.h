// Carries out one open plan: drives its PlanMachine, performs the actions against the metadata store, the servers and
// the routers, and keeps what people want to see of it. Built from the plan's records, so a new leader goes on where
// the old one stopped.
//
// Invariant: every event reaches the machine on the runner's own thread, one after another; every transaction carries
// the leader's lease. Thread-safety: all public functions from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/control/plan_notes.h"
#include "slipring/control/task_pool.h"
#include "slipring/coordination/metadata_store.h"
#include "slipring/rebalance/copy_executor.h"
#include "slipring/rebalance/plan_machine.h"
#include "slipring/store/store_adapter.h"
#include "slipring/topology/routing.h"

namespace slipring::control {

// What the runner needs of the controller around it. Called on the runner's thread or on one of its tasks.
class PlanHost {
 public:
  virtual ~PlanHost() = default;
  virtual void announce_open(const rebalance::AnnounceOpen& open) = 0;
  virtual void announce_closed(const rebalance::AnnounceClosed& closed) = 0;
  virtual void publish(std::shared_ptr<const Snapshot> snapshot) = 0;
  virtual std::vector<rebalance::RouterView> routers() = 0;
  // A transaction with the comparison of the leader's lease added.
  virtual Result<uint64_t> commit(Transaction transaction) = 0;
  virtual void plan_finished(const rebalance::PlanRecord& plan) = 0;

  virtual Status fence_terms(const Instance& instance) = 0;
  virtual Status fence_routers(const Instance& instance, const std::vector<uint64_t>& keep) = 0;
  virtual Result<rebalance::RouterUsers> router_users(const Instance& instance) = 0;
  virtual Status ensure_persisted(const Instance& instance, int64_t since_ms) = 0;
};

struct GroupView {
  rebalance::GroupRecord record;
  rebalance::CopyProgress progress;
  rebalance::CopyPhase phase = rebalance::CopyPhase::kOpening;
  bool copying = false;  // progress and phase are of a running copy
  double keys_per_second = 0;
  double bytes_per_second = 0;
};

struct PlanView {
  rebalance::PlanRecord plan;
  std::vector<GroupView> groups;
  bool rollback_available = false;
  std::string rollback_reason;
  std::optional<rebalance::AttemptRecord> open_attempt;
  bool recovered = true;  // false: resumed, and the records are not read again yet
};

class PlanRunner {
 public:
  struct Parts {
    MetadataStore& store;
    StoreAdapter& adapter;
    const Clock& clock;
    PlanHost& host;
    std::shared_ptr<const PoolRouting> routing;  // of a snapshot in which the plan is open
  };
  PlanRunner(rebalance::Revised<rebalance::PlanRecord> plan,
             std::vector<rebalance::Revised<rebalance::GroupRecord>> groups, Parts parts,
             rebalance::PlanLimits limits = {});
  ~PlanRunner();

  // As PlanMachine::order(); answers when the machine has taken it.
  Status order(rebalance::Order order, uint32_t group = rebalance::kNoGroup);
  // The set of routers, what they acknowledged or whether they are alive may have changed.
  void routers_changed();
  void acknowledged(uint64_t attempt, uint64_t generation);
  void withdraw_asked(uint64_t attempt);

  PlanView view() const;
  // Notes with a sequence above `after`, oldest first; those of earlier controllers too.
  std::vector<PlanNote> notes(uint64_t after, size_t limit) const;
  // Writes the notes that the store does not hold yet. The runner does so by itself, now and then.
  void save_notes();

 private:
  struct OrderRequest {
    rebalance::Order order;
    uint32_t group;
    std::promise<Status> answer;
  };
  struct RefreshRouters {};
  using Input = std::variant<rebalance::PlanEvent, OrderRequest, RefreshRouters>;

  void drive();
  void handle(Input& input);
  void look_at_routers();
  void answer_orders();
  void perform(rebalance::PlanActions actions);
  void perform(const rebalance::StoreRead& action);
  void perform(const rebalance::StoreCommit& action);
  void perform(const rebalance::FenceTerms& action);
  void perform(const rebalance::FenceRouters& action);
  void perform(const rebalance::ListRouterUsers& action);
  void perform(const rebalance::EnsurePersisted& action);
  void perform(const rebalance::AnnounceOpen& action);
  void perform(const rebalance::AnnounceClosed& action);
  void perform(const rebalance::Publish& action);
  void perform(const rebalance::StartCopy& action);
  void perform(const rebalance::TellCopy& action);
  void perform(const rebalance::StopCopy& action);
  void perform(const rebalance::Note& action);
  void post(Input input);
  // Runs on a task; its Status answers the action with this id.
  void run_task(uint64_t id, std::function<Status()> task);
  void add_note(uint32_t group, bool alarm, std::string text);
  void load_notes();
  void save_notes_soon();
  void publish_view();
  rebalance::KeyFilter filter_of(uint32_t group) const;
  rebalance::Now now() const { return {parts_.clock.now(), parts_.clock.wall_ms()}; }

  Parts parts_;
  const uint64_t id_;
  rebalance::PlanMachine machine_;
  struct Copy {
    std::unique_ptr<rebalance::CopyExecutor> executor;
    // Of the last measurement, for rates.
    rebalance::CopyProgress before;
    MonoTime at{};
    double keys_per_second = 0;
    double bytes_per_second = 0;
  };
  static void measure(Copy& copy, const rebalance::CopyProgress& progress, MonoTime now);
  std::map<uint32_t, Copy> copies_;                 // by group; runner's thread
  std::vector<rebalance::RouterView> routers_;      // as the machine knows them
  std::vector<std::promise<Status>> taken_orders_;  // their effect is not in the store yet
  bool finished_told_ = false;

  std::mutex save_mutex_;     // one writer of notes: an older list never replaces a newer one; taken before mutex_
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable inputs_ready_;
  std::deque<Input> inputs_;
  bool ending_ = false;
  PlanView view_;
  std::deque<PlanNote> notes_;
  uint64_t last_note_ = 0;
  uint64_t saved_note_ = 0;
  bool saving_notes_ = false;

  TaskPool tasks_{4};
  std::thread thread_;
};

}  // namespace slipring::control
