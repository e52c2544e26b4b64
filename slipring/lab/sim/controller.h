// A controller process: it leads while it holds the lease, gives routers their generations, carries the channel, and
// performs the plan machine's actions. Everything it must not forget is in the metadata store.
//
// Invariant: every write to the store is fenced by its lease. Thread-safety: one owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slipring/channel/permits.h"
#include "slipring/coordination/memory/memory_store.h"
#include "slipring/lab/sim/checker.h"
#include "slipring/lab/sim/link.h"
#include "slipring/lab/sim/mover.h"
#include "slipring/lab/sim/server.h"
#include "slipring/lab/sim/sim.h"
#include "slipring/rebalance/plan_machine.h"

namespace slipring::lab {

// How the metadata store treats a controller's next calls.
enum class StoreFault : uint8_t { kNone, kDown, kLostReply, kLate };

class Controller final : public LinkEnd {
 public:
  Controller(World& w, std::string name, MemoryStore& store, std::vector<std::unique_ptr<Server>>& servers,
             Checker& checker, Variant variant);

  void on_message(const std::shared_ptr<Link>& link, const channel::Message& message) override;
  void on_link_down(const std::shared_ptr<Link>& link) override;

  bool leading() const { return alive() && leading_ && loaded_; }
  const rebalance::PlanMachine* machine() const { return machine_.get(); }
  Status order(rebalance::Order order, uint32_t group);
  // The plan's servers as the pool sees them; called before each action of the plan and its movers.
  std::function<void(Controller&, const std::string& action)> fault_point;
  StoreFault store_fault = StoreFault::kNone;
  const std::string& name() const { return name_; }
  // Where every group stands, for a run that does not end.
  std::string describe() const;
  uint64_t pool_plan = 1;

 private:
  struct Session {
    std::shared_ptr<Link> link;
    std::string router;
    uint64_t generation = 0;
    uint64_t spare = 0;
    int64_t heard_ms = 0;
    bool synced = false;
    bool wants_generation = false;
    bool creating = false;
  };
  struct Generation {
    std::string router;
    Epoch epoch{0};
    bool creating = false;
  };

  void on_start() override;
  void on_crash() override;
  void tick();
  void lead(const Lease& lease);
  void step_down();
  void load();
  void on_loaded(const std::vector<Record>& records);
  void renew();

  void store_call(std::function<void(MemoryStore&)> execute, std::function<void(bool answered, bool down)> then);
  void read_store(const rebalance::StoreRead& a);
  void commit_store(const rebalance::StoreCommit& a);

  void feed(rebalance::PlanEvent event);
  void perform(rebalance::PlanActions actions);
  void perform_queued();
  void perform_one(const rebalance::PlanAction& action);
  void schedule_wake();
  void fence_terms(const rebalance::FenceTerms& a);
  void make_own_users(Server& server, std::function<void(bool ok)> then);
  void fence_routers(const rebalance::FenceRouters& a);
  void list_users(const rebalance::ListRouterUsers& a);
  // The same where servers know names only.
  void end_older_terms(Server& server, std::function<void(bool ok)> then);
  void end_generations(const rebalance::FenceRouters& a, std::function<void(bool ok)> then);
  void permit(const std::shared_ptr<Link>& link, const channel::PermitRequest& request);
  // Answers whether the store says, after this call, that the lease is ours.
  void verify_lease(std::function<void(bool leads)> then);
  std::shared_ptr<Conn> open_own(Server& server, const std::string& user);
  void start_copy(const rebalance::StartCopy& a);
  void stop_copy(uint32_t group);
  void start_when_ended(uint32_t group, const std::shared_ptr<Mover>& mover);
  Server& server(const Instance& instance);
  std::shared_ptr<Conn> control(Server& server);

  bool may_sync() const;
  bool may_create_users() const;
  void serve_sessions();
  void sync(Session& session);
  void create_generation(Session& session, bool spare);
  void create_users(uint64_t generation, const std::shared_ptr<Link>& link, bool spare);
  void on_users_created(uint64_t generation, const std::shared_ptr<Link>& link, bool spare);
  Session* session_of(const std::shared_ptr<Link>& link);
  void tell_routers();
  channel::AttemptOpen open_message() const;

  std::string name_;
  MemoryStore& store_;
  std::vector<std::unique_ptr<Server>>& servers_;
  Checker& checker_;
  Variant variant_;

  bool leading_ = false;
  bool loaded_ = false;
  bool store_busy_ = false;
  Lease lease_;
  int64_t lease_until_ms_ = 0;
  int64_t next_lease_ms_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
  std::unique_ptr<rebalance::PlanMachine> machine_;
  std::map<uint32_t, std::shared_ptr<Mover>> movers_;
  std::map<uint32_t, std::vector<std::shared_ptr<Conn>>> ending_;  // connections of earlier movers of the group
  std::deque<rebalance::PlanAction> todo_;
  bool performing_ = false;
  int64_t wake_at_us_ = 0;
  std::map<size_t, std::shared_ptr<Conn>> controls_;
  std::vector<Session> sessions_;
  std::map<uint64_t, Generation> generations_;
  channel::Permits permits_;
  std::vector<rebalance::RouterView> told_;
  std::optional<rebalance::AnnounceOpen> announced_;
  uint64_t leadership_ = 0;  // counts; callbacks of an earlier one are dropped
};

}  // namespace slipring::lab
