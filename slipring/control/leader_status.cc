// What the leader tells: status, where keys lie, metrics, backups of the topology.
#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/log.h"
#include "slipring/control/leader.h"
#include "slipring/metrics/exposition.h"
#include "slipring/rebalance/planner.h"
#include "slipring/topology/codec.h"

namespace slipring::control {
namespace {

std::string scheme_text(const SchemeSpec& scheme) {
  std::string text = scheme.name;
  for (const auto& [option, value] : scheme.options) text += fmt::format(" {}={}", option, value);
  return text;
}

// The share of the key space of each node, by a sample (planner.h).
std::vector<double> shares_of(const Layout& layout) {
  std::vector<double> shares(layout.nodes.size(), 0);
  const auto forecast = rebalance::forecast(layout, layout, {});
  if (!forecast) return shares;
  for (size_t i = 0; i < layout.nodes.size(); ++i) {
    for (const auto& node : forecast->nodes) {
      if (node.node == layout.nodes[i].name) shares[i] = node.share_before;
    }
  }
  return shares;
}

const char* stage_word(MoveStage stage) {
  static constexpr const char* kWords[] = {"waiting",     "stream",    "verify",   "cutover",
                                           "grace",       "cleanup",   "rollback", "done",
                                           "rolled back", "cancelled", "stopped",  "needs decision"};
  return kWords[static_cast<size_t>(stage)];
}

}  // namespace

Result<ClusterStatus> Leader::status() {
  const std::shared_ptr<const Snapshot> snapshot = current();
  ClusterStatus status;
  status.cluster_id = cluster_id_;
  status.epoch = to_u64(snapshot->epoch);
  status.leader = parts_.options.id;
  status.term = term_;
  for (const Pool& pool : snapshot->pools) status.pools.push_back(pool_status(pool));
  status.routers = router_status(*snapshot);
  for (const RouterStatus& r : status.routers) {
    if (r.state == RouterState::kBehind) {
      status.warnings.push_back(
          fmt::format("router {} is on epoch {}, the topology on {}", r.id, r.epoch, status.epoch));
    }
  }
  for (const auto& r : open_runners()) {
    for (const PlanNote& note : r->notes(0, kPlanNotesMax)) {
      if (note.alarm && status.warnings.size() < 100) status.warnings.push_back(note.text);
    }
  }
  return status;
}

PoolStatus Leader::pool_status(const Pool& pool) {
  PoolStatus out;
  out.name = pool.name;
  out.kind = pool.kind == PoolKind::kStore ? "store" : "cache";
  out.fence = fence_name(pool.fence);
  out.scheme = scheme_text(pool.layout.scheme);
  out.key_prefix = pool.key_prefix;
  std::vector<double> shares;
  {
    const std::lock_guard lock(mutex_);
    shares = shares_[pool.name];
  }
  if (shares.size() != pool.layout.nodes.size()) {
    shares = shares_of(pool.layout);
    const std::lock_guard lock(mutex_);
    shares_[pool.name] = shares;
  }
  for (size_t i = 0; i < pool.layout.nodes.size(); ++i)
    out.nodes.push_back(node_status(pool.layout.nodes[i], shares[i]));
  if (pool.plan) {
    add_plan_nodes(pool, out);
    if (const auto r = runner(pool.plan->id)) out.plan = report(r->view()).summary;
  }
  return out;
}

NodeStatus Leader::node_status(const Node& node, double share) {
  const NodePulse pulse = watch_->pulse(node.instance.address);
  NodeStatus out;
  out.name = node.name;
  out.address = node.instance.address;
  out.generation = node.instance.generation;
  out.zone = node.zone;
  out.weight_milli = node.weight_milli;
  out.share = share;
  out.keys = pulse.keys;
  out.bytes = pulse.bytes;
  out.state = pulse.state;
  out.detail = pulse.detail;
  return out;
}

// Nodes that join or leave with the open plan.
void Leader::add_plan_nodes(const Pool& pool, PoolStatus& out) {
  const auto in = [](const Layout& layout, const std::string& name) {
    return std::any_of(layout.nodes.begin(), layout.nodes.end(), [&](const Node& n) { return n.name == name; });
  };
  for (NodeStatus& node : out.nodes) {
    if (node.state == NodeState::kUp && !in(pool.plan->next, node.name)) node.state = NodeState::kLeaving;
  }
  for (const Node& node : pool.plan->next.nodes) {
    if (in(pool.layout, node.name)) continue;
    NodeStatus joining = node_status(node, 0);
    if (joining.state == NodeState::kUp) joining.state = NodeState::kJoining;
    out.nodes.push_back(std::move(joining));
  }
}

std::vector<RouterStatus> Leader::router_status(const Snapshot& snapshot) {
  std::map<std::string, RouterRecord> known;
  {
    const std::lock_guard lock(book_mutex_);
    known = book_.routers();
  }
  std::vector<RouterStatus> out;
  for (const auto& [id, record] : known) {
    RouterStatus r;
    r.id = id;
    r.listen = record.listen;
    r.generation = record.active.generation;
    r.state = record.active.generation == 0 ? RouterState::kFenced : RouterState::kGone;
    if (const auto link = links_.alive(id)) {
      r.epoch = to_u64(link->epoch);
      r.generation = link->generation;
      r.state = link->epoch == snapshot.epoch ? RouterState::kServing : RouterState::kBehind;
      if (record.active.generation == 0) r.state = RouterState::kFenced;
      r.clients = link->stats.clients;
      r.commands = link->stats.commands;
      r.errors = link->stats.errors;
      r.held = link->stats.held_now;
    }
    r.silent_ms = links_.silent_ms(id).value_or(-1);
    out.push_back(std::move(r));
  }
  return out;
}

Result<std::vector<Location>> Leader::locate(const std::string& pool_name, const std::vector<std::string>& keys) {
  if (keys.size() > kLocateKeysMax) {
    return fail(Code::kResourceExhausted, fmt::format("at most {} keys at once", kLocateKeysMax));
  }
  const std::shared_ptr<const Snapshot> snapshot = current();
  SLIPRING_ASSIGN(const Pool* pool, pool_named(*snapshot, pool_name));
  const std::shared_ptr<const PoolRouting> table = routing(pool->name);
  if (table == nullptr) return fail(Code::kInternal, fmt::format("pool {} has no routing", pool->name));
  std::map<uint32_t, const char*> stages;  // by move
  if (pool->plan) {
    if (const auto r = runner(pool->plan->id)) {
      for (const MoveProgress& move : report(r->view()).moves) stages[move.index] = stage_word(move.stage);
    }
  }
  std::vector<Location> out;
  for (const std::string& key : keys) {
    const Decision d = table->decide(key);
    Location l;
    l.key = key;
    l.epoch = to_u64(snapshot->epoch);
    if (d.owner != kNoInstance) {
      l.owner = table->node_name(d.owner);
      l.address = table->instances()[d.owner].address;
    }
    const bool by_new = d.move != kNoMove && table->pool().plan->moves[d.move].target_owns;
    const Scheme& scheme = by_new ? *table->new_scheme() : table->old_scheme();
    const Layout& layout = by_new ? table->pool().plan->next : table->pool().layout;
    std::vector<NodeIndex> list(std::max<size_t>(layout.replicas, 1));
    list.resize(scheme.preference_list(key, list));
    for (NodeIndex n : list) l.preference_list.push_back(layout.nodes[n].name);
    const Explanation where = scheme.explain(key);
    l.point = where.point;
    l.range = where.range;
    if (d.move != kNoMove) {
      l.old_owner = table->node_name(d.source);
      l.new_owner = table->node_name(d.target);
      const auto stage = stages.find(d.move);
      l.stage = stage == stages.end() ? "" : stage->second;
    }
    out.push_back(std::move(l));
  }
  return out;
}

Status Leader::forget_router(const std::string& id) {
  if (links_.alive(id)) {
    return fail(Code::kFailedPrecondition, fmt::format("router {} is connected; stop it first", id));
  }
  {
    const std::lock_guard lock(book_mutex_);
    SLIPRING_TRY(book_.forget(id));
  }
  links_.disown(id);
  sync_users_everywhere();
  for (const auto& r : open_runners()) r->routers_changed();
  return {};
}

bool Leader::uses_node(const std::string& name) {
  const auto has = [&](const Layout& layout) {
    return std::any_of(layout.nodes.begin(), layout.nodes.end(), [&](const Node& n) { return n.name == name; });
  };
  for (const Pool& pool : current()->pools) {
    if (has(pool.layout) || (pool.plan && has(pool.plan->next))) return true;
  }
  return false;
}

Result<std::string> Leader::export_topology() {
  SLIPRING_ASSIGN(const auto epoch, read_epoch());
  return encode_snapshot(epoch.value);
}

Result<uint64_t> Leader::import_topology(const std::string& backup) {
  const std::lock_guard start_lock(start_mutex_);
  SLIPRING_ASSIGN(Snapshot imported, decode_snapshot(backup));
  SLIPRING_ASSIGN(const auto epoch, read_epoch());
  if (imported.cluster_id != cluster_id_) {
    return fail(Code::kInvalidArgument,
                fmt::format("the backup is of cluster {}, this is {}", imported.cluster_id, cluster_id_));
  }
  for (const Snapshot* side : {static_cast<const Snapshot*>(&imported), &epoch.value}) {
    for (const Pool& pool : side->pools) {
      if (!pool.plan) continue;
      return fail(Code::kFailedPrecondition,
                  fmt::format("plan {} of pool {} is open {}; a topology is imported only between plans", pool.plan->id,
                              pool.name, side == &imported ? "in the backup" : "now"));
    }
  }
  for (const Pool& pool : imported.pools) {
    const Pool* now = epoch.value.find_pool(pool.name);
    if (now == nullptr || now->fence == pool.fence) continue;
    return fail(Code::kFailedPrecondition,
                fmt::format("pool {} is fenced by {}, in the backup by {}; connections that exist could not be fenced "
                            "in the other way",
                            pool.name, fence_name(now->fence), fence_name(pool.fence)));
  }
  imported.epoch = next(epoch.value.epoch);
  SLIPRING_TRY(validate(imported));
  learn_fences(imported);
  SLIPRING_TRY(check_seed(imported));
  Transaction transaction;
  transaction.expects.push_back({std::string(rebalance::kEpochKey), epoch.revision});
  transaction.writes.push_back({std::string(rebalance::kEpochKey), encode_snapshot(imported)});
  SLIPRING_TRY(commit(std::move(transaction)));
  const uint64_t published = to_u64(imported.epoch);
  log(LogLevel::kInfo, "control", "epoch {} published: imported", published);
  publish(std::make_shared<const Snapshot>(std::move(imported)));
  sync_users_everywhere();
  return published;
}

std::string Leader::metrics() {
  metrics::Exposition out;
  const auto gauge = [&](std::string_view name, std::string_view help, const metrics::Labels& labels, double value) {
    out.add(metrics::Kind::kGauge, name, help, labels, value);
  };
  const auto status_now = status();
  if (!status_now) return out.text();
  const ClusterStatus& s = *status_now;
  gauge("slipring_epoch", "Epoch of the topology.", {}, static_cast<double>(s.epoch));
  gauge("slipring_leader", "1 on the leading controller.", {{"controller", s.leader}}, 1);
  gauge("slipring_term", "Term of the leading controller.", {}, static_cast<double>(s.term));
  for (const RouterStatus& r : s.routers) {
    const bool connected = r.state == RouterState::kServing || r.state == RouterState::kBehind;
    gauge("slipring_routers_by_epoch", "Connected routers by the epoch they serve by.",
          {{"epoch", connected ? std::to_string(r.epoch) : "none"}}, 1);
    gauge("slipring_router_up", "1 if the router is connected.", {{"router", r.id}}, connected ? 1 : 0);
  }
  for (const PoolStatus& pool : s.pools) {
    for (const NodeStatus& n : pool.nodes) {
      const metrics::Labels labels = {{"pool", pool.name}, {"node", n.name}};
      const bool up = n.state != NodeState::kDown && n.state != NodeState::kUnknown;
      gauge("slipring_node_up", "1 if the node answers.", labels, up ? 1 : 0);
      gauge("slipring_node_share", "Share of the key space that the node owns.", labels, n.share);
      if (n.keys)
        gauge("slipring_node_keys", "Keys on the node, copies included.", labels, static_cast<double>(*n.keys));
      if (n.bytes) gauge("slipring_node_bytes", "Memory used by the node.", labels, static_cast<double>(*n.bytes));
    }
    gauge("slipring_plan_open", "1 while a plan of the pool is open.", {{"pool", pool.name}}, pool.plan ? 1 : 0);
    if (pool.plan) add_plan_metrics(*pool.plan, out);
  }
  return out.text();
}

void Leader::add_plan_metrics(const PlanSummary& plan, metrics::Exposition& out) {
  const metrics::Labels labels = {{"pool", plan.pool}, {"plan", std::to_string(plan.id)}};
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    out.add(metrics::Kind::kGauge, name, help, labels, value);
  };
  gauge("slipring_plan_keys_total", "Keys that the plan moves, estimated.", static_cast<double>(plan.keys_total));
  gauge("slipring_plan_keys_done", "Keys copied.", static_cast<double>(plan.keys_done));
  gauge("slipring_plan_keys_per_second", "Keys copied a second.", plan.keys_per_second);
  gauge("slipring_plan_rollback_available", "1 if a rollback loses nothing.", plan.rollback.available ? 1 : 0);
  const auto r = runner(plan.id);
  if (r == nullptr) return;
  const PlanView view = r->view();
  for (const MoveProgress& move : report(view).moves) {
    metrics::Labels stage = labels;
    stage.emplace_back("stage", stage_word(move.stage));
    out.add(metrics::Kind::kGauge, "slipring_plan_moves", "Moves of the plan by stage.", stage, 1);
  }
  for (const GroupView& group : view.groups) {
    metrics::Labels of_group = labels;
    of_group.emplace_back("group", std::to_string(group.record.index));
    out.add(metrics::Kind::kGauge, "slipring_plan_dirty_keys", "Keys changed since they were copied: the feed's lag.",
            of_group, static_cast<double>(group.progress.dirty));
  }
}

}  // namespace slipring::control
