// A controller: takes part in the election, accepts routers, and while it leads answers the service. Standing by it
// refuses routers and operators, naming who leads.
//
// Invariant: what it does as a leader stands in one Leader object, made with the term and destroyed when the lease is
// lost. Thread-safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "slipring/control/leader.h"
#include "slipring/control/options.h"
#include "slipring/control/router_hub.h"
#include "slipring/control/service.h"

namespace slipring::control {

// Starts and ends store servers next to the controller; implemented by whoever supervises them (`slipring up`).
class NodeSpawner {
 public:
  virtual ~NodeSpawner() = default;
  virtual Result<std::string> spawn(const std::string& name) = 0;
  virtual Status release(const std::string& name) = 0;
};

class Controller final : public ControllerService, private RouterHub::Listener {
 public:
  // Starts taking part. `store`, `clock` and `spawner` (may be null) must outlive it.
  static Result<std::unique_ptr<Controller>> start(ControllerOptions options, MetadataStore& store, const Clock& clock,
                                                   NodeSpawner* spawner);
  ~Controller() override;

  // Where routers connect, with the real port.
  const std::string& channel_address() const { return hub_->address(); }
  bool leads() const;

  Result<ClusterStatus> status() override;
  Result<std::vector<Location>> locate(const std::string& pool, const std::vector<std::string>& keys) override;
  Result<PlanPreview> preview(const ChangeRequest& request) override;
  Result<Started> start(const ChangeRequest& request, uint64_t if_epoch) override;
  Result<std::vector<PlanSummary>> plans(const std::string& pool, const Page& page) override;
  Result<PlanDetail> plan(uint64_t id, const Page& moves) override;
  Result<std::vector<PlanEvent>> plan_events(uint64_t id, uint64_t after, uint64_t limit) override;
  Result<PlanSummary> act(uint64_t id, PlanAction action, bool force) override;
  Result<PlanSummary> decide(uint64_t id, uint32_t move, Choice choice) override;
  Status forget_router(const std::string& id) override;
  Result<std::string> spawn_node(const std::string& name) override;
  Status release_node(const std::string& name) override;
  Result<std::string> export_topology() override;
  Result<uint64_t> import_topology(const std::string& backup) override;
  std::string metrics() override;
  Status ready() override;

 private:
  Controller(ControllerOptions options, MetadataStore& store, const Clock& clock, NodeSpawner* spawner);
  Result<NodeCredential> credentials_of(const std::string& address) const;
  // The election's thread.
  void run();
  void lead(const Lease& taken);
  bool renew(LeaseKeeper& keeper);
  void stand_by(const Error& why);
  void set_leader(std::shared_ptr<Leader> leader);
  Result<std::shared_ptr<Leader>> leader() const;
  bool pause(Millis time);

  void on_message(ConnectionId connection, channel::Message message) override;
  void on_gone(ConnectionId connection) override;

  const ControllerOptions options_;
  MetadataStore& store_;
  const Clock& clock_;
  NodeSpawner* spawner_;
  std::string holder_;  // of the lease: this process
  std::string join_token_;
  std::unique_ptr<RouterHub> hub_;

  mutable std::mutex mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;
  std::shared_ptr<Leader> leader_;
  std::string standing_by_ = "it has just started";
  std::thread thread_;
};

}  // namespace slipring::control
