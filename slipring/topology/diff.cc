#include "slipring/topology/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "slipring/base/parse.h"

namespace slipring {
namespace {

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Named& item : items) names.push_back(item.name);
  return names;
}

template <typename Named>
std::unordered_map<std::string_view, const Named*> by_name(const std::vector<Named>& items) {
  std::unordered_map<std::string_view, const Named*> map;
  for (const Named& item : items) map.emplace(item.name, &item);
  return map;
}

// Reports what left, what both have and what came, in this order, and answers whether insertion at the positions of
// `after` alone gives its order.
template <typename Named, typename Went, typename Stayed, typename Came>
bool match(const std::vector<Named>& before, const std::vector<Named>& after, Went went, Stayed stayed, Came came) {
  const auto old_names = by_name(before);
  const auto new_names = by_name(after);
  std::vector<std::string_view> old_order;
  std::vector<std::string_view> new_order;
  for (const Named& item : before) {
    if (new_names.contains(item.name)) {
      old_order.push_back(item.name);
    } else {
      went(item);
    }
  }
  for (const Named& item : after) {
    if (const auto at = old_names.find(item.name); at != old_names.end()) {
      new_order.push_back(item.name);
      stayed(*at->second, item);
    }
  }
  for (size_t i = 0; i < after.size(); ++i) {
    if (!old_names.contains(after[i].name)) came(after[i], i);
  }
  return old_order == new_order;
}

// The pool without what has edits of its own.
Pool bare(Pool pool) {
  pool.layout.nodes.clear();
  pool.plan.reset();
  return pool;
}

// The indexes of the moves that switch, or nullopt if the plans differ in more than that.
std::optional<std::vector<uint32_t>> switched_moves(const OpenPlan& before, const OpenPlan& after) {
  if (before.id != after.id || before.slices != after.slices || before.next != after.next ||
      before.moves.size() != after.moves.size()) {
    return std::nullopt;
  }
  std::vector<uint32_t> switched;
  for (size_t i = 0; i < after.moves.size(); ++i) {
    MoveOwner move = before.moves[i];
    move.target_owns = after.moves[i].target_owns;
    if (move != after.moves[i]) return std::nullopt;
    if (before.moves[i].target_owns != move.target_owns) switched.push_back(static_cast<uint32_t>(i));
  }
  return switched;
}

void diff_plan(const Pool& before, const Pool& after, std::vector<Edit>& edits) {
  if (before.plan == after.plan) return;
  if (before.plan && after.plan) {
    if (auto moves = switched_moves(*before.plan, *after.plan)) {
      edits.push_back(OwnerEdit{after.name, std::move(*moves)});
      return;
    }
  }
  edits.push_back(PlanEdit{after.name, before.plan, after.plan});
}

void diff_pool(const Pool& before, const Pool& after, std::vector<Edit>& edits) {
  if (before == after) return;
  if (bare(before) != bare(after)) edits.push_back(PoolEdit{bare(before), bare(after)});
  const std::string& pool = after.name;
  const bool ordered = match(
      before.layout.nodes, after.layout.nodes,
      [&](const Node& went) {
        edits.push_back(NodeEdit{pool, went, std::nullopt});
      },
      [&](const Node& a, const Node& b) {
        if (a != b) edits.push_back(NodeEdit{pool, a, b});
      },
      [&](const Node& came, size_t position) {
        edits.push_back(NodeEdit{pool, std::nullopt, came, position});
      });
  if (!ordered) edits.push_back(NodeOrder{pool, names_of(after.layout.nodes)});
  diff_plan(before, after, edits);
}

Status misfit(std::string what) {
  return fail(Code::kFailedPrecondition, "edit does not fit this snapshot: " + what);
}

template <typename Named>
typename std::vector<Named>::iterator find_named(std::vector<Named>& items, std::string_view name) {
  return std::find_if(items.begin(), items.end(), [&](const Named& item) { return item.name == name; });
}

