// The leader's work on changes: drafting them, preflight, opening and steering plans.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "slipring/base/bytes.h"
#include "slipring/base/log.h"
#include "slipring/base/parse.h"
#include "slipring/control/change.h"
#include "slipring/control/leader.h"
#include "slipring/store/redis/inspect.h"

namespace slipring::control {
namespace {

constexpr std::string_view kPlanIdKey = "plan-id";
// What the mover has reached on slow machines, verification included; used where nothing was measured yet.
constexpr double kKeysPerSecondAssumed = 20'000;

std::string estimate_key(uint64_t plan) {
  return fmt::format("estimate/{}", plan);
}

std::string encode_estimates(const std::vector<MoveCount>& estimates) {
  ByteWriter out;
  out.u32(static_cast<uint32_t>(estimates.size()));
  for (const MoveCount& e : estimates) {
    out.u64(e.keys);
    out.u64(e.bytes);
  }
  return out.take();
}

std::vector<MoveCount> decode_estimates(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<MoveCount> estimates(in.count(16));
  for (MoveCount& e : estimates) {
    e.keys = in.u64();
    e.bytes = in.u64();
  }
  return in.done() ? estimates : std::vector<MoveCount>{};
}

// How far the old copies are behind their owners.
std::string what_force_costs(const PlanView& view) {
  if (view.rollback_available) return "the old copies are up to date: nothing is lost";
  uint64_t dirty = 0;
  for (const GroupView& group : view.groups) {
    if (group.record.target_owns) dirty += group.progress.dirty;
  }
  return fmt::format("{}; the old copies lack {} keys that are known to have changed, and what was written since",
                     view.rollback_reason, dirty);
}

bool has_instance(const Layout& layout, const Instance& instance) {
  return std::any_of(layout.nodes.begin(), layout.nodes.end(), [&](const Node& n) { return n.instance == instance; });
}

// The nodes of both sides, each instance once.
std::vector<Node> nodes_of(const Layout& before, const Layout& after) {
  std::vector<Node> nodes = before.nodes;
  for (const Node& node : after.nodes) {
    if (!has_instance(before, node.instance)) nodes.push_back(node);
  }
  return nodes;
}

rebalance::PlanOptions merge(rebalance::PlanOptions defaults, const PlanOptions& wanted) {
  defaults.grace_ms = wanted.grace_ms.value_or(defaults.grace_ms);
  defaults.keys_per_second = wanted.keys_per_second.value_or(defaults.keys_per_second);
  defaults.bytes_per_second = wanted.bytes_per_second.value_or(defaults.bytes_per_second);
  defaults.accept_weaker = wanted.accept_weaker;
  return defaults;
}

}  // namespace

// One server as preflight and the forecast need it.
struct Leader::Surveyed {
  Node node;
  std::string error;  // not empty: it could not be looked at
  bool without_acl = false;
  ServerFacts facts;
  Survey survey;
  bool is_source = false;
  bool is_target = false;
  bool is_new = false;
};

Result<const Pool*> Leader::pool_named(const Snapshot& snapshot, const std::string& name) const {
  if (name.empty() && snapshot.pools.size() == 1) return &snapshot.pools.front();
  std::string names;
  for (const Pool& pool : snapshot.pools) {
    if (pool.name == name) return &pool;
    names += (names.empty() ? "" : ", ") + pool.name;
  }
  if (name.empty()) return fail(Code::kInvalidArgument, fmt::format("there are several pools, name one: {}", names));
  return fail(Code::kNotFound, fmt::format("no pool {}; there are {}", name, names));
}

Result<Leader::Draft> Leader::draft(const ChangeRequest& request) {
  Draft draft;
  SLIPRING_ASSIGN(auto epoch, read_epoch());
  draft.base = std::move(epoch.value);
  draft.epoch_revision = epoch.revision;
  SLIPRING_ASSIGN(const Pool* pool, pool_named(draft.base, request.pool));
  if (pool->plan) {
    return fail(
        Code::kFailedPrecondition,
        fmt::format("plan {} of pool {} is open; wait for it (plan wait), end it early (plan complete), or take "
                    "it back (plan rollback, plan cancel)",
                    pool->plan->id, pool->name));
  }
  SLIPRING_ASSIGN(Layout after, apply_change(pool->layout, request.change, to_u64(draft.base.epoch) + 1));
  SLIPRING_ASSIGN(draft.moves, rebalance::moves_of(pool->layout, after, 1));
  draft.plan.id = 1;  // a number of its own comes with the plan's start
  draft.plan.pool = pool->name;
  draft.plan.title = describe(request.change);
  draft.plan.base_epoch = draft.base.epoch;
  draft.plan.old_layout = pool->layout;
  draft.plan.next_layout = std::move(after);
  draft.plan.options = merge(parts_.options.plan, request.options);
  SLIPRING_ASSIGN(const Snapshot open, rebalance::snapshot_with_plan(draft.base, draft.plan, draft.moves));
  SLIPRING_TRY(validate(open));
  SLIPRING_ASSIGN(draft.routing, PoolRouting::compile(*open.find_pool(pool->name)));
  for (const Node& node : draft.plan.next_layout.nodes) access_.set_fence(node.instance.address, pool->fence);
  SLIPRING_TRY(survey_servers(request, draft));
  return draft;
}

Leader::Surveyed Leader::survey_server(const Draft& draft, const Node& node) {
  Surveyed s;
  s.node = node;
  for (const MoveOwner& move : draft.moves) {
    s.is_source = s.is_source || move.source == node.instance;
    s.is_target = s.is_target || move.target == node.instance;
  }
  s.is_new = !has_instance(draft.plan.old_layout, node.instance);
  const auto look = [&]() -> Status {
    SLIPRING_ASSIGN(redis::Client client, access_.connect(node.instance.address));
    SLIPRING_ASSIGN(s.facts, redis::inspect(client, parts_.clock));
    SurveyOptions options;
    options.big_key_bytes = draft.plan.options.key_bytes_max;
    SLIPRING_ASSIGN(s.survey, survey(client, *draft.routing, node.instance.address, options, parts_.clock));
    return {};
  };
  if (const Status looked = look(); !looked) {
    s.error = looked.error().message;
    s.without_acl = looked.error().code == Code::kUnimplemented;
  }
  return s;
}

Status Leader::survey_servers(const ChangeRequest& request, Draft& draft) {
  const std::vector<Node> nodes = nodes_of(draft.plan.old_layout, draft.plan.next_layout);
  std::vector<Surveyed> servers(nodes.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < nodes.size(); ++i) {
    threads.emplace_back([&, i] { servers[i] = survey_server(draft, nodes[i]); });
  }
  for (std::thread& thread : threads) thread.join();

  draft.estimates.resize(draft.moves.size());
  for (const Surveyed& s : servers) {
    for (size_t m = 0; m < s.survey.moves.size(); ++m) {
      draft.estimates[m].keys += s.survey.moves[m].keys;
      draft.estimates[m].bytes += s.survey.moves[m].bytes;
    }
  }
  SLIPRING_TRY(forecast_into(servers, draft));

  const Pool* pool = draft.base.find_pool(draft.plan.pool);
  rebalance::PreflightInput input;
  input.kind = pool->kind;
  input.fence = pool->fence;
  input.key_prefix = pool->key_prefix;
  input.accept_weaker = request.options.accept_weaker;
  input.big_key_bytes = draft.plan.options.key_bytes_max;
  for (const Surveyed& s : servers) {
    if (!s.error.empty()) {
      auto& named = s.without_acl ? input.without_acl : input.unreachable;
      named.push_back(fmt::format("node {} ({}): {}", s.node.name, s.node.instance.address, s.error));
      continue;
    }
    if (!s.is_source && !s.is_target && !s.is_new) continue;
    rebalance::PreflightServer server;
    server.node = s.node.name;
    server.facts = s.facts;
    server.is_source = s.is_source;
    server.is_target = s.is_target;
    server.is_new = s.is_new;
    server.keys_of_ours = s.is_new ? s.survey.keys : 0;
    for (size_t m = 0; m < draft.moves.size(); ++m) {
      if (draft.moves[m].target == s.node.instance) server.bytes_to_receive += draft.estimates[m].bytes;
    }
    for (const std::string& key : s.survey.big_key_names) server.big_keys.push_back(fmt::format("{:?}", key));
    input.servers.push_back(std::move(server));
  }
  probe_payloads(servers, *pool, input);
  draft.preview.findings = rebalance::preflight(input);
  return {};
}

void Leader::probe_payloads(const std::vector<Surveyed>& servers, const Pool& pool, rebalance::PreflightInput& input) {
  for (const Surveyed& target : servers) {
    if (!target.is_target || !target.error.empty() || target.facts.identity.role != "master") continue;
    for (const Surveyed& source : servers) {
      if (!source.is_source || !source.error.empty() || &source == &target || source.facts.identity.role != "master") {
        continue;
      }
      auto from = access_.connect(source.node.instance.address);
      auto to = access_.connect(target.node.instance.address);
      if (!from || !to) continue;
      input.probes.push_back(
          {"node " + source.node.name, "node " + target.node.name, probe_payload(*from, *to, pool.key_prefix)});
    }
  }
}

Status Leader::forecast_into(const std::vector<Surveyed>& servers, Draft& draft) {
  std::vector<rebalance::NodeLoad> loads;
  for (const Surveyed& s : servers) {
    loads.push_back({s.node.name, s.survey.keys, s.survey.bytes, s.facts.max_memory_bytes});
  }
  rebalance::ForecastOptions options;
  options.keys_per_second = draft.plan.options.keys_per_second != 0
                                ? static_cast<double>(draft.plan.options.keys_per_second)
                                : kKeysPerSecondAssumed;
  // Memory is preflight's to judge, with what the servers really hold.
  for (rebalance::NodeLoad& load : loads) load.bytes_max = 0;
  SLIPRING_ASSIGN(const rebalance::Forecast forecast,
                  rebalance::forecast(draft.plan.old_layout, draft.plan.next_layout, loads, options));
  PlanPreview& p = draft.preview;
  p.pool = draft.plan.pool;
  p.title = draft.plan.title;
  p.epoch = to_u64(draft.base.epoch);
  p.share_moved = forecast.share;
  p.share_least = forecast.theoretical_least;
  std::map<std::string, std::pair<int64_t, int64_t>> keys_change;  // by node: keys, bytes
  std::map<std::pair<Instance, Instance>, MoveCount> counted;
  for (size_t m = 0; m < draft.moves.size(); ++m) {
    MoveCount& c = counted[{draft.moves[m].source, draft.moves[m].target}];
    c.keys += draft.estimates[m].keys;
    c.bytes += draft.estimates[m].bytes;
  }
  for (const rebalance::PlannedMove& move : forecast.moves) {
    const MoveCount c = counted[{move.source_instance, move.target_instance}];
    p.moves.push_back({move.source, move.target, move.share, c.keys, c.bytes});
    p.keys += c.keys;
    p.bytes += c.bytes;
    keys_change[move.source].first -= static_cast<int64_t>(c.keys);
    keys_change[move.source].second -= static_cast<int64_t>(c.bytes);
    keys_change[move.target].first += static_cast<int64_t>(c.keys);
    keys_change[move.target].second += static_cast<int64_t>(c.bytes);
  }
  for (const rebalance::NodeForecast& node : forecast.nodes) {
    control::NodeLoad load{node.node, node.share_before, node.share_after};
    for (const Surveyed& s : servers) {
      if (s.node.name != node.node) continue;
      load.keys_before = s.survey.keys;
      load.bytes_before = s.survey.bytes;
    }
    const auto& change = keys_change[node.node];
    const auto after = [](uint64_t before, int64_t by) {
      return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(before) + by));
    };
    load.keys_after = after(load.keys_before, change.first);
    load.bytes_after = after(load.bytes_before, change.second);
    p.loads.push_back(std::move(load));
  }
  p.estimated_ms = static_cast<int64_t>(static_cast<double>(p.keys) / options.keys_per_second * 1000);
  return {};
}

