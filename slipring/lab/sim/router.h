// A router process: places keys by its snapshot (PoolRouting), holds them by its gate (AttemptGate), sends commands as
// its generation's user and keeps count of what is in flight. Its last snapshot and spare generation survive a crash on
// disk.
//
// Invariant: a request counts as in flight until its reply is read or the server confirmed the end of its connection.
// Thread-safety: one owner.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slipring/channel/attempt_gate.h"
#include "slipring/lab/sim/checker.h"
#include "slipring/lab/sim/link.h"
#include "slipring/lab/sim/server.h"
#include "slipring/lab/sim/sim.h"
#include "slipring/topology/routing.h"

namespace slipring::lab {

struct Command {
  enum class Kind : uint8_t { kGet, kSet, kAppend, kExpire, kDelete } kind = Kind::kGet;
  std::string key;
  std::string value;
  int64_t ttl_ms = 0;
};
struct Answer {
  bool ok = false;
  std::optional<std::string> value;
};

class Router final : public LinkEnd {
 public:
  Router(World& w, std::string name, std::vector<std::unique_ptr<Server>>& servers, Checker& checker, Variant variant);

  // `answer` runs when the router answers; never if it crashes before.
  void submit(Command command, std::function<void(Answer)> answer);
  void on_message(const std::shared_ptr<Link>& link, const channel::Message& message) override;
  void on_link_down(const std::shared_ptr<Link>& link) override;

  const std::string& name() const { return name_; }
  // Opens a link to one of the controllers; nullptr if it cannot be reached now.
  std::function<std::shared_ptr<Link>(Router&)> connect;
  const std::shared_ptr<Link>& link() const { return link_; }
  Epoch epoch() const { return snapshot_ ? snapshot_->epoch : Epoch{0}; }
  uint64_t generation() const { return generation_; }
  bool holding() const { return hold_.has_value(); }

 private:
  struct Waiting {
    Command command;
    std::function<void(Answer)> answer;
  };
  struct InFlight {
    std::string key;
    Epoch epoch{0};
    uint64_t conn = 0;
    std::function<void(Answer)> answer;  // empty once answered
  };
  struct Hold {
    channel::StartHold what;
    std::vector<Waiting> waiting;
    bool try_again = false;
    int64_t since_ms = 0;
  };

  void on_start() override;
  void on_crash() override;
  void tick();
  void apply(std::shared_ptr<const Snapshot> snapshot);
  void use_generation(uint64_t generation, uint64_t spare);
  void perform(const channel::GateActions& actions);
  void start_hold(const channel::StartHold& what);
  void release();
  bool held(const std::string& key) const;
  void check_drained();
  void acknowledge_epoch();
  void send(size_t server, Command command, std::function<void(Answer)> answer);
  Conn& conn(size_t server);
  void on_conn_closed(size_t server, const std::shared_ptr<Conn>& conn);
  void on_refused(const Conn& conn);
  void ask_permit(size_t server, const std::shared_ptr<Conn>& conn);
  void on_permit(const channel::Permit& permit);
  void on_timeout(uint64_t request);
  void confirm_end(size_t server, uint64_t conn_id, uint64_t incarnation);
  void finish(uint64_t request, Answer answer);
  void forget(uint64_t conn_id);
  void execute(Server& server, const Command& command, Answer& answer);

  std::string name_;
  std::vector<std::unique_ptr<Server>>& servers_;
  Checker& checker_;
  Variant variant_;

  std::shared_ptr<const Snapshot> disk_snapshot_;
  uint64_t disk_spare_ = 0;

  std::shared_ptr<Link> link_;
  channel::AttemptGate gate_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const PoolRouting> routing_;
  uint64_t generation_ = 0;
  uint64_t refused_generation_ = 0;
  Epoch acknowledged_{0};
  uint64_t acknowledged_generation_ = 0;
  std::map<size_t, std::shared_ptr<Conn>> conns_;
  std::map<uint64_t, std::shared_ptr<Conn>> permits_asked_;  // by number
  uint64_t last_permit_ = 0;
  std::set<std::pair<size_t, uint64_t>> permitted_;  // server and generation, for the naive variant
  std::map<uint64_t, InFlight> in_flight_;
  uint64_t last_request_ = 0;
  std::optional<Hold> hold_;
  int64_t next_heartbeat_ms_ = 0;
};

}  // namespace slipring::lab
