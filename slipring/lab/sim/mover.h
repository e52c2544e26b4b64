// Performs the actions of one group's CopyMachine on simulated servers: a connection for requests and one for the feed
// to each peer, as this term's mover user.
//
// Invariant: a batch is answered only when it is certain that nothing of it runs later. Thread-safety: one owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipring/lab/sim/checker.h"
#include "slipring/lab/sim/server.h"
#include "slipring/lab/sim/sim.h"
#include "slipring/rebalance/plan_machine.h"

namespace slipring::lab {

class Mover : public std::enable_shared_from_this<Mover> {
 public:
  struct Environment {
    Process& owner;
    std::vector<std::unique_ptr<Server>>& servers;
    Checker& checker;
    Variant variant = Variant::kNone;
    uint64_t term = 0;
    std::function<void(rebalance::CopyAction)> report;
    // Called before each action: where faults strike.
    std::function<void(const std::string& action)> fault_point;
    std::function<std::shared_ptr<Conn>(Server& server, const std::string& user)> connect;
  };

  Mover(Environment env, rebalance::CopySpec spec, const rebalance::GroupRecord& group,
        std::shared_ptr<const PoolRouting> routing);
  ~Mover();

  void start();
  // Arrives a little later, in order with what was told before: a plan and its copies have threads of their own.
  void command(rebalance::CopyCommand command, uint64_t attempt);
  // Closes everything; nothing is reported any more. Answers the connections whose end is to be confirmed before
  // another mover of the group writes: what was sent on them may still run.
  std::vector<std::shared_ptr<Conn>> close();
  std::string describe() const;

 private:
  struct Peer {
    Server* server = nullptr;
    std::shared_ptr<Conn> conn;
    std::shared_ptr<Conn> feed;
    bool blind = false;  // takes whoever answers for the one that it began with
    ServerIdentity first_identity;
    uint64_t feed_number = 0;

    ServerIdentity identity(const Server& s);
  };
  // What requests need at the server, even when their mover is gone.
  struct Placement {
    std::shared_ptr<const PoolRouting> routing;
    std::vector<uint32_t> moves;  // of the plan, by move in group

    rebalance::MoveInGroup move_of(const std::string& key) const;
  };
  using Payloads = std::vector<std::optional<StoredValue>>;

  rebalance::Now now() const;
  void perform(rebalance::CopyActions actions);
  void perform_queued();
  void perform_one(const rebalance::CopyAction& action);
  void event(rebalance::CopyEvent event);
  void take(rebalance::CopyCommand command, uint64_t attempt);
  void report(rebalance::CopyAction action);
  int64_t lag_us(int64_t& last_us);
  void schedule_wake();
  Conn& conn(rebalance::Peer p);
  bool naive_about(rebalance::Peer p) const;
  // Wraps a callback: dropped when this mover was closed or the process is another incarnation.
  Task guarded(std::function<void(Mover&)> task);

  void open_feed(const rebalance::OpenFeed& a);
  void subscribe(rebalance::Peer p, bool quietly);
  void barrier(const rebalance::Barrier& a);
  void scan(const rebalance::Scan& a);
  void read(const rebalance::ReadKeys& a);
  void write(const rebalance::WriteKeys& a);
  void compare(const rebalance::CompareKeys& a);
  void compare_other(const rebalance::CompareKeys& a, std::shared_ptr<rebalance::KeysCompared> result);
  void remove(const rebalance::DeleteKeys& a);

  Environment env_;
  rebalance::CopyMachine machine_;
  std::shared_ptr<Placement> placement_;
  std::vector<std::shared_ptr<Peer>> peers_;
  std::deque<rebalance::CopyAction> todo_;
  bool performing_ = false;
  std::map<uint64_t, Payloads> payloads_;
  std::map<uint64_t, rebalance::KeyList> payload_keys_;
  std::map<uint64_t, std::string> cursors_;
  uint64_t last_cursor_ = 0;
  bool started_ = false;
  std::vector<std::pair<rebalance::CopyCommand, uint64_t>> early_;  // told before the start
  int64_t told_at_us_ = 0;      // the last command arrives
  int64_t reported_at_us_ = 0;  // the last report arrives
  bool closed_ = false;
  int64_t wake_at_us_ = 0;
  rebalance::CopyPhase last_phase_ = rebalance::CopyPhase::kOpening;
};

}  // namespace slipring::lab
