#include "slipring/topology/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "slipring/base/check.h"
#include "slipring/base/parse.h"
#include "slipring/hash/xx.h"
#include "slipring/topology/codec.h"

namespace slipring {
namespace {

tl::unexpected<Error> invalid(std::string message) {
  return fail(Code::kInvalidArgument, std::move(message));
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Status check_cluster_id(std::string_view id) {
  if (id.size() != 16 || id.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return invalid("cluster id: must be 16 lower-case hex digits");
  }
  return {};
}

// Servers match the prefix as a pattern in their access lists, so it holds nothing that a pattern reads otherwise.
Status check_key_prefix(std::string_view prefix) {
  if (prefix.size() > kKeyPrefixBytesMax || !printable(prefix) ||
      prefix.find_first_of("*?[]\\") != std::string_view::npos) {
    return invalid(fmt::format("key_prefix: must be at most {} printable characters without blank * ? [ ] or \\",
                               kKeyPrefixBytesMax));
  }
  return {};
}

Status check_settings(const std::map<std::string, std::string>& map, std::string_view what) {
  if (map.size() > kSettingsMax) return invalid(fmt::format("{}: more than {}", what, kSettingsMax));
  for (const auto& [key, value] : map) {
    if (key.empty() || key.size() > kLabelBytesMax) {
      return invalid(fmt::format("{}: a name must have 1 to {} bytes", what, kLabelBytesMax));
    }
    if (value.size() > kSettingBytesMax) {
      return invalid(fmt::format("{} {}: longer than {} bytes", what, key, kSettingBytesMax));
    }
  }
  return {};
}

Status check_node(const Node& node) {
  SLIPRING_TRY(check_node_name(node.name));
  const auto bad = [&](std::string_view why) { return invalid(fmt::format("node {}: {}", node.name, why)); };
  if (node.label.size() > kLabelBytesMax) return bad(fmt::format("label longer than {} bytes", kLabelBytesMax));
  if (node.zone.size() > kZoneBytesMax || !printable(node.zone)) {
    return bad(fmt::format("zone must be at most {} printable characters without blanks", kZoneBytesMax));
  }
  if (node.weight_milli < 0 || node.weight_milli > kWeightMilliMax) {
    return bad(fmt::format("weight {}: must be 0 to {}", format_milli(node.weight_milli), kWeightMilliMax / 1000));
  }
  if (node.instance.generation == 0) return bad("instance generation must be at least 1");
  auto address = parse_host_port(node.instance.address);
  if (!address) return bad(address.error().message);
  if (format_host_port(*address) != node.instance.address) {
    return bad(fmt::format("address {}: write it as {}", node.instance.address, format_host_port(*address)));
  }
  if (auto ok = check_settings(node.attributes, "attributes"); !ok) return bad(ok.error().message);
  return {};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Status check_layout(const Layout& layout) {
  if (layout.nodes.empty()) return invalid("no nodes");
  if (layout.nodes.size() > kNodesPerPoolMax) return invalid(fmt::format("more than {} nodes", kNodesPerPoolMax));
  if (layout.replicas < 1 || layout.replicas > kReplicasMax) {
    return invalid(fmt::format("replicas {}: must be 1 to {}", layout.replicas, kReplicasMax));
  }
  SLIPRING_TRY(check_settings(layout.scheme.options, "scheme options"));
  std::unordered_set<std::string_view> names;
  std::unordered_map<std::string, std::string_view> addresses;
  for (const Node& node : layout.nodes) {
    SLIPRING_TRY(check_node(node));
    if (!names.insert(node.name).second) return invalid(fmt::format("node {}: the name occurs twice", node.name));
    const auto [at, fresh] = addresses.emplace(lower(node.instance.address), node.name);
    if (!fresh) {
      return invalid(
          fmt::format("node {}: address {} is that of node {}", node.name, node.instance.address, at->second));
    }
  }
  if (auto scheme = make_scheme(layout.scheme, members_of(layout)); !scheme) return fail(scheme.error());
  return {};
}

std::set<Instance> instances_of(const Layout& layout) {
  std::set<Instance> instances;
  for (const Node& node : layout.nodes) instances.insert(node.instance);
  return instances;
}

// One server is one instance on both sides: a move from a server to itself cannot be carried out.
Status check_same_server(const Layout& before, const Layout& after) {
  std::unordered_map<std::string, const Node*> by_address;
  for (const Node& node : before.nodes) by_address.emplace(lower(node.instance.address), &node);
  for (const Node& node : after.nodes) {
    const auto at = by_address.find(lower(node.instance.address));
    if (at == by_address.end() || at->second->instance == node.instance) continue;
    return invalid(fmt::format("node {}: address {} is node {} of the placement before, with another generation",
                               node.name, node.instance.address, at->second->name));
  }
  return {};
}

Status check_moves(const OpenPlan& plan, const std::set<Instance>& sources, const std::set<Instance>& targets) {
  if (plan.moves.size() > kMovesPerPlanMax) return invalid(fmt::format("more than {} moves", kMovesPerPlanMax));
  const auto key = [](const MoveOwner& m) { return std::tie(m.source, m.target, m.slice); };
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const MoveOwner& move = plan.moves[i];
    const auto bad = [&](std::string_view why) {
      return invalid(fmt::format("move {} ({} to {}, slice {}): {}", i, move.source.address, move.target.address,
                                 move.slice, why));
    };
    if (move.slice >= plan.slices) return bad(fmt::format("slice must be below {}", plan.slices));
    if (!sources.contains(move.source)) return bad("source is no instance of the placement before");
    if (!targets.contains(move.target)) return bad("target is no instance of the placement after");
    if (move.source == move.target) return bad("source and target are one");
    if (i > 0 && !(key(plan.moves[i - 1]) < key(move))) return bad("moves are not sorted, or one occurs twice");
  }
  return {};
}

Status check_plan(const Layout& before, const OpenPlan& plan) {
  if (plan.id == 0) return invalid("id must be at least 1");
  if (!is_slice_count(plan.slices)) return invalid(fmt::format("slices {}: must be 1, 16, 256 or 4096", plan.slices));
  SLIPRING_TRY(check_layout(plan.next));
  SLIPRING_TRY(check_same_server(before, plan.next));
  return check_moves(plan, instances_of(before), instances_of(plan.next));
}

Status check_pool(const Pool& pool) {
  SLIPRING_TRY(check_key_prefix(pool.key_prefix));
  SLIPRING_TRY(check_layout(pool.layout));
  if (!pool.plan) return {};
  if (auto ok = check_plan(pool.layout, *pool.plan); !ok) {
    return fail_in(fmt::format("plan {}", pool.plan->id), ok.error());
  }
  return {};
}

// A server belongs to one pool: its users, its feed and its keys are that pool's.
Status check_pools_apart(const std::vector<Pool>& pools) {
  std::unordered_set<std::string_view> names;
  std::unordered_map<std::string, std::string_view> pool_of;
  for (const Pool& pool : pools) {
    if (!names.insert(pool.name).second) return invalid(fmt::format("pool {}: the name occurs twice", pool.name));
    const auto take = [&](const Layout& layout) -> Status {
      for (const Node& node : layout.nodes) {
        const auto at = pool_of.emplace(lower(node.instance.address), pool.name).first;
        if (at->second == pool.name) continue;
        return invalid(fmt::format("pool {}: node {}: address {} is used by pool {}", pool.name, node.name,
                                   node.instance.address, at->second));
      }
      return {};
    };
    SLIPRING_TRY(take(pool.layout));
    if (pool.plan) SLIPRING_TRY(take(pool.plan->next));
  }
  return {};
}

}  // namespace

std::vector<Member> members_of(const Layout& layout) {
  std::vector<Member> members;
  members.reserve(layout.nodes.size());
  for (const Node& node : layout.nodes) {
    members.push_back({node.name, node.label, node.weight_milli, node.zone, node.attributes});
  }
  return members;
}

const Pool* Snapshot::find_pool(std::string_view name) const {
  const auto at = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) { return pool.name == name; });
  return at == pools.end() ? nullptr : &*at;
}