Result<PlanPreview> Leader::preview(const ChangeRequest& request) {
  SLIPRING_ASSIGN(Draft d, draft(request));
  return std::move(d.preview);
}

Result<Started> Leader::start_plan(const ChangeRequest& request, uint64_t if_epoch) {
  const std::lock_guard lock(start_mutex_);
  SLIPRING_ASSIGN(Draft d, draft(request));
  if (to_u64(d.base.epoch) != if_epoch) {
    return fail(Code::kAborted, fmt::format("the topology is at epoch {} now, not {}: look at the plan again",
                                            to_u64(d.base.epoch), if_epoch));
  }
  Started started{0, d.preview.findings};
  if (refuses(started.findings)) return started;
  SLIPRING_TRY(prepare_servers(d));
  SLIPRING_ASSIGN(started.plan, open_plan(d));
  return started;
}

// Routers must find their users on a node that joins when they hear of it.
Status Leader::prepare_servers(const Draft& draft) {
  const std::string& prefix = draft.base.find_pool(draft.plan.pool)->key_prefix;
  for (const Node& node : draft.plan.next_layout.nodes) {
    if (has_instance(draft.plan.old_layout, node.instance)) continue;
    SLIPRING_TRY(access_.fence_terms(node.instance.address));
    const std::lock_guard lock(users_mutex_);
    SLIPRING_ASSIGN(const ServerFacts facts, access_.pulse(node.instance.address));
    SLIPRING_TRY(sync_process(node.instance.address, facts.identity.run_id, prefix));
  }
  return {};
}

