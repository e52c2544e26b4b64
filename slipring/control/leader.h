// What exists while a controller leads: its access to the servers, the routers it knows, the running plans. Made anew
// with every term and destroyed when the lease is lost, so nothing of an older term is ever used again.
//
//   cluster              the cluster's id
//   plan-id              the last plan number given out
//   estimate/ID          what preflight expected of a plan
//   events/ID            what has happened in a plan (plan_notes.h)
//
// Invariant: nothing is published or written without the lease; a router is enrolled before it hears anything.
// Thread-safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "slipring/control/node_access.h"
#include "slipring/control/node_watch.h"
#include "slipring/control/options.h"
#include "slipring/control/plan_report.h"
#include "slipring/control/plan_runner.h"
#include "slipring/control/router_book.h"
#include "slipring/control/router_links.h"
#include "slipring/control/service.h"
#include "slipring/metrics/exposition.h"
#include "slipring/rebalance/planner.h"
#include "slipring/store/redis/redis_adapter.h"

namespace slipring::control {

inline constexpr std::string_view kLeaseName = "leader";

class Leader final : public PlanHost {
 public:
  struct Parts {
    const ControllerOptions& options;
    MetadataStore& store;
    LeaseKeeper& keeper;
    const Clock& clock;
    RouterHub& hub;
    std::string join_token;
    NodeAccess::CredentialsOf credentials_of;
  };
  // Takes over: reads the records, seeds the first epoch if there is none, fences older terms, resumes open plans.
  // An error: this controller cannot lead now; nothing runs.
  static Result<std::unique_ptr<Leader>> start(Parts parts);
  ~Leader() override;
  // Ends plans, watch and tasks; what is asked later finds no plan. Twice is once.
  void stop();

  // What a router says; called on the hub's thread.
  void on_message(ConnectionId connection, channel::Message message);
  void on_gone(ConnectionId connection);

  // The service (service.h), as far as it needs the leader.
  Result<ClusterStatus> status();
  Result<std::vector<Location>> locate(const std::string& pool, const std::vector<std::string>& keys);
  Result<PlanPreview> preview(const ChangeRequest& request);
  Result<Started> start_plan(const ChangeRequest& request, uint64_t if_epoch);
  Result<std::vector<PlanSummary>> plans(const std::string& pool, const Page& page);
  Result<PlanDetail> plan(uint64_t id, const Page& moves);
  Result<std::vector<PlanEvent>> plan_events(uint64_t id, uint64_t after, uint64_t limit);
  Result<PlanSummary> act(uint64_t id, PlanAction action, bool force);
  Result<PlanSummary> decide(uint64_t id, uint32_t move, Choice choice);
  Status forget_router(const std::string& id);
  Result<std::string> export_topology();
  Result<uint64_t> import_topology(const std::string& backup);
  std::string metrics();
  // Whether any pool, or its open plan, has a node of this name.
  bool uses_node(const std::string& name);

  // PlanHost.
  void announce_open(const rebalance::AnnounceOpen& open) override;
  void announce_closed(const rebalance::AnnounceClosed& closed) override;
  void publish(std::shared_ptr<const Snapshot> snapshot) override;
  std::vector<rebalance::RouterView> routers() override;
  Result<uint64_t> commit(Transaction transaction) override;
  void plan_finished(const rebalance::PlanRecord& plan) override;
  Status fence_terms(const Instance& instance) override;
  Status fence_routers(const Instance& instance, const std::vector<uint64_t>& keep) override;
  Result<rebalance::RouterUsers> router_users(const Instance& instance) override;
  Status ensure_persisted(const Instance& instance, int64_t since_ms) override;

 private:
  // A change worked out against the current topology.
  struct Draft {
    Snapshot base;
    uint64_t epoch_revision = 0;
    rebalance::PlanRecord plan;
    std::vector<MoveOwner> moves;
    std::shared_ptr<const PoolRouting> routing;  // with the plan open
    PlanPreview preview;
    std::vector<MoveCount> estimates;  // by move
    uint64_t key_bytes_max = 0;        // the largest key seen on a source
  };
  struct Surveyed;