// Erases, replaces or inserts one item of a list whose names are distinct. `same` compares what stands there.
template <typename Named, typename Same, typename Replace>
Status edit_list(std::vector<Named>& items, const std::optional<Named>& before, const std::optional<Named>& after,
                 size_t position, Same same, Replace replace) {
  if (!before && !after) return misfit("it edits nothing");
  if (!before) {
    if (position > items.size() || find_named(items, after->name) != items.end()) return misfit(after->name);
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(position), *after);
    return {};
  }
  const auto at = find_named(items, before->name);
  if (at == items.end() || !same(*at, *before)) return misfit(before->name);
  if (!after) {
    items.erase(at);
    return {};
  }
  if (after->name != before->name) return misfit(after->name);
  replace(*at, *after);
  return {};
}

template <typename Named>
Status reorder(std::vector<Named>& items, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> position;
  for (size_t i = 0; i < items.size(); ++i) position.emplace(items[i].name, i);
  if (names.size() != items.size()) return misfit("order of another list");
  std::vector<Named> ordered;
  ordered.reserve(items.size());
  for (const std::string& name : names) {
    const auto at = position.find(name);
    if (at == position.end()) return misfit("order names " + name);
    ordered.push_back(items[at->second]);
    position.erase(at);
  }
  items = std::move(ordered);
  return {};
}

class Applier {
 public:
  explicit Applier(Snapshot& snapshot) : snapshot_(snapshot) {}

  Status operator()(const ClusterEdit& edit) {
    if (snapshot_.epoch != edit.epoch_before || snapshot_.cluster_id != edit.id_before)
      return misfit("epoch or cluster");
    snapshot_.epoch = edit.epoch_after;
    snapshot_.cluster_id = edit.id_after;
    return {};
  }
  Status operator()(const PoolEdit& edit) {
    const bool stays = edit.before && edit.after;
    return edit_list(
        snapshot_.pools, edit.before, edit.after, edit.position,
        [&](const Pool& here, const Pool& before) { return stays ? bare(here) == before : here == before; },
        [](Pool& here, const Pool& after) {
          here.kind = after.kind;
          here.fence = after.fence;
          here.key_prefix = after.key_prefix;
          here.layout.scheme = after.layout.scheme;
          here.layout.replicas = after.layout.replicas;
        });
  }
  Status operator()(const NodeEdit& edit) {
    Pool* pool = find(edit.pool);
    if (pool == nullptr) return misfit("pool " + edit.pool);
    return edit_list(pool->layout.nodes, edit.before, edit.after, edit.position, std::equal_to<>(),
                     [](Node& here, const Node& after) { here = after; });
  }
  Status operator()(const PoolOrder& edit) { return reorder(snapshot_.pools, edit.names); }
  Status operator()(const NodeOrder& edit) {
    Pool* pool = find(edit.pool);
    return pool == nullptr ? misfit("pool " + edit.pool) : reorder(pool->layout.nodes, edit.names);
  }
  Status operator()(const PlanEdit& edit) {
    Pool* pool = find(edit.pool);
    if (pool == nullptr || pool->plan != edit.before) return misfit("plan of pool " + edit.pool);
    pool->plan = edit.after;
    return {};
  }
  Status operator()(const OwnerEdit& edit) {
    Pool* pool = find(edit.pool);
    if (pool == nullptr || !pool->plan) return misfit("plan of pool " + edit.pool);
    for (const uint32_t move : edit.moves) {
      if (move >= pool->plan->moves.size()) return misfit(fmt::format("move {}", move));
      pool->plan->moves[move].target_owns = !pool->plan->moves[move].target_owns;
    }
    return {};
  }

 private:
  Pool* find(std::string_view name) {
    const auto at = find_named(snapshot_.pools, name);
    return at == snapshot_.pools.end() ? nullptr : &*at;
  }
  Snapshot& snapshot_;
};

std::string or_none(std::string_view text) {
  return text.empty() ? "none" : std::string(text);
}

std::string text_of(const Instance& i) {
  return fmt::format("{} generation {}", i.address, i.generation);
}

