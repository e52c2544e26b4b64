// The inside of PlanMachine. Files: plan_machine.cc (events, orders), plan_store.cc (transactions and reading back),
// plan_groups.cc (stages), plan_attempt.cc (one attempt at a time).
//
// Invariant: one store operation is in flight at a time; records here are what the store is known to hold.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "slipring/rebalance/plan_machine.h"

namespace slipring::rebalance {

struct PlanMachine::State {
  // What happens in the store next, built when its turn comes.
  struct Operation {
    std::vector<std::string> read;                         // a read, if not empty
    std::function<Transaction()> build;                    // else a transaction
    std::function<void(const std::vector<Record>&)> done;  // read: the records; transaction: none, `revision` is set
    std::function<void()> failed;  // it did not happen and is not tried again; empty: tried until it does
    Transaction sent;
    uint64_t revision = 0;
    bool reading_back = false;
  };

  enum class Copy : uint8_t { kNone, kFencing, kRunning };
  enum class CleanupStep : uint8_t { kNone, kPersisting, kFencing, kSaving };

  // A server that does not answer. It may come back without our users: they are made again and again.
  struct Trouble {
    std::string message;
    uint64_t fencing = 0;  // id of the action, 0: none
    MonoTime fence_at{};
  };

  struct Group {
    Revised<GroupRecord> record;
    Copy copy = Copy::kNone;
    bool ready = false;        // its copy machine said so, and no seal was asked for since
    bool copied_once = false;  // by the running copy machine, in either direction
    bool flipping = false;
    bool sweeping = false;
    std::string not_ready;  // why
    CleanupStep cleanup = CleanupStep::kNone;
    std::set<uint64_t> waiting;  // ids of the step's actions
    uint64_t fencing_from = 0;   // id of the source's FenceTerms; the targets' follow
    std::map<Peer, Trouble> trouble;
    MonoTime trouble_since{};
    MonoTime retry_at{};             // of starting to copy, and of cleanup
    MonoTime attempt_at{};           // not before
    uint32_t failures_in_a_row = 0;  // for the back-off; also those that do not count
    std::optional<MonoTime> routers_late_since;
  };

  enum class RunStep : uint8_t { kRead, kOpen, kAcks, kFence, kSeal, kList, kCommit, kFlip, kWithdraw };

  struct Run {
    RunStep step = RunStep::kRead;
    uint32_t group = 0;
    bool announced = false;
    Revised<AttemptRecord> newest;   // before ours
    Revised<AttemptRecord> attempt;  // ours
    uint64_t epoch_revision = 0;
    std::shared_ptr<const Snapshot> next;
    GroupRecord flipped;
    std::set<uint64_t> acked;
    std::set<uint64_t> waiting;  // ids of actions
    std::map<uint64_t, Peer> listing;
    std::optional<MonoTime> deadline;  // of the step
    std::string withdraw_reason;       // asked for while the outcome of the commit is awaited
    bool counts = true;                // a failure counts towards attempts_max
    std::vector<ServerIdentity> sealed;
    std::vector<MoveTotals> totals;
  };

  State(Revised<PlanRecord> p, std::vector<Revised<GroupRecord>> g, PlanLimits l);

  // --- plan_store.cc
  void enqueue(Operation operation);
  void start_operation(PlanActions& out);
  void on_records(const StoreRecords& e);
  void on_read_failed(const StoreFailed& e);
  void on_committed(const StoreCommitted& e);
  void finish_operation(const std::vector<Record>& records);
  void judge_read_back(const std::vector<Record>& records);
  void save_group(uint32_t g, std::function<void(GroupRecord&)> change, std::function<void()> then = {});
  void save_plan(std::function<void(PlanRecord&)> change, std::function<void()> then = {});

