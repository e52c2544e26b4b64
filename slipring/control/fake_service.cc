#include "slipring/control/fake_service.h"

#include <fmt/format.h>

#include "slipring/control/api_types.h"

namespace slipring::control {

std::vector<std::string> FakeService::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}
ChangeRequest FakeService::last_change() const {
  const std::lock_guard lock(mutex_);
  return last_change_;
}
std::vector<std::string> FakeService::last_keys() const {
  const std::lock_guard lock(mutex_);
  return last_keys_;
}
std::string FakeService::last_backup() const {
  const std::lock_guard lock(mutex_);
  return last_backup_;
}

template <typename T>
Result<T> FakeService::record(std::string call, T value) {
  SLIPRING_TRY(record(std::move(call)));
  return value;
}

Status FakeService::record(std::string call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  if (failure) return fail(*failure);
  return {};
}

Result<ClusterStatus> FakeService::status() {
  return record("status", cluster);
}

Result<std::vector<Location>> FakeService::locate(const std::string& pool, const std::vector<std::string>& keys) {
  {
    const std::lock_guard lock(mutex_);
    last_keys_ = keys;
  }
  return record("locate " + pool, locations);
}

Result<PlanPreview> FakeService::preview(const ChangeRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    last_change_ = request;
  }
  return record("preview " + describe(request.change), next_preview);
}

Result<Started> FakeService::start(const ChangeRequest& request, uint64_t if_epoch) {
  {
    const std::lock_guard lock(mutex_);
    last_change_ = request;
  }
  return record(fmt::format("start {} if {}", describe(request.change), if_epoch), next_started);
}

Result<std::vector<PlanSummary>> FakeService::plans(const std::string& pool, const Page& page) {
  return record(fmt::format("plans {} {} {}", pool, page.offset, page.limit), std::vector<PlanSummary>{detail.summary});
}

Result<PlanDetail> FakeService::plan(uint64_t id, const Page& moves) {
  if (on_plan) on_plan(*this);
  return record(fmt::format("plan {} {} {}", id, moves.offset, moves.limit), detail);
}

Result<std::vector<PlanEvent>> FakeService::plan_events(uint64_t id, uint64_t after, uint64_t limit) {
  std::vector<PlanEvent> later;
  for (const PlanEvent& event : events) {
    if (event.sequence > after && later.size() < limit) later.push_back(event);
  }
  return record(fmt::format("events {} {} {}", id, after, limit), later);
}

Result<PlanSummary> FakeService::act(uint64_t id, PlanAction action, bool force) {
  return record(fmt::format("act {} {}{}", id, name_of(action), force ? " force" : ""), detail.summary);
}

Result<PlanSummary> FakeService::decide(uint64_t id, uint32_t move, Choice choice) {
  return record(fmt::format("decide {} {} {}", id, move, name_of(choice)), detail.summary);
}

Status FakeService::forget_router(const std::string& id) {
  return record("forget " + id);
}

Result<std::string> FakeService::spawn_node(const std::string& name) {
  return record("spawn " + name, std::string("127.0.0.1:7001"));
}
Status FakeService::release_node(const std::string& name) {
  return record("release " + name);
}

Result<std::string> FakeService::export_topology() {
  return record("export", backup);
}
Result<uint64_t> FakeService::import_topology(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    last_backup_ = text;
  }
  return record("import", uint64_t{43});
}

std::string FakeService::metrics() {
  return "slipring_epoch 42\n";
}
Status FakeService::ready() {
  return record("ready");
}

}  // namespace slipring::control
