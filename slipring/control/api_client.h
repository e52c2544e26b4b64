// The controller's API from afar: ControllerService over HTTP, for the CLI and for tests.
// Errors of the API come back as they were; kUnavailable: nobody answered, nothing happened; kDeadlineExceeded: the
// answer did not come, the outcome is unknown.
// Thread-safety: one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "slipring/control/service.h"

namespace slipring::control {

struct ApiClientOptions {
  std::string address;  // host:port
  std::string bearer_token;
  int64_t connect_ms = 2'000;
  int64_t answer_ms = 60'000;  // preflight of a large fleet takes its time
};

class ApiClient final : public ControllerService {
 public:
  // kInvalidArgument: the address is none. Nothing is sent yet.
  static Result<std::unique_ptr<ApiClient>> make(const ApiClientOptions& options);
  ~ApiClient() override;

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
  class Http;
  explicit ApiClient(std::unique_ptr<Http> http);
  std::unique_ptr<Http> http_;
};

// Nobody answers at the API's address, as opposed to a controller that says that something is unavailable.
bool is_no_answer(const Error& error);

}  // namespace slipring::control