  Leader(Parts parts, std::string cluster_id);
  Status load();
  Result<rebalance::Revised<Snapshot>> read_epoch();
  Result<Snapshot> seed();
  Status check_seed(const Snapshot& snapshot);
  void learn_fences(const Snapshot& snapshot);
  Status resume_plans();

  // Routers.
  void enroll(ConnectionId connection, channel::Hello hello);
  std::string refuse_reason(const channel::Hello& hello) const;
  void wait_for_closed_attempt();
  void regenerate(const std::string& id, uint64_t fenced);
  void refill_spares();
  bool attempt_open_on(const std::string& address);
  bool may_serve(const std::string& address, const std::string& run_id);
  bool sync_users(const std::string& address);
  Status sync_process(const std::string& address, const std::string& run_id, std::string_view key_prefix);
  bool greet(const std::string& address);
  void sync_users_everywhere();
  std::string prefix_of(const std::string& address);

  // Plans.
  std::shared_ptr<PlanRunner> runner(uint64_t id);
  std::vector<std::shared_ptr<PlanRunner>> open_runners();
  Status run_plan(rebalance::Revised<rebalance::PlanRecord> plan);
  Result<Draft> draft(const ChangeRequest& request);
  Status survey_servers(const ChangeRequest& request, Draft& draft);
  Surveyed survey_server(const Draft& draft, const Node& node);
  Status forecast_into(const std::vector<Surveyed>& servers, Draft& draft);
  void probe_payloads(const std::vector<Surveyed>& servers, const Pool& pool, rebalance::PreflightInput& input);
  Status prepare_servers(const Draft& draft);
  Result<uint64_t> open_plan(Draft& draft);
  Result<PlanView> stored_view(uint64_t id);
  Result<PlanView> view_of(uint64_t id);
  std::vector<PlanNote> notes_of(uint64_t id, uint64_t after, uint64_t limit);
  PlanReport report(const PlanView& view);

  // Status.
  PoolStatus pool_status(const Pool& pool);
  NodeStatus node_status(const Node& node, double share);
  void add_plan_nodes(const Pool& pool, PoolStatus& out);
  std::vector<RouterStatus> router_status(const Snapshot& snapshot);
  void add_plan_metrics(const PlanSummary& plan, metrics::Exposition& out);

  std::shared_ptr<const Snapshot> current() const { return links_.current(); }
  std::shared_ptr<const PoolRouting> routing(const std::string& pool);
  Result<const Pool*> pool_named(const Snapshot& snapshot, const std::string& name) const;

  Parts parts_;
  const std::string cluster_id_;
  const uint64_t term_;
  NodeAccess access_;
  redis::RedisAdapter adapter_;
  RouterLinks links_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> plans_known_{false};  // the open ones are resumed

  std::mutex book_mutex_;
  RouterBook book_;

  std::mutex users_mutex_;  // orders changes of router users on servers

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable attempt_closed_;
  std::map<std::string, std::shared_ptr<const PoolRouting>> routings_;  // by pool, of the current snapshot
  std::map<std::string, std::vector<double>> shares_;                   // by pool: of each node in the layout
  std::map<uint64_t, std::shared_ptr<PlanRunner>> runners_;             // open plans by id
  std::map<uint64_t, std::vector<MoveCount>> estimates_;                // by plan
  std::map<uint64_t, PlanHolds> holds_;                                 // by plan
  std::optional<rebalance::AnnounceOpen> attempt_;                      // open now
  MonoTime attempt_since_{};
  std::vector<std::string> warnings_;

  std::mutex start_mutex_;  // one plan is started at a time
  std::unique_ptr<NodeWatch> watch_;
  TaskPool router_tasks_{1};  // enrolment, one router after another
  TaskPool permits_{1};       // reads the lease for each
  TaskPool reaper_{1};        // ends runners of finished plans
};

}  // namespace slipring::control
