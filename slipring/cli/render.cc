#include "slipring/cli/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slipring/base/parse.h"
#include "slipring/cli/text.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

using control::MoveProgress;
using control::MoveStage;
using control::PlanDetail;
using control::PlanState;
using control::PlanSummary;
using control::VerificationRow;

std::string words(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string plan_line(const PlanSummary& plan) {
  std::string text = fmt::format("plan {}: {}: {}", plan.id, plan.title, words(name_of(plan.state)));
  if (plan.keys_total > 0 && !is_final(plan.state)) {
    text += fmt::format(", {} of {} keys", human_count(plan.keys_done), human_count(plan.keys_total));
  }
  if (plan.time_left_ms) text += fmt::format(", {} left", human_duration(*plan.time_left_ms));
  text += "\n";
  if (!plan.reason.empty()) text += fmt::format("  {}\n", plan.reason);
  return text;
}

// What the moves of one source and target have in common, summed up.
struct PairProgress {
  MoveStage stage = MoveStage::kDone;  // the earliest of them
  uint64_t moves = 0;
  uint64_t keys_total = 0;
  uint64_t keys_done = 0;
  uint64_t dirty_keys = 0;
  double keys_per_second = 0;
  double bytes_per_second = 0;
  int64_t time_left_ms = -1;
  uint32_t attempts = 0;
};

// How urgent a stage is to show: one that needs a person, then the earliest.
int urgency(MoveStage stage) {
  if (stage == MoveStage::kNeedsDecision) return -2;
  if (stage == MoveStage::kStopped) return -1;
  return static_cast<int>(stage);
}

void add(PairProgress& pair, const MoveProgress& move) {
  if (pair.moves == 0 || urgency(move.stage) < urgency(pair.stage)) pair.stage = move.stage;
  pair.moves += 1;
  pair.keys_total += move.keys_total;
  pair.keys_done += move.keys_done;
  pair.dirty_keys += move.dirty_keys;
  pair.keys_per_second += move.keys_per_second;
  pair.bytes_per_second += move.bytes_per_second;
  pair.time_left_ms = std::max(pair.time_left_ms, move.time_left_ms.value_or(-1));
  pair.attempts = std::max(pair.attempts, move.attempts);
}

std::string percent(uint64_t done, uint64_t total) {
  if (total == 0) return "-";
  return fmt::format("{} %", std::min<uint64_t>(100, done * 100 / total));
}

std::string stage_text(const PairProgress& pair) {
  const bool retried = pair.stage == MoveStage::kCutover && pair.attempts > 1;
  return words(name_of(pair.stage)) + (retried ? fmt::format(" (attempt {})", pair.attempts) : "");
}

std::string more_rows(size_t all, size_t shown) {
  return all > shown ? fmt::format("  and {} more\n", human_count(all - shown)) : "";
}

// Reasons of moves that wait for a person, the same reason once.
std::string render_reasons(const std::vector<MoveProgress>& moves) {
  std::string text;
  for (const MoveProgress& move : moves) {
    const bool waits = move.stage == MoveStage::kStopped || move.stage == MoveStage::kNeedsDecision;
    if (!waits || move.reason.empty()) continue;
    text += fmt::format("  move {} ({} -> {}, slice {}): {}{}\n", move.index, move.source, move.target, move.slice,
                        move.reason, move.key.empty() ? "" : fmt::format(" (key {})", printable(move.key)));
  }
  return text;
}

}  // namespace

std::string render_nodes(const control::PoolStatus& pool) {
  Table table({"NODE", "ADDRESS", "ZONE", ">WEIGHT", ">SHARE", ">KEYS", ">MEMORY", "STATE"});
  for (const control::NodeStatus& n : pool.nodes) {
    table.add({n.name, n.address, n.zone.empty() ? "-" : n.zone, format_milli(n.weight_milli), human_share(n.share),
               human_count(n.keys), human_bytes(n.bytes),
               std::string(name_of(n.state)) + (n.detail.empty() ? "" : ": " + n.detail)});
  }
  return table.text("  ");
}

