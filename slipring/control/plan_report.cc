#include "slipring/control/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipring::control {
namespace {

using rebalance::Goal;
using rebalance::GroupMove;
using rebalance::GroupRecord;
using rebalance::PlanRecord;
using rebalance::Stage;

// Node names by instance, of both layouts.
std::map<Instance, std::string> names_of(const PlanRecord& plan) {
  std::map<Instance, std::string> names;
  for (const Layout* layout : {&plan.next_layout, &plan.old_layout}) {
    for (const Node& node : layout->nodes) names[node.instance] = node.name;
  }
  return names;
}

std::string hex(const rebalance::DigestSum& sum) {
  return fmt::format("{:016x}", sum.low ^ sum.high);
}

MoveCount estimate(const std::vector<MoveCount>& estimates, uint32_t move) {
  return move < estimates.size() ? estimates[move] : MoveCount{};
}

MoveCount estimate(const std::vector<MoveCount>& estimates, const GroupRecord& group) {
  MoveCount sum;
  for (const GroupMove& move : group.moves) {
    const MoveCount one = estimate(estimates, move.move);
    sum.keys += one.keys;
    sum.bytes += one.bytes;
  }
  return sum;
}

uint64_t part(uint64_t whole, double fraction) {
  return static_cast<uint64_t>(static_cast<double>(whole) * fraction + 0.5);
}

// Copying has moved everything once: what is counted is complete.
bool copied(const GroupRecord& group) {
  return group.target_owns || group.stage == Stage::kReady || group.stage == Stage::kCutover ||
         group.stage == Stage::kVerifying || group.stage == Stage::kDone;
}

class Reporter {
 public:
  explicit Reporter(const PlanReportInput& input) : in_(input), plan_(input.view.plan), names_(names_of(plan_)) {}

  PlanReport run() {
    summarise_record();
    for (const GroupView& group : in_.view.groups) add_group(group);
    std::sort(out_.moves.begin(), out_.moves.end(),
              [](const MoveProgress& a, const MoveProgress& b) { return a.index < b.index; });
    for (const auto& [group, us] : in_.holds) out_.hold_longest_us = std::max(out_.hold_longest_us, us);
    PlanSummary& s = out_.summary;
    s.keys_total = std::max(s.keys_total, s.keys_done);
    s.bytes_total = std::max(s.bytes_total, s.bytes_done);
    if (s.state == PlanState::kRunning && s.keys_per_second > 0) {
      s.time_left_ms = static_cast<int64_t>(static_cast<double>(s.keys_total - s.keys_done) / s.keys_per_second * 1000);
    }
    return std::move(out_);
  }

 private:
  void summarise_record() {
    PlanSummary& s = out_.summary;
    s.id = plan_.id;
    s.pool = plan_.pool;
    s.title = plan_.title;
    s.state = plan_state(in_.view);
    s.created_at_ms = plan_.created_at_ms;
    s.finished_at_ms = plan_.finished_at_ms;
    s.epoch_before = to_u64(plan_.base_epoch);
    s.epoch_now = in_.epoch_now;
    s.rollback.available = in_.view.rollback_available;
    s.rollback.reason = in_.view.rollback_reason;
    if (s.state == PlanState::kPaused) s.reason = "paused; `plan resume` goes on";
  }

  void add_group(const GroupView& view) {
    const GroupRecord& group = view.record;
    PlanSummary& s = out_.summary;
    if ((group.stage == Stage::kStopped || group.stage == Stage::kNeedsDecision) && s.reason.empty())
      s.reason = group.reason;
    if (group.stage == Stage::kGrace) s.grace_ends_at_ms = std::max(s.grace_ends_at_ms, group.grace_ends_at_ms);
    s.keys_per_second += view.keys_per_second;
    s.bytes_per_second += view.bytes_per_second;
    out_.strays += group.strays;
    const MoveCount whole = estimate(in_.estimates, group);
    for (const GroupMove& move : group.moves) add_move(view, move, whole);
  }

