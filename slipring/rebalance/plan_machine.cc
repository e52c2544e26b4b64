#include "slipring/rebalance/plan_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/base/check.h"
#include "slipring/rebalance/plan_state.h"

namespace slipring::rebalance {

using State = PlanMachine::State;

std::string_view order_name(Order order) {
  switch (order) {
    case Order::kPause:
      return "pause";
    case Order::kResume:
      return "resume";
    case Order::kRollBack:
      return "rollback";
    case Order::kComplete:
      return "complete";
    case Order::kCancel:
      return "cancel";
    case Order::kDecideOwner:
      return "decide owner";
    case Order::kDecideOther:
      return "decide other";
    case Order::kDecideMerge:
      return "decide merge";
    case Order::kForceBack:
      return "rollback --force";
  }
  return "unknown";
}

std::vector<Order> orders_leaving(Stage stage) {
  switch (stage) {
    case Stage::kDone:
    case Stage::kCancelled:
      return {};
    case Stage::kNeedsDecision:
      return {Order::kDecideOwner, Order::kDecideOther, Order::kDecideMerge, Order::kForceBack};
    case Stage::kStopped:
      return {Order::kResume, Order::kRollBack, Order::kCancel, Order::kComplete};
    case Stage::kGrace:
    case Stage::kCleanup:
    case Stage::kRollingBack:
      return {Order::kComplete, Order::kRollBack, Order::kCancel};
    case Stage::kPlanned:
    case Stage::kStreaming:
    case Stage::kVerifying:
    case Stage::kReady:
    case Stage::kCutover:
      break;
  }
  return {Order::kRollBack, Order::kCancel};
}

State::State(Revised<PlanRecord> p, std::vector<Revised<GroupRecord>> g, PlanLimits l) : plan(std::move(p)), limits(l) {
  SLIPRING_CHECK(g.size() == plan.value.group_count, "every group of the plan");
  groups.resize(g.size());
  for (size_t i = 0; i < g.size(); ++i) groups[i].record = std::move(g[i]);
}

// ---- orders

namespace {

Status refused(Order order, const std::string& why) {
  return fail(Code::kFailedPrecondition, fmt::format("{}: {}", order_name(order), why));
}

}  // namespace

Status State::order(Order order, uint32_t g) {
  if (finished()) return refused(order, fmt::format("the plan is {}", plan_state_name(plan.value.state)));
  switch (order) {
    case Order::kPause:
      if (run) withdraw("paused", false);
      save_plan([](PlanRecord& p) { p.paused = true; });
      for (uint32_t i = 0; i < groups.size(); ++i) {
        if (groups[i].copy == Copy::kRunning) out->push_back(TellCopy{i, CopyCommand::kPause});
      }
      return {};
    case Order::kResume:
      save_plan([](PlanRecord& p) { p.paused = false; });
      for (uint32_t i = 0; i < groups.size(); ++i) leave_rest(i);
      return {};
    case Order::kRollBack:
      return set_goal(order, Goal::kRollBack);
    case Order::kCancel:
      return set_goal(order, Goal::kCancel);
    case Order::kComplete:
      return set_goal(order, Goal::kComplete);
    case Order::kForceBack:
      return force_back();
    case Order::kDecideOwner:
    case Order::kDecideOther:
    case Order::kDecideMerge:
      return order_decision(order, g);
  }
  return {};
}

Status State::force_back() {
  std::set<uint32_t> forced;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (target_is_lost(i)) forced.insert(i);
  }
  if (run && forced.count(run->group) > 0) withdraw("rollback --force was ordered", false);
  SLIPRING_TRY(set_goal(Order::kForceBack, Goal::kForceBack, forced));
  for (const uint32_t i : forced) {
    note(i, fmt::format("taken back by force: {} takes over with what it holds", rec(i).source.address));
    save_group(i, [](GroupRecord& r) {
      if (!r.target_owns || is_final(r.stage)) return;
      r.force = true;
      r.merge = false;
      r.attempts = 0;
      r.reason.clear();
      r.changed_server = kNoServer;
      r.stage = Stage::kRollingBack;
    });
  }
  return {};
}

// Its owner does not answer, or its copy back has ended: there is nothing to wait for.
bool State::target_is_lost(uint32_t g) const {
  const GroupRecord& r = groups[g].record.value;
  if (!r.target_owns || is_final(r.stage)) return false;
  if (r.stage == Stage::kNeedsDecision || r.stage == Stage::kStopped) return true;
  const auto& trouble = groups[g].trouble;
  return std::any_of(trouble.begin(), trouble.end(), [](const auto& peer) { return peer.first != kSource; });
}