Result<uint64_t> Leader::open_plan(Draft& d) {
  SLIPRING_ASSIGN(const auto last, parts_.store.get(kPlanIdKey));
  d.plan.id = 1;
  if (last) {
    SLIPRING_ASSIGN(const uint64_t used, parse_u64(last->value, 0, UINT64_MAX - 1));
    d.plan.id = used + 1;
  }
  d.plan.created_at_ms = parts_.clock.wall_ms();
  std::vector<rebalance::GroupRecord> groups = rebalance::make_groups(d.plan.id, d.moves);
  d.plan.group_count = static_cast<uint32_t>(groups.size());
  SLIPRING_ASSIGN(Snapshot open, rebalance::snapshot_with_plan(d.base, d.plan, d.moves));
  Transaction transaction = rebalance::open_plan_transaction({d.base, d.epoch_revision}, d.plan, groups, open);
  transaction.expects.push_back({std::string(kPlanIdKey), last ? last->revision : 0});
  transaction.writes.push_back({std::string(kPlanIdKey), std::to_string(d.plan.id)});
  transaction.writes.push_back({estimate_key(d.plan.id), encode_estimates(d.estimates)});
  SLIPRING_TRY(commit(std::move(transaction)));
  log(LogLevel::kInfo, "control", "plan {} opens: {}", d.plan.id, d.plan.title);
  publish(std::make_shared<const Snapshot>(std::move(open)));
  {
    const std::lock_guard lock(mutex_);
    estimates_[d.plan.id] = d.estimates;
  }
  SLIPRING_ASSIGN(const auto record, parts_.store.get(rebalance::plan_key(d.plan.id)));
  SLIPRING_TRY(run_plan({d.plan, record ? record->revision : 0}));
  return d.plan.id;
}

