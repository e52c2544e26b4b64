// The plan machine in golden scenarios (testdata/plan_*.txt): two moves, a to c (group 0) and b to c (group 1), over a
// store that works unless a scenario says otherwise. What the machine reads is not shown, what it writes is.
#include "slipring/rebalance/plan_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "slipring/rebalance/scenario.h"
#include "slipring/topology/codec.h"

namespace slipring::rebalance {
namespace {

constexpr uint64_t kPlan = 1;

Node node(const std::string& name) {
  Node n;
  n.name = name;
  n.instance = {name + ":1", 1};
  return n;
}

ServerIdentity server_identity(const std::string& run) {
  return {run, "master", "repl"};
}

// A store of records with revisions, in which the next commit may be made to go wrong.
class Records {
 public:
  Record get(const std::string& key) const {
    const auto it = records_.find(key);
    return it == records_.end() ? Record{key, "", 0} : it->second;
  }
  StoreCommitted commit(const StoreCommit& wanted, const std::string& fault) {
    if (fault == "unavailable") return {wanted.id, CommitOutcome::kUnavailable, 0};
    if (fault == "lost") return {wanted.id, CommitOutcome::kUnknown, 0};
    for (const Transaction::Expect& expect : wanted.transaction.expects) {
      if (get(expect.key).revision != expect.revision) return {wanted.id, CommitOutcome::kAborted, 0};
    }
    ++revision_;
    for (const Transaction::Write& write : wanted.transaction.writes) {
      records_.erase(write.key);
      if (write.value) records_[write.key] = {write.key, *write.value, revision_};
    }
    if (fault == "unknown") return {wanted.id, CommitOutcome::kUnknown, 0};
    return {wanted.id, CommitOutcome::kCommitted, revision_};
  }

 private:
  std::map<std::string, Record> records_;
  uint64_t revision_ = 0;
};

std::string text_of(const Transaction::Write& write) {
  if (!write.value) return write.key + " removed";
  if (write.key == kEpochKey) return fmt::format("epoch {}", to_u64(decode_snapshot(*write.value)->epoch));
  if (write.key == kAttemptKey) {
    const AttemptRecord a = *decode_attempt(*write.value);
    constexpr const char* kStates[] = {"open", "committed", "withdrawn"};
    return fmt::format("attempt {} {} of group {} in epoch {} by {}", a.number, kStates[static_cast<int>(a.state)],
                       a.group, to_u64(a.epoch), fmt::join(a.generations, " "));
  }
  if (write.key == plan_key(kPlan)) {
    const PlanRecord p = *decode_plan(*write.value);
    return fmt::format("plan {} goal {}{}", plan_state_name(p.state), static_cast<int>(p.goal),
                       p.paused ? " paused" : "");
  }
  if (!write.key.starts_with(group_prefix(kPlan))) return write.key;
  const GroupRecord g = *decode_group(*write.value);
  return fmt::format("group {} {} owner {}{}", g.index, stage_name(g.stage), g.target_owns ? "target" : "source",
                     g.reason.empty() ? "" : ": " + g.reason);
}

std::string_view command_name(CopyCommand command) {
  constexpr std::string_view kNames[] = {"proceed", "pause", "resume", "seal", "unseal", "flip", "flip_now", "sweep"};
  return kNames[static_cast<size_t>(command)];
}

struct PlanActionText {
  std::string operator()(const StoreRead&) const { return ""; }
  std::string operator()(const StoreCommit& a) const {
    std::string text = "commit";
    for (const Transaction::Write& write : a.transaction.writes) text += fmt::format(" [{}]", text_of(write));
    return text;
  }
  std::string operator()(const FenceTerms& a) const { return "fence_terms " + a.instance.address; }
  std::string operator()(const FenceRouters& a) const {
    return fmt::format("fence_routers {} but {}", a.instance.address, fmt::join(a.keep, " "));
  }
  std::string operator()(const ListRouterUsers& a) const { return "list_users " + a.instance.address; }
  std::string operator()(const EnsurePersisted& a) const { return "persist " + a.instance.address; }
  std::string operator()(const AnnounceOpen& a) const {
    return fmt::format("ANNOUNCE attempt {} moves {} bound {} ms", a.attempt.number, fmt::join(a.moves, " "),
                       a.hold_bound_ms);
  }
  std::string operator()(const AnnounceClosed& a) const {
    return fmt::format("ANNOUNCE attempt {} {}", a.attempt, a.committed ? "committed" : "withdrawn");
  }
  std::string operator()(const Publish& a) const { return fmt::format("PUBLISH epoch {}", to_u64(a.snapshot->epoch)); }
  std::string operator()(const StartCopy& a) const {
    return fmt::format("start_copy {}{}{}", a.group, a.spec.target_owns ? " back" : "",
                       a.spec.sweep_only ? " sweep_only" : "");
  }
  std::string operator()(const TellCopy& a) const {
    return fmt::format("tell {} {}", a.group, command_name(a.command));
  }
  std::string operator()(const StopCopy& a) const { return fmt::format("stop_copy {}", a.group); }
  std::string operator()(const Note& a) const { return "note: " + a.text; }
};

class PlanInterpreter final : public ScenarioInterpreter {
 private:
  Status perform(const std::string& what) override {
    if (what == "open") return open();
    if (what == "start") return start();
    if (!machine_) return fail(Code::kInvalidArgument, "start comes first");
    if (what == "routers") return routers();
    if (what == "done") return done();
    if (what == "users") return users();
    if (what == "ack") return feed(AttemptAcked{attempt(), std::stoull(word(1, "0"))});
    if (what == "withdraw") return feed(WithdrawAsked{attempt()});
    if (what == "store") return store();
    if (what == "tick") return tick();
    if (what == "order") return order();
    return report(what);
  }