Status State::set_goal(Order order, Goal goal, const std::set<uint32_t>& forced) {
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (rec(i).stage == Stage::kNeedsDecision && forced.count(i) == 0) {
      return refused(order,
                     fmt::format("move {} needs a decision first: {}", rec(i).moves.front().move, rec(i).reason));
    }
  }
  const bool turns = goes_back() != rebalance::goes_back(goal);
  if (run && turns) withdraw(fmt::format("{} was ordered", order_name(order)), false);
  save_plan([goal](PlanRecord& p) {
    p.goal = goal;
    p.paused = false;
  });
  for (uint32_t i = 0; i < groups.size(); ++i) {
    Group& group = groups[i];
    const bool preparing = group.cleanup == CleanupStep::kPersisting || group.cleanup == CleanupStep::kFencing;
    if (turns && preparing) {
      group.cleanup = CleanupStep::kNone;
      group.waiting.clear();
    }
    if (forced.count(i) > 0) continue;
    const GroupRecord& r = rec(i);
    // The later order counts; without the forced flip the server's change asks for a decision again.
    if (turns && r.force) save_group(i, [](GroupRecord& next) { next.force = false; });
    const bool cannot_reach = r.stage == Stage::kStopped && r.from == Stage::kCleanup;
    if (cannot_reach && !turns && goal != Goal::kRollBack) {
      save_group(i, [](GroupRecord& next) {
        next.stage = next.target_owns ? Stage::kDone : Stage::kCancelled;
        next.reason += "; copies may be left there";
      });
    } else {
      leave_rest(i);
    }
  }
  return {};
}

// A stopped group goes on, a running one is no longer paused.
void State::leave_rest(uint32_t g) {
  if (groups[g].copy == Copy::kRunning) out->push_back(TellCopy{g, CopyCommand::kResume});
  if (rec(g).stage != Stage::kStopped) return;
  save_group(g, [](GroupRecord& r) {
    if (r.stage != Stage::kStopped) return;
    r.stage = resumed_stage(r);
    r.attempts = 0;
    r.reason.clear();
  });
}

Stage State::resumed_stage(const GroupRecord& r) {
  if (r.force) return r.target_owns ? Stage::kRollingBack : Stage::kReady;
  if (r.from == Stage::kCleanup) return Stage::kCleanup;
  return r.target_owns ? Stage::kGrace : Stage::kStreaming;
}

Status State::order_decision(Order order, uint32_t g) {
  if (g >= groups.size()) return fail(Code::kNotFound, fmt::format("{}: no such group", order_name(order)));
  if (rec(g).stage != Stage::kNeedsDecision) {
    return refused(
        order, fmt::format("move {} is {}, it needs no decision", rec(g).moves.front().move, stage_name(rec(g).stage)));
  }
  save_group(g, [order](GroupRecord& r) {
    if (r.stage != Stage::kNeedsDecision) return;
    r.attempts = 0;
    r.reason.clear();
    // The process that the decision is about is the one that counts now, no other: a second server that came back empty
    // meanwhile needs its own.
    const bool adopt = order != Order::kDecideOther && r.changed_server < r.identities.size();
    if (adopt) r.identities[r.changed_server] = ServerIdentity{};
    r.changed_server = kNoServer;
    r.merge = order == Order::kDecideMerge;
    r.force = order == Order::kDecideOther;
    r.stage = r.force ? (r.target_owns ? Stage::kRollingBack : Stage::kReady) : resumed_stage(r);
    if (r.stage == Stage::kCleanup) r.stage = r.target_owns ? Stage::kGrace : Stage::kStreaming;
  });
  return {};
}

// ---- the interface

PlanMachine::PlanMachine(Revised<PlanRecord> plan, std::vector<Revised<GroupRecord>> groups, PlanLimits limits)
    : state_(std::make_unique<State>(std::move(plan), std::move(groups), limits)) {}
PlanMachine::~PlanMachine() = default;
PlanMachine::PlanMachine(PlanMachine&&) noexcept = default;
PlanMachine& PlanMachine::operator=(PlanMachine&&) noexcept = default;

PlanActions PlanMachine::start(Now now) {
  return state_->step(now, [](State& s) {
    if (!s.finished()) s.recover();
  });
}