  // --- plan_groups.cc
  void advance();
  void advance_group(uint32_t g);
  void advance_planned(uint32_t g);
  void advance_streaming(uint32_t g);
  void advance_grace(uint32_t g);
  void advance_cleanup(uint32_t g);
  void advance_final(uint32_t g);
  void ensure_copy(uint32_t g);
  void start_copy(uint32_t g);
  void stop_copy(uint32_t g);
  void on_fenced_terms(uint32_t g, const Done& e);
  void on_refenced(uint32_t g, const Done& e);
  void on_report(const CopyReport& e);
  void on_feeds_open(uint32_t g, const FeedsOpen& e);
  void on_swept(uint32_t g, const Swept& e);
  void on_trouble(uint32_t g, const PeerTrouble& e);
  void on_copy_stopped(uint32_t g, const std::string& reason);
  void on_owner_changed(uint32_t g, uint32_t server, const std::string& reason);
  void watch_trouble(uint32_t g);
  void enter_cleanup(uint32_t g);
  void on_cleanup_step(uint32_t g, const Done& e);
  void fence_for_cleanup(uint32_t g);
  void put_off_cleanup(uint32_t g, const std::string& reason);
  void give_up_waiting(uint32_t g, const std::string& reason);
  void close_plan();
  bool wave_may_start(uint32_t g) const;
  bool wave_in_grace(uint32_t g) const;
  void leave_rest(uint32_t g);
  static Stage resumed_stage(const GroupRecord& r);
  void write_end(Snapshot snapshot, uint64_t epoch_revision);

  // --- plan_attempt.cc
  void recover();
  void on_recovered(const std::vector<Record>& records);
  void try_attempt();
  void begin_attempt(uint32_t g);
  void on_attempt_read(const std::vector<Record>& records);
  std::optional<std::vector<uint64_t>> routers_ready(uint32_t g, Epoch epoch);
  void give_up_before_open(const std::string& reason, bool counts);
  void open_attempt();
  uint32_t hold_bound_ms(uint32_t g) const;
  void on_opened();
  void check_acks();
  void fence();
  void seal();
  void on_sealed(const Sealed& e);
  void list_users();
  void on_users(const RouterUsers& e);
  GroupRecord flipped(GroupRecord r) const;
  void commit();
  void on_committed_attempt();
  void publish();
  void withdraw(const std::string& reason, bool counts);
  void send_withdraw();
  void on_withdrawn(const std::string& reason);
  void settle_unknown(std::function<void()> still_open);
  void on_run_done(const Done& e);
  void tick_run();
  Instance instance(const GroupRecord& r, Peer p) const { return p == kSource ? r.source : r.moves[p - 1].target; }
  std::vector<Peer> side(const GroupRecord& r, bool owner) const;
  std::optional<std::vector<uint64_t>> generations_on(Epoch epoch, std::string& late) const;

  // Performs one event with everything that follows from it.
  PlanActions step(Now at, const std::function<void(State&)>& event);
  bool finished() const { return plan.value.state != PlanState::kOpen; }
  bool goes_back() const { return rebalance::goes_back(plan.value.goal); }
  GroupRecord& rec(uint32_t g) { return groups[g].record.value; }
  const GroupRecord& rec(uint32_t g) const { return groups[g].record.value; }
  void note(uint32_t g, std::string text) { out->push_back(Note{g, std::move(text)}); }
  Status order(Order order, uint32_t g);
  Status order_decision(Order order, uint32_t g);
  Status set_goal(Order order, Goal goal, const std::set<uint32_t>& forced = {});
  Status force_back();
  bool target_is_lost(uint32_t g) const;

  Revised<PlanRecord> plan;
  std::vector<Group> groups;
  PlanLimits limits;
  std::vector<RouterView> routers;
  Epoch known_epoch{0};  // a published one, at least as new as every commit of this plan
  std::optional<Run> run;
  bool recovered = false;
  bool closing = false;
  bool halted = false;  // another leader wrote our records
  std::deque<Operation> operations;
  uint64_t operation_id = 0;  // of the one in flight; 0: none
  MonoTime operation_at{};    // not before
  uint64_t last_id = 0;
  Now now{};                   // of the current event
  PlanActions* out = nullptr;  // of the current event
};

}  // namespace slipring::rebalance