std::string render_routers(const std::vector<control::RouterStatus>& routers) {
  Table table({"ROUTER", "LISTENS ON", ">EPOCH", "STATE", ">CLIENTS", ">COMMANDS", ">ERRORS", ">HELD"});
  for (const control::RouterStatus& r : routers) {
    table.add({r.id, r.listen, fmt::format("{}", r.epoch), std::string(name_of(r.state)), human_count(r.clients),
               human_count(r.commands), human_count(r.errors), human_count(r.held)});
  }
  return table.text("  ");
}

std::string render_status(const control::ClusterStatus& status) {
  std::string text = fmt::format("cluster {}  epoch {}  controller {} (term {})\n", status.cluster_id, status.epoch,
                                 status.leader.empty() ? "none leads" : status.leader, status.term);
  for (const control::PoolStatus& pool : status.pools) {
    text += fmt::format("\npool {} ({}, {}{}{})\n", pool.name, pool.kind, pool.scheme,
                        pool.key_prefix.empty() ? "" : ", keys " + pool.key_prefix + "*",
                        pool.fence == "names" ? ", fenced by connection names: weaker than ACL users" : "");
    text += render_nodes(pool);
    if (pool.plan) text += "  " + plan_line(*pool.plan) + render_next_steps(*pool.plan);
  }
  if (!status.routers.empty()) text += "\n" + render_routers(status.routers);
  for (const std::string& warning : status.warnings) text += fmt::format("\nwarning: {}\n", warning);
  return text;
}

std::string render_locations(const std::vector<control::Location>& locations) {
  std::string text;
  for (const control::Location& l : locations) {
    text += fmt::format("{} -> {} ({})  epoch {}\n", printable(l.key), l.owner, l.address, l.epoch);
    text += fmt::format("  preference list: {}\n", fmt::join(l.preference_list, " "));
    text += fmt::format("  point {}{}\n", l.point, l.range.empty() ? "" : " in " + l.range);
    if (l.old_owner.empty()) continue;
    text += fmt::format("  moving from {} to {}: {}\n", l.old_owner, l.new_owner, words(l.stage));
  }
  return text;
}

std::string render_findings(const std::vector<control::Finding>& findings) {
  std::string text;
  for (const control::Finding& f : findings) {
    text += fmt::format("  {:<6}  {}: {}\n", control::name_of(f.severity), f.subject, f.message);
    if (!f.todo.empty()) text += fmt::format("          do: {}\n", f.todo);
  }
  return text;
}

std::string render_preview(const control::PlanPreview& p) {
  std::string text = fmt::format("{} (pool {}, on epoch {})\n", p.title, p.pool, p.epoch);
  text += fmt::format("moves {} of the key space; no placement could move less than {}\n", human_share(p.share_moved),
                      human_share(p.share_least));
  text += fmt::format("about {} keys, {}, {} until the cutover\n", human_count(p.keys), human_bytes(p.bytes),
                      human_duration(p.estimated_ms));
  if (p.slices_with_instant_rollback < p.slices) {
    text += fmt::format("memory does not allow all at once: instant rollback covers {} of {} slices\n",
                        p.slices_with_instant_rollback, p.slices);
  }
  Table moves({"SOURCE", "TARGET", ">SHARE", ">KEYS", ">BYTES"});
  for (const auto& m : p.moves) {
    moves.add({m.source, m.target, human_share(m.share), human_count(m.keys), human_bytes(m.bytes)});
  }
  Table loads({"NODE", ">SHARE", ">-> AFTER", ">KEYS", ">-> AFTER", ">BYTES", ">-> AFTER"});
  for (const auto& l : p.loads) {
    loads.add({l.node, human_share(l.share_before), human_share(l.share_after), human_count(l.keys_before),
               human_count(l.keys_after), human_bytes(l.bytes_before), human_bytes(l.bytes_after)});
  }
  text += "\n" + moves.text("  ") + "\n" + loads.text("  ");
  if (!p.findings.empty()) text += "\npreflight\n" + render_findings(p.findings);
  return text;
}

std::string render_plans(const std::vector<PlanSummary>& plans) {
  Table table({">PLAN", "POOL", "STATE", "STARTED", "WHAT"});
  for (const PlanSummary& p : plans) {
    table.add({fmt::format("{}", p.id), p.pool, words(name_of(p.state)), human_time(p.created_at_ms), p.title});
  }
  return table.text();
}

