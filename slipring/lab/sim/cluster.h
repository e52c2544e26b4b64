// One simulated cluster with everything that a seed decides: the plan, the clients' load, the faults, the operator.
// Invariant: built from a seed alone. Thread-safety: one owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slipring/lab/sim/checker.h"
#include "slipring/lab/sim/controller.h"
#include "slipring/lab/sim/router.h"
#include "slipring/lab/sim/sim.h"

namespace slipring::lab {

enum class FaultKind : uint8_t {
  kControllerCrash,
  kControllerStop,
  kRouterCrash,
  kRouterStop,
  kLinkCut,
  kPartition,
  kSlowToController,
  kSlowToRouter,
  kFeedCut,
  kServerCrash,
  kServerEmpty,
  kServerStop,
  kStoreDown,
  kStoreLostReply,
  kStoreLate,
  kForeignWrite,
};
inline constexpr size_t kFaultKinds = 16;
const char* fault_name(FaultKind kind);

class Cluster {
 public:
  explicit Cluster(const SimOptions& options);
  SimResult run();

 private:
  struct Fault {
    FaultKind kind = FaultKind::kControllerCrash;
    std::string at_action;  // strikes before the nth of these
    uint32_t nth = 1;
    int64_t at_ms = 0;  // else at this time
    bool done = false;
  };
  enum class Script : uint8_t { kComplete, kCompleteEarly, kRollBack, kCancelEarly, kPauseResume, kTurnTwice };

  void choose();
  void choose_layouts();
  void choose_faults();
  void write_records();
  void load_keys();
  void start_clients();
  void client_step(size_t client);
  Command next_command(size_t client);
  void on_action(Controller& controller, const std::string& action);
  void strike(const Fault& fault, Controller* where);
  void strike_server(FaultKind kind);
  void foreign_write();
  void heal();
  void operate();
  void decide(Controller& leader, uint32_t group);
  void follow_script(Controller& leader);
  Controller* leader();
  Router& some_router() { return *routers_[world_.random.below(routers_.size())]; }
  Server& some_server() { return *servers_[world_.random.below(servers_.size())]; }
  std::shared_ptr<Link> connect(Router& router);
  bool finished();

  SimOptions options_;
  World world_;
  const bool names_;  // how servers are fenced
  std::vector<std::unique_ptr<Server>> servers_;
  Checker checker_;
  MemoryStore store_;
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  Layout before_;
  Layout after_;
  std::vector<std::string> keys_;
  std::vector<Fault> faults_;
  Script script_ = Script::kComplete;
  int64_t script_at_ms_ = 0;
  int script_step_ = 0;
  bool partitioned_ = false;
  bool healed_ = false;
  bool clients_run_ = true;
  uint64_t writes_ = 0;
  uint64_t strays_ = 0;
  int64_t grace_ms_ = 2'000;
  std::string scenario_;
};

}  // namespace slipring::lab