  // The plan's records as the controller writes them when it opens a plan.
  Status open() {
    PlanRecord plan;
    plan.id = kPlan;
    plan.pool = "p";
    plan.base_epoch = Epoch{1};
    plan.old_layout.nodes = {node("a"), node("b")};
    plan.next_layout.nodes = {node("a"), node("b"), node("c")};
    plan.group_count = 2;
    plan.options.grace_ms = 1'000;
    plan.options.attempts_max = 2;
    const std::vector<MoveOwner> moves = {{{"a:1", 1}, {"c:1", 1}, 0, false}, {{"b:1", 1}, {"c:1", 1}, 0, false}};
    Snapshot base;
    base.epoch = Epoch{1};
    base.cluster_id = "0123456789abcdef";
    base.pools.resize(1);
    base.pools[0].name = "p";
    base.pools[0].layout = plan.old_layout;
    SLIPRING_ASSIGN(const Snapshot next, snapshot_with_plan(base, plan, moves));
    StoreCommit first;
    first.transaction = open_plan_transaction({base, 0}, plan, make_groups(kPlan, moves), next);
    note({first});
    return {};
  }
  // Also after a crash: a machine that knows nothing but the records.
  Status start() {
    const Record plan = store_.get(plan_key(kPlan));
    std::vector<Revised<GroupRecord>> groups;
    for (uint32_t g = 0; g < 2; ++g) {
      const Record group = store_.get(group_key(kPlan, g));
      groups.push_back({*decode_group(group.value), group.revision});
    }
    waiting_.clear();
    machine_.emplace(Revised<PlanRecord>{*decode_plan(plan.value), plan.revision}, std::move(groups));
    note(machine_->start(now_));
    return {};
  }
  // GENERATION@EPOCH, or GENERATION@dead.
  Status routers() {
    std::vector<RouterView> views;
    for (size_t i = 1; i < words_.size(); ++i) {
      const size_t at = words_[i].find('@');
      const std::string epoch = words_[i].substr(at + 1);
      const uint64_t generation = std::stoull(words_[i]);
      views.push_back({generation, fmt::format("r{}", generation), epoch != "dead",
                       Epoch{epoch == "dead" ? 0 : std::stoull(epoch)}});
    }
    return feed(RoutersChanged{std::move(views)});
  }
  // Answers the oldest action on a server; "done all" all that wait now; "done failed" says it could not be.
  Status done() {
    const bool ok = word(1, "") != "failed";
    for (size_t left = word(1, "") == "all" ? waiting_.size() : 1; left > 0; --left) {
      if (waiting_.empty()) return fail(Code::kInvalidArgument, "nothing is asked");
      const uint64_t id = waiting_.front();
      waiting_.pop_front();
      SLIPRING_TRY(feed(Done{id, ok, ok ? "" : "the server does not answer"}));
    }
    return {};
  }
  Status users() {
    if (waiting_.empty()) return fail(Code::kInvalidArgument, "nothing is asked");
    RouterUsers users{waiting_.front(), {}, identities()[0]};
    waiting_.pop_front();
    for (size_t i = 1; i < words_.size(); ++i) {
      if (words_[i] == "restarted") {
        users.identity = server_identity("another");
      } else {
        users.generations.push_back(std::stoull(words_[i]));
      }
    }
    return feed(std::move(users));
  }
  Status store() {
    faults_.push_back(word(1, ""));
    return {};
  }
  Status tick() {
    const int64_t ms = std::stoll(word(1, "1"));
    now_.mono += Millis(ms);
    now_.wall_ms += ms;
    return feed(PlanTick{});
  }
  Status order() {
    constexpr Order kAll[] = {Order::kPause,       Order::kResume,      Order::kRollBack,
                              Order::kComplete,    Order::kCancel,      Order::kDecideOwner,
                              Order::kDecideOther, Order::kDecideMerge, Order::kForceBack};
    std::string name = word(1, "");
    if (name == "decide" || name == "rollback") name += words_.size() > 2 ? " " + words_[2] : "";
    for (const Order order : kAll) {
      if (order_name(order) != name) continue;
      auto actions = machine_->order(order, static_cast<uint32_t>(std::stoul(word(3, "0"))), now_);
      if (!actions) {
        lines_.push_back("refused: " + actions.error().message);
        return {};
      }
      note(*actions);
      return {};
    }
    return fail(Code::kInvalidArgument, name + ": no such order");
  }
  // What group word(1)'s copy machine says.
  Status report(const std::string& what) {
    const auto g = static_cast<uint32_t>(std::stoul(word(1, "0")));
    const auto say = [&](CopyAction action) { return feed(CopyReport{g, std::move(action)}); };
    if (what == "feeds_open") return say(FeedsOpen{identities()});
    if (what == "copied_once") return say(CopiedOnce{});
    if (what == "ready") return say(Ready{{{1, 10, {1, 1}, {1, 1}}}});
    if (what == "not_ready") return say(NotReady{"differences"});
    if (what == "sealed") return say(Sealed{attempt(), identities(), {{2, 20, {1, 1}, {1, 1}}}, 0});
    if (what == "seal_broken") return say(SealBroken{"a key differs"});
    if (what == "flipped") return say(Flipped{});
    if (what == "swept") return say(Swept{5, std::stoull(word(2, "0"))});
    if (what == "stopped") return say(CopyStopped{"key k is too large"});
    if (what == "owner_changed") {
      return say(OwnerChanged{static_cast<Peer>(std::stoul(word(2, "0"))), server_identity("empty"), 3, "came back empty"});
    }
    if (what == "trouble") return say(PeerTrouble{static_cast<Peer>(std::stoul(word(2, "0"))), "connection refused"});
    return fail(Code::kInvalidArgument, what + ": no such event");
  }

