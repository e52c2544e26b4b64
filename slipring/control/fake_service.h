// A ControllerService in memory for tests of what stands in front of one (HTTP, CLI): it answers what the test put in,
// counts calls and remembers their arguments. It carries nothing out.
// Thread-safety: any thread; the public fields are set before the calls.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "slipring/control/service.h"

namespace slipring::control {

class FakeService : public ControllerService {
 public:
  // Set: every call but metrics() fails with it.
  std::optional<Error> failure;
  ClusterStatus cluster;
  std::vector<Location> locations;
  PlanPreview next_preview;
  Started next_started;
  PlanDetail detail;
  std::vector<PlanEvent> events;
  std::string backup = "backup";

  // "act 7 rollback force", "start add node n4 at ... if 12": the calls in order.
  std::vector<std::string> calls() const;
  // The arguments of the last preview() or start(), and of the last locate() or import.
  ChangeRequest last_change() const;
  std::vector<std::string> last_keys() const;
  std::string last_backup() const;
  // Run by plan(), outside the lock: lets a test move a plan on from one look to the next.
  std::function<void(FakeService&)> on_plan;

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
  Result<uint64_t> import_topology(const std::string& text) override;
  std::string metrics() override;
  Status ready() override;

 private:
  // Records the call; answers `value`, or the failure.
  template <typename T>
  Result<T> record(std::string call, T value);
  Status record(std::string call);

  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  ChangeRequest last_change_;
  std::vector<std::string> last_keys_;
  std::string last_backup_;
};

}  // namespace slipring::control