// ---- open and finished plans

std::shared_ptr<PlanRunner> Leader::runner(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = runners_.find(id);
  return it == runners_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<PlanRunner>> Leader::open_runners() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<PlanRunner>> all;
  for (const auto& [id, r] : runners_) all.push_back(r);
  return all;
}

Result<PlanView> Leader::stored_view(uint64_t id) {
  SLIPRING_ASSIGN(const auto record, parts_.store.get(rebalance::plan_key(id)));
  if (!record) return fail(Code::kNotFound, fmt::format("no plan {}; `plan list` shows them", id));
  PlanView view;
  SLIPRING_ASSIGN(view.plan, rebalance::decode_plan(record->value));
  SLIPRING_ASSIGN(const std::vector<Record> groups, parts_.store.list(rebalance::group_prefix(id)));
  for (const Record& g : groups) {
    GroupView group;
    SLIPRING_ASSIGN(group.record, rebalance::decode_group(g.value));
    view.groups.push_back(std::move(group));
  }
  view.rollback_reason = "the plan has ended";
  return view;
}

Result<PlanView> Leader::view_of(uint64_t id) {
  if (const auto r = runner(id)) return r->view();
  return stored_view(id);
}

PlanReport Leader::report(const PlanView& view) {
  const uint64_t id = view.plan.id;
  std::vector<MoveCount> estimates;
  PlanHolds holds;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = estimates_.find(id); it != estimates_.end()) estimates = it->second;
    if (const auto it = holds_.find(id); it != holds_.end()) holds = it->second;
  }
  if (estimates.empty()) {
    const auto record = parts_.store.get(estimate_key(id));
    if (record && *record) estimates = decode_estimates((*record)->value);
  }
  return report_plan({view, estimates, holds, to_u64(current()->epoch)});
}

Result<std::vector<PlanSummary>> Leader::plans(const std::string& pool, const Page& page) {
  SLIPRING_ASSIGN(const std::vector<Record> records, parts_.store.list("plan/"));
  std::vector<uint64_t> ids;
  for (const Record& record : records) {
    SLIPRING_ASSIGN(const rebalance::PlanRecord plan, rebalance::decode_plan(record.value));
    if (pool.empty() || plan.pool == pool) ids.push_back(plan.id);
  }
  std::sort(ids.rbegin(), ids.rend());
  std::vector<PlanSummary> out;
  for (size_t i = page.offset; i < ids.size() && out.size() < page.limit; ++i) {
    SLIPRING_ASSIGN(const PlanView view, view_of(ids[i]));
    out.push_back(report(view).summary);
  }
  return out;
}