PlanActions PlanMachine::on(PlanEvent event, Now now) {
  struct Dispatch {
    State& s;
    void operator()(StoreRecords& e) { s.on_records(e); }
    void operator()(StoreFailed& e) { s.on_read_failed(e); }
    void operator()(StoreCommitted& e) { s.on_committed(e); }
    void operator()(Done& e) {
      s.on_run_done(e);
      for (uint32_t g = 0; g < s.groups.size(); ++g) {
        s.on_fenced_terms(g, e);
        s.on_refenced(g, e);
        s.on_cleanup_step(g, e);
      }
    }
    void operator()(RouterUsers& e) { s.on_users(e); }
    void operator()(RoutersChanged& e) { s.routers = std::move(e.routers); }
    void operator()(AttemptAcked& e) {
      if (!s.run || s.run->step != State::RunStep::kAcks || e.attempt != s.run->attempt.value.number) return;
      s.run->acked.insert(e.generation);
      s.check_acks();
    }
    void operator()(WithdrawAsked& e) {
      if (s.run && s.run->attempt.revision != 0 && e.attempt == s.run->attempt.value.number) {
        s.withdraw("a router held commands for longer than its bound", true);
      }
    }
    void operator()(CopyReport& e) { s.on_report(e); }
    void operator()(PlanTick&) {}
  };
  return state_->step(now, [&event](State& s) { std::visit(Dispatch{s}, event); });
}

Result<PlanActions> PlanMachine::order(Order order, uint32_t group, Now now) {
  Status status;
  PlanActions actions = state_->step(now, [&](State& s) { status = s.order(order, group); });
  if (!status) return fail(status.error());
  return actions;
}

PlanActions State::step(Now at, const std::function<void(State&)>& event) {
  PlanActions actions;
  now = at;
  out = &actions;
  event(*this);
  tick_run();
  advance();
  start_operation(actions);
  out = nullptr;
  return actions;
}

std::optional<MonoTime> PlanMachine::next_wake() const {
  const State& s = *state_;
  if (finished() || s.halted) return std::nullopt;
  std::optional<MonoTime> at;
  const auto earliest = [&](MonoTime t) { at = at ? std::min(*at, t) : t; };
  if (s.run && s.run->deadline) earliest(*s.run->deadline);
  if (s.operation_id == 0 && !s.operations.empty()) earliest(s.operation_at);
  // Everything else waits for wall clock or small delays: a coarse tick is enough.
  earliest(s.now.mono + Millis(s.limits.retry_ms / 2 + 1));
  return at;
}

const PlanRecord& PlanMachine::plan() const {
  return state_->plan.value;
}
const GroupRecord& PlanMachine::group(uint32_t index) const {
  return state_->groups[index].record.value;
}
size_t PlanMachine::group_count() const {
  return state_->groups.size();
}
bool PlanMachine::recovered() const {
  return state_->recovered || finished();
}
bool PlanMachine::saving() const {
  return !state_->operations.empty();
}

std::optional<AttemptRecord> PlanMachine::open_attempt() const {
  const State& s = *state_;
  if (!s.run || s.run->step == State::RunStep::kRead || s.run->step == State::RunStep::kFlip) return std::nullopt;
  return s.run->attempt.value;
}

std::vector<Instance> PlanMachine::attempt_instances() const {
  std::vector<Instance> instances;
  if (!open_attempt()) return instances;
  const GroupRecord& r = group(state_->run->group);
  for (const Peer p : state_->side(r, true)) instances.push_back(state_->instance(r, p));
  return instances;
}

Status PlanMachine::rollback_available() const {
  bool flipped = false;
  for (const State::Group& group : state_->groups) {
    const GroupRecord& r = group.record.value;
    if (!r.target_owns) continue;
    flipped = true;
    if (r.stage == Stage::kCleanup || r.stage == Stage::kDone) {
      return fail(Code::kFailedPrecondition, "the copies at the source were removed: taking back means moving again");
    }
    if (group.ready) continue;
    const std::string why = !group.trouble.empty()     ? group.trouble.begin()->second.message
                            : !group.not_ready.empty() ? group.not_ready
                            : !r.reason.empty()        ? r.reason
                                                       : "changes are being copied back";
    return fail(Code::kUnavailable, why);
  }
  if (!flipped) return fail(Code::kFailedPrecondition, "nothing was cut over yet");
  return {};
}

}  // namespace slipring::rebalance
