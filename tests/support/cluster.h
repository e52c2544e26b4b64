// A whole Slipring in processes of its own, as an operator runs it: redis-servers, controllers and routers that a test
// kills, stops, wakes and starts again. Metadata, ports and data survive a part's restart.
// Thread-safety: one owner.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipring/control/api_client.h"
#include "slipring/store/redis/client.h"
#include "tests/support/child_process.h"
#include "tests/support/redis_server.h"

namespace slipring::testing {

struct ClusterOptions {
  int nodes = 3;
  int routers = 1;
  int controllers = 1;  // that routers and the client know; only the first is started
  std::string fence = "acl";
  std::string scheme = "ring";
  std::string scheme_options;  // of the TOML table: `hash = "md5"`
  RedisServerOptions server;
  std::string move;  // lines of the [move] table
  int64_t answer_ms = 20'000;  // how long a controller may take to answer
};

class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});

  // Controllers cN on one metadata file. `fault` arms a fault point, `stops`: it stops the process instead of killing.
  void start_controller(int n = 1, const std::string& fault = "", bool stops = false);
  ChildProcess& controller_process(int n = 1) { return controllers_[n]; }
  // The API of whichever controller leads; waits for one.
  control::ControllerService& controller();
  bool leads(int n);

  // nN, started (empty) when first asked for; n1 to n<nodes> are the pool's first ones.
  RedisServer& server(int n);
  std::string node_name(int n) const { return "n" + std::to_string(n); }

  void start_router(int r);
  ChildProcess& router_process(int r) { return router_processes_[r]; }
  int router_port(int r) const { return router_ports_.at(r); }
  // Every router that is running serves by the current epoch.
  bool routers_ready();

  redis::Client client(int r = 1);
  // An administrator's connection to server n.
  redis::Client admin(int n);

  // Starts a change and answers its plan's number; preflight must not refuse.
  uint64_t start(const control::Change& change, control::PlanOptions options = {});
  // Waits until the plan is in the state; prints what happened if it does not come.
  bool reaches(uint64_t plan, control::PlanState state, double seconds = 60);
  // The plan's state, asked of whoever leads; empty if nobody answers now.
  control::PlanDetail detail(uint64_t plan);
  void print(uint64_t plan);

  // All keys of all servers that run: key -> servers that hold it.
  std::map<std::string, std::vector<int>> keys_by_server();

  // What a part ("c1", "r2") wrote to its log.
  std::string log(const std::string& part) const;
  const std::string& directory() const { return dir_.path(); }

 private:
  void write_secrets();
  std::string pool_table() const;
  // The API of the controller that leads now, or nullptr.
  control::ControllerService* leader();
  const ClusterOptions options_;
  TempDir dir_;
  std::map<int, std::unique_ptr<RedisServer>> servers_;
  std::map<int, int> api_ports_;
  std::map<int, int> channel_ports_;
  std::map<int, ChildProcess> controllers_;
  std::map<int, std::unique_ptr<control::ApiClient>> apis_;
  uint64_t last_plan_ = 0;
  std::map<int, int> router_ports_;
  std::map<int, ChildProcess> router_processes_;
};

}  // namespace slipring::testing