  void add_move(const GroupView& view, const GroupMove& move, const MoveCount& whole) {
    const GroupRecord& group = view.record;
    const MoveCount expected = estimate(in_.estimates, move.move);
    const double fraction = whole.keys > 0 ? static_cast<double>(expected.keys) / static_cast<double>(whole.keys)
                                           : 1.0 / static_cast<double>(group.moves.size());
    MoveProgress p;
    p.index = move.move;
    p.source = names_[group.source];
    p.target = names_[move.target];
    p.slice = group.slice;
    p.stage = move_stage(plan_, group);
    p.target_owns = group.target_owns;
    p.keys_total = std::max(expected.keys, move.totals.keys);
    p.keys_done = copied(group) ? std::max(p.keys_total, move.totals.keys) : part(view.progress.copied_keys, fraction);
    if (!copied(group) && p.keys_total > 0) p.keys_done = std::min(p.keys_done, p.keys_total);
    p.bytes_done = copied(group) ? move.totals.bytes : part(view.progress.copied_bytes, fraction);
    p.keys_per_second = view.keys_per_second * fraction;
    p.bytes_per_second = view.bytes_per_second * fraction;
    if (p.stage == MoveStage::kStream && p.keys_per_second > 0) {
      p.time_left_ms = static_cast<int64_t>(static_cast<double>(p.keys_total - p.keys_done) / p.keys_per_second * 1000);
    }
    p.dirty_keys = view.progress.dirty;
    p.rounds = static_cast<uint32_t>(view.progress.rounds);
    p.attempts = group.attempts;
    if (const auto hold = in_.holds.find(group.index); hold != in_.holds.end()) p.hold_us = hold->second;
    p.reason = group.reason;
    out_.summary.keys_total += p.keys_total;
    out_.summary.keys_done += p.keys_done;
    out_.summary.bytes_total += std::max(expected.bytes, p.bytes_done);
    out_.summary.bytes_done += p.bytes_done;
    add_verification(p, move);
    out_.moves.push_back(std::move(p));
  }

  void add_verification(const MoveProgress& p, const GroupMove& move) {
    VerificationRow row;
    row.source = p.source;
    row.target = p.target;
    row.slice = p.slice;
    row.keys_source = row.keys_target = move.totals.keys;
    row.bytes_source = row.bytes_target = move.totals.bytes;
    row.digest_source = hex(move.totals.owner);
    row.digest_target = hex(move.totals.other);
    row.equal = move.totals.owner == move.totals.other;
    out_.verification.push_back(std::move(row));
  }

  const PlanReportInput& in_;
  const PlanRecord& plan_;
  std::map<Instance, std::string> names_;
  PlanReport out_;
};

}  // namespace

PlanReport report_plan(const PlanReportInput& input) {
  return Reporter(input).run();
}

MoveStage move_stage(const PlanRecord& plan, const GroupRecord& group) {
  switch (group.stage) {
    case Stage::kPlanned:
      return MoveStage::kWaiting;
    case Stage::kStreaming:
      return MoveStage::kStream;
    case Stage::kVerifying:
      return MoveStage::kVerify;
    case Stage::kReady:
    case Stage::kCutover:
      return MoveStage::kCutover;
    case Stage::kGrace:
      return MoveStage::kGrace;
    case Stage::kRollingBack:
      return MoveStage::kRollback;
    case Stage::kCleanup:
      return MoveStage::kCleanup;
    case Stage::kDone:
      return MoveStage::kDone;
    case Stage::kNeedsDecision:
      return MoveStage::kNeedsDecision;
    case Stage::kStopped:
      return MoveStage::kStopped;
    case Stage::kCancelled:
      return plan.goal == Goal::kCancel ? MoveStage::kCancelled : MoveStage::kRolledBack;
  }
  return MoveStage::kWaiting;
}

PlanState plan_state(const PlanView& view) {
  switch (view.plan.state) {
    case rebalance::PlanState::kCompleted:
      return PlanState::kCompleted;
    case rebalance::PlanState::kRolledBack:
      return PlanState::kRolledBack;
    case rebalance::PlanState::kCancelled:
      return PlanState::kCancelled;
    case rebalance::PlanState::kOpen:
      break;
  }
  const auto any = [&](Stage stage) {
    return std::any_of(view.groups.begin(), view.groups.end(),
                       [&](const GroupView& g) { return g.record.stage == stage; });
  };
  const auto all_in = [&](Stage a, Stage b) {
    return std::all_of(view.groups.begin(), view.groups.end(),
                       [&](const GroupView& g) { return g.record.stage == a || g.record.stage == b; });
  };
  if (any(Stage::kNeedsDecision)) return PlanState::kNeedsDecision;
  if (any(Stage::kStopped)) return PlanState::kStopped;
  if (view.plan.paused) return PlanState::kPaused;
  if (view.plan.goal == Goal::kCancel) return PlanState::kCancelling;
  if (rebalance::goes_back(view.plan.goal)) return PlanState::kRollingBack;
  if (all_in(Stage::kCleanup, Stage::kDone)) return PlanState::kCompleting;
  if (all_in(Stage::kGrace, Stage::kGrace)) return PlanState::kGrace;
  return PlanState::kRunning;
}

}  // namespace slipring::control
