// A whole Slipring inside a test program: real redis-servers, a controller, routers; parts can be stopped, killed and
// made anew. The metadata is a real file, so a second controller can take over.
// Thread-safety: one owner.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipring/control/controller.h"
#include "slipring/coordination/embedded/embedded_store.h"
#include "slipring/router/router.h"
#include "slipring/store/redis/client.h"
#include "tests/support/redis_server.h"

namespace slipring::testing {

struct ClusterOptions {
  int nodes = 3;
  int routers = 1;
  std::string scheme = "ring";
  std::map<std::string, std::string> scheme_options;
  RedisServerOptions server;
  rebalance::PlanOptions plan;
};

class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});
  ~Cluster();

  // A controller on the cluster's metadata; the first is started by the constructor.
  std::unique_ptr<control::Controller> make_controller(const std::string& id);
  control::Controller& controller() { return *controller_; }
  std::unique_ptr<control::Controller>& controller_slot() { return controller_; }
  // Ends the controller, as a clean stop does.
  void stop_controller() { controller_.reset(); }
  void start_controller(const std::string& id = "c1");

  // nN, started (empty) when first asked for; n1.. n<nodes> are the pool's first ones.
  RedisServer& server(int n);
  std::string node_name(int n) const { return "n" + std::to_string(n); }
  void start_router(int r);
  void stop_router(int r) { routers_[static_cast<size_t>(r - 1)].reset(); }
  router::Router& router(int r) { return *routers_[static_cast<size_t>(r - 1)]; }
  // Every running router serves by the controller's epoch.
  bool routers_ready();
  // A client of router r.
  redis::Client client(int r = 1);
  // An administrator's connection to server n.
  redis::Client admin(int n);

  // Starts a change and answers its plan's number; preflight must not refuse.
  uint64_t start(const control::Change& change, control::PlanOptions options = {});
  control::PlanSummary summary(uint64_t plan);
  // Waits until the plan is in the state; false after `seconds` (the plan's events are printed then).
  bool reaches(uint64_t plan, control::PlanState state, double seconds = 60);
  void print_events(uint64_t plan);

  // All keys of all servers: key -> servers that hold it.
  std::map<std::string, std::vector<int>> keys_by_server();

 private:
  void write_files();
  const ClusterOptions options_;
  TempDir dir_;
  SystemClock clock_;
  std::map<int, std::unique_ptr<RedisServer>> servers_;
  std::unique_ptr<EmbeddedStore> store_;
  int channel_port_;
  std::unique_ptr<control::Controller> controller_;
  std::vector<std::unique_ptr<router::Router>> routers_;
};

}  // namespace slipring::testing