Status validate(const Snapshot& snapshot) {
  if (snapshot.epoch == Epoch{0}) return invalid("epoch 0 is never published");
  SLIPRING_TRY(check_cluster_id(snapshot.cluster_id));
  if (snapshot.pools.size() > kPoolsMax) return invalid(fmt::format("more than {} pools", kPoolsMax));
  for (const Pool& pool : snapshot.pools) {
    if (auto ok = check_node_name(pool.name); !ok) return fail_in("pool name", ok.error());
    if (auto ok = check_pool(pool); !ok) return fail_in("pool " + pool.name, ok.error());
  }
  SLIPRING_TRY(check_pools_apart(snapshot.pools));
  if (encode_snapshot(snapshot).size() > kSnapshotBytesMax) {
    return invalid(fmt::format("the snapshot is larger than {} bytes", kSnapshotBytesMax));
  }
  return {};
}

std::string_view fence_name(PoolFence fence) {
  return fence == PoolFence::kNames ? "names" : "acl";
}

bool is_slice_count(uint32_t slices) {
  return slices == 1 || slices == 16 || slices == 256 || slices == kSlicesMax;
}

uint32_t slice_of(std::string_view tag, uint32_t slices) {
  SLIPRING_CHECK(is_slice_count(slices), "a plan has 1, 16, 256 or 4096 slices");
  if (slices == 1) return 0;
  return static_cast<uint32_t>(xxh3_64(tag) >> (64 - std::countr_zero(slices)));
}

Result<std::unique_ptr<const Scheme>> make_scheme(const Layout& layout) {
  return make_scheme(layout.scheme, members_of(layout));
}

}  // namespace slipring