std::string node_changes(const Node& a, const Node& b) {
  std::string text;
  const auto change = [&](std::string_view what, const std::string& from, const std::string& to) {
    if (from != to) text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", what, from, to);
  };
  change("weight", format_milli(a.weight_milli), format_milli(b.weight_milli));
  change("zone", or_none(a.zone), or_none(b.zone));
  change("label", or_none(a.label), or_none(b.label));
  change("address", text_of(a.instance), text_of(b.instance));
  if (a.attributes != b.attributes) text += text.empty() ? "attributes" : ", attributes";
  return text;
}

std::string describe(const Node& node) {
  return fmt::format("{} weight {} zone {}", node.instance.address, format_milli(node.weight_milli),
                     or_none(node.zone));
}

struct Printer {
  std::string operator()(const ClusterEdit& e) const {
    std::string text = fmt::format("epoch {} -> {}", to_u64(e.epoch_before), to_u64(e.epoch_after));
    if (e.id_before != e.id_after) text += fmt::format(", cluster {} -> {}", or_none(e.id_before), or_none(e.id_after));
    return text;
  }
  std::string operator()(const PoolEdit& e) const {
    if (!e.before) return fmt::format("pool {}: added, {} nodes", e.after->name, e.after->layout.nodes.size());
    if (!e.after) return fmt::format("pool {}: removed", e.before->name);
    return fmt::format("pool {}: kind, fence, prefix, scheme or replicas changed: scheme {} -> {}, replicas {} -> {}",
                       e.after->name, e.before->layout.scheme.name, e.after->layout.scheme.name,
                       e.before->layout.replicas, e.after->layout.replicas);
  }
  std::string operator()(const NodeEdit& e) const {
    if (!e.before) return fmt::format("pool {}: node {}: added, {}", e.pool, e.after->name, describe(*e.after));
    if (!e.after) return fmt::format("pool {}: node {}: removed, {}", e.pool, e.before->name, describe(*e.before));
    return fmt::format("pool {}: node {}: {}", e.pool, e.after->name, node_changes(*e.before, *e.after));
  }
  std::string operator()(const PoolOrder&) const { return "pools: order changed"; }
  std::string operator()(const NodeOrder& e) const { return fmt::format("pool {}: order of nodes changed", e.pool); }
  std::string operator()(const PlanEdit& e) const {
    if (!e.before) return fmt::format("pool {}: plan {} opened, {} moves", e.pool, e.after->id, e.after->moves.size());
    if (!e.after) return fmt::format("pool {}: plan {} closed", e.pool, e.before->id);
    return fmt::format("pool {}: plan {} -> {} changed", e.pool, e.before->id, e.after->id);
  }
  std::string operator()(const OwnerEdit& e) const {
    return fmt::format("pool {}: {} moves switched their owner", e.pool, e.moves.size());
  }
};

}  // namespace

std::vector<Edit> diff(const Snapshot& before, const Snapshot& after) {
  std::vector<Edit> edits;
  if (before.epoch != after.epoch || before.cluster_id != after.cluster_id) {
    edits.push_back(ClusterEdit{before.epoch, after.epoch, before.cluster_id, after.cluster_id});
  }
  const bool ordered = match(
      before.pools, after.pools,
      [&](const Pool& went) {
        edits.push_back(PoolEdit{went, std::nullopt});
      },
      [&](const Pool& a, const Pool& b) { diff_pool(a, b, edits); },
      [&](const Pool& came, size_t position) {
        edits.push_back(PoolEdit{std::nullopt, came, position});
      });
  if (!ordered) edits.push_back(PoolOrder{names_of(after.pools)});
  return edits;
}

Result<Snapshot> apply_edits(const std::vector<Edit>& edits, Snapshot base) {
  Applier applier(base);
  for (const Edit& edit : edits) SLIPRING_TRY(std::visit(applier, edit));
  return base;
}

std::string to_string(const Edit& edit) {
  return std::visit(Printer{}, edit);
}

}  // namespace slipring