  static std::vector<ServerIdentity> identities() { return {server_identity("run"), server_identity("run")}; }
  uint64_t attempt() const {
    const auto open = machine_->open_attempt();
    return open ? open->number : 0;
  }
  Status feed(PlanEvent event) {
    note(machine_->on(std::move(event), now_));
    return {};
  }
  void note(const PlanActions& actions) {
    for (const PlanAction& action : actions) {
      const std::string text = std::visit(PlanActionText{}, action);
      if (!text.empty()) lines_.push_back(text);
      answer(action);
    }
  }
  void answer(const PlanAction& action) {
    if (const auto* read = std::get_if<StoreRead>(&action)) {
      StoreRecords records{read->id, {}};
      for (const std::string& key : read->keys) records.records.push_back(store_.get(key));
      note(machine_->on(std::move(records), now_));
    } else if (const auto* commit = std::get_if<StoreCommit>(&action)) {
      std::string fault;
      if (!faults_.empty()) {
        fault = faults_.front();
        faults_.pop_front();
      }
      if (!fault.empty()) lines_.back() += " -> " + fault;
      const StoreCommitted committed = store_.commit(*commit, fault);
      if (committed.outcome == CommitOutcome::kAborted) lines_.back() += " -> aborted";
      if (machine_) note(machine_->on(committed, now_));
    } else if (const auto* terms = std::get_if<FenceTerms>(&action)) {
      waiting_.push_back(terms->id);
    } else if (const auto* routers = std::get_if<FenceRouters>(&action)) {
      waiting_.push_back(routers->id);
    } else if (const auto* list = std::get_if<ListRouterUsers>(&action)) {
      waiting_.push_back(list->id);
    } else if (const auto* persist = std::get_if<EnsurePersisted>(&action)) {
      waiting_.push_back(persist->id);
    }
  }

  Records store_;
  std::optional<PlanMachine> machine_;
  Now now_{MonoTime(Millis(1'000)), 1'000'000};
  std::deque<uint64_t> waiting_;  // ids of actions on servers
  std::deque<std::string> faults_;
};

TEST(PlanMachine, FollowsItsGoldenScenarios) {
  const auto ran = run_scenarios(std::string(SLIPRING_SOURCE_DIR) + "/slipring/rebalance/testdata", "plan_",
                                 [] { return std::make_unique<PlanInterpreter>(); });
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_GE(*ran, 9u);
}

}  // namespace
}  // namespace slipring::rebalance