std::string render_progress(const PlanDetail& plan, size_t rows_max) {
  std::map<std::pair<std::string, std::string>, PairProgress> pairs;
  for (const MoveProgress& move : plan.moves) add(pairs[{move.source, move.target}], move);
  Table table({"SOURCE", "TARGET", "STAGE", ">KEYS", ">DONE", ">CHANGED", ">RATE", ">", ">LEFT"});
  size_t shown = 0;
  for (const auto& [names, pair] : pairs) {
    if (shown++ == rows_max) break;
    table.add({names.first, names.second, stage_text(pair), human_count(pair.keys_done),
               percent(pair.keys_done, pair.keys_total), human_count(pair.dirty_keys),
               human_rate(pair.keys_per_second, "keys"), human_rate(pair.bytes_per_second, "bytes"),
               pair.time_left_ms < 0 ? "-" : human_duration(pair.time_left_ms)});
  }
  return plan_line(plan.summary) + table.text("  ") + more_rows(pairs.size(), rows_max);
}

std::string render_verification(const std::vector<VerificationRow>& rows, size_t rows_max) {
  Table table({"SOURCE", "TARGET", ">SLICE", ">KEYS", ">KEYS", ">BYTES", ">BYTES", "DIGEST", "DIGEST", ""});
  size_t equal_hidden = 0;
  size_t equal_shown = 0;
  for (const VerificationRow& r : rows) {
    if (r.equal && equal_shown == rows_max) {
      ++equal_hidden;
      continue;
    }
    equal_shown += r.equal ? 1 : 0;
    table.add({r.source, r.target, fmt::format("{}", r.slice), human_count(r.keys_source), human_count(r.keys_target),
               human_bytes(r.bytes_source), human_bytes(r.bytes_target), r.digest_source, r.digest_target,
               r.equal ? "equal" : "DIFFERENT"});
  }
  if (table.empty()) return {};
  std::string text = "verification (source | target)\n" + table.text("  ");
  if (equal_hidden > 0) text += fmt::format("  and {} more ranges, all equal\n", human_count(equal_hidden));
  return text;
}

std::string render_holds(const PlanDetail& plan) {
  if (plan.hold_longest_us <= 0) return {};
  return fmt::format("commands for moving keys were held for at most {}\n", human_micros(plan.hold_longest_us));
}

std::string render_next_steps(const PlanSummary& p) {
  const auto step = [&](std::string_view command, std::string_view effect) {
    return fmt::format("  slipring plan {} {}  {}\n", command, p.id, effect);
  };
  switch (p.state) {
    case PlanState::kRunning:
    case PlanState::kCompleting:
    case PlanState::kRollingBack:
    case PlanState::kCancelling:
      return step("wait", "follows it");
    case PlanState::kPaused:
      return step("resume", "goes on with it") + step("cancel", "takes it back");
    case PlanState::kGrace: {
      const std::string until = p.grace_ends_at_ms > 0 ? " until " + human_time(p.grace_ends_at_ms) : "";
      const std::string back = p.rollback.available
                                   ? step("rollback", "takes it back with all new writes" + until)
                                   : fmt::format("  rollback is not available: {}\n", p.rollback.reason);
      return back + step("complete", "ends the grace time now");
    }
    case PlanState::kStopped:
      return step("resume", "tries again") + step("cancel", "takes it back");
    case PlanState::kNeedsDecision:
      return step("show", "lists the moves") +
             fmt::format("  slipring plan decide {} MOVE owner|other|merge  decides one\n", p.id);
    case PlanState::kCompleted:
    case PlanState::kRolledBack:
    case PlanState::kCancelled:
      break;
  }
  return {};
}

std::string render_plan(const PlanDetail& plan) {
  std::string text = render_progress(plan, 50) + render_reasons(plan.moves);
  const std::string table = render_verification(plan.verification, 64);
  if (!table.empty()) text += "\n" + table;
  text += render_holds(plan);
  if (plan.strays > 0) {
    text += fmt::format("{} keys lie where they do not belong; a plan never deletes them\n", human_count(plan.strays));
  }
  for (const std::string& alarm : plan.alarms) text += fmt::format("behind the plan's back: {}\n", printable(alarm));
  return text + render_next_steps(plan.summary);
}

}  // namespace slipring::cli