Result<PlanDetail> Leader::plan(uint64_t id, const Page& moves) {
  SLIPRING_ASSIGN(const PlanView view, view_of(id));
  PlanReport r = report(view);
  PlanDetail detail;
  detail.summary = std::move(r.summary);
  detail.options = {view.plan.options.grace_ms, view.plan.options.keys_per_second, view.plan.options.bytes_per_second,
                    view.plan.options.accept_weaker};
  detail.moves_total = r.moves.size();
  detail.hold_longest_us = r.hold_longest_us;
  detail.strays = r.strays;
  for (PlanNote& note : notes_of(id, 0, kPlanNotesMax)) {
    if (!note.alarm) continue;
    if (detail.alarms.size() == kAlarmsMax) detail.alarms.erase(detail.alarms.begin());
    detail.alarms.push_back(std::move(note.text));
  }
  for (size_t i = moves.offset; i < r.moves.size() && detail.moves.size() < moves.limit; ++i) {
    detail.moves.push_back(std::move(r.moves[i]));
    detail.verification.push_back(std::move(r.verification[i]));
  }
  return detail;
}

// What is remembered of an open or a finished plan, from the note after `after` on.
std::vector<PlanNote> Leader::notes_of(uint64_t id, uint64_t after, uint64_t limit) {
  if (const auto r = runner(id)) return r->notes(after, limit);
  const auto record = parts_.store.get(plan_notes_key(id));
  if (!record || !*record) return {};
  const auto notes = decode_plan_notes((*record)->value);
  return notes ? notes_after(*notes, after, limit) : std::vector<PlanNote>();
}

Result<std::vector<PlanEvent>> Leader::plan_events(uint64_t id, uint64_t after, uint64_t limit) {
  if (runner(id) == nullptr) SLIPRING_TRY(stored_view(id));
  const std::vector<PlanNote> notes = notes_of(id, after, limit);
  std::vector<PlanEvent> events;
  for (const PlanNote& note : notes) {
    if (note.sequence <= after || events.size() >= limit) continue;
    events.push_back({note.sequence, note.at_ms, note.alarm ? Severity::kWarn : Severity::kNote, note.text});
  }
  return events;
}

Result<PlanSummary> Leader::act(uint64_t id, PlanAction action, bool force) {
  const auto r = runner(id);
  if (r == nullptr) {
    SLIPRING_ASSIGN(const PlanView view, stored_view(id));
    return fail(Code::kFailedPrecondition,
                fmt::format("plan {} has ended: {}", id, rebalance::plan_state_name(view.plan.state)));
  }
  static constexpr rebalance::Order kOrders[] = {rebalance::Order::kPause, rebalance::Order::kResume,
                                                 rebalance::Order::kRollBack, rebalance::Order::kComplete,
                                                 rebalance::Order::kCancel};
  if (action == PlanAction::kRollback && force) {
    const PlanView before = r->view();
    SLIPRING_TRY(r->order(rebalance::Order::kForceBack));
    PlanSummary summary = report(r->view()).summary;
    summary.reason = what_force_costs(before);
    return summary;
  }
  SLIPRING_TRY(r->order(kOrders[static_cast<size_t>(action)]));
  return report(r->view()).summary;
}

Result<PlanSummary> Leader::decide(uint64_t id, uint32_t move, Choice choice) {
  const auto r = runner(id);
  if (r == nullptr) return fail(Code::kFailedPrecondition, fmt::format("plan {} is not open", id));
  static constexpr rebalance::Order kOrders[] = {rebalance::Order::kDecideOwner, rebalance::Order::kDecideOther,
                                                 rebalance::Order::kDecideMerge};
  const PlanView view = r->view();
  for (const GroupView& group : view.groups) {
    for (const rebalance::GroupMove& m : group.record.moves) {
      if (m.move != move) continue;
      SLIPRING_TRY(r->order(kOrders[static_cast<size_t>(choice)], group.record.index));
      return report(r->view()).summary;
    }
  }
  return fail(Code::kNotFound, fmt::format("plan {} has no move {}; `plan show {}` lists them", id, move, id));
}

}  // namespace slipring::control
