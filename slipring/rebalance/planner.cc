#include "slipring/rebalance/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "slipring/placement/plan_moves.h"
#include "slipring/placement/registry.h"
#include "slipring/topology/routing.h"

namespace slipring::rebalance {
namespace {

constexpr std::array<uint32_t, 4> kSliceCounts = {1, 16, 256, 4096};

const Node* find_node(const Layout& layout, const std::string& name) {
  for (const Node& node : layout.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

uint64_t scaled(uint64_t n, double factor) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(n) * factor));
}

// A layout with its scheme and the share of each node.
struct Side {
  const Layout& layout;
  std::vector<Member> members;
  std::unique_ptr<const Scheme> scheme;
  std::vector<double> shares;

  static Result<Side> make(const Layout& layout) {
    Side side{layout, members_of(layout), nullptr, {}};
    SLIPRING_ASSIGN(side.scheme, make_scheme(layout.scheme, side.members));
    side.shares = plan_shares(*side.scheme);
    return side;
  }
  double share_of(const std::string& name) const {
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i].name == name) return shares[i];
    }
    return 0;
  }
};

class Forecaster {
 public:
  Forecaster(const Side& before, const Side& after, const std::vector<NodeLoad>& loads, const ForecastOptions& options)
      : before_(before), after_(after), options_(options) {
    for (const NodeLoad& load : loads) loads_[load.node] = load;
  }

  Result<Forecast> run() {
    add_moves();
    add_nodes();
    SLIPRING_TRY(choose_slices());
    if (options_.keys_per_second > 0) out_.seconds = static_cast<double>(out_.keys) / options_.keys_per_second;
    return std::move(out_);
  }

 private:
  void add_moves() {
    const MovePlan plan = plan_moves({*before_.scheme, before_.members}, {*after_.scheme, after_.members});
    out_.share = plan.moved_share;
    out_.theoretical_least = plan.least_share;
    out_.samples = static_cast<uint32_t>(plan.sampled_keys);
    for (const MoveShare& m : plan.moves)
      add_move(before_.layout.nodes[m.source], after_.layout.nodes[m.target], m.share);
    // A node that gets another server moves everything that it keeps.
    for (const Node& node : before_.layout.nodes) {
      const Node* now = find_node(after_.layout, node.name);
      if (now == nullptr || now->instance == node.instance) continue;
      double gone = 0;
      for (const PlannedMove& m : out_.moves) gone += m.source == node.name ? m.share : 0;
      add_move(node, *now, before_.share_of(node.name) - gone);
    }
    std::sort(out_.moves.begin(), out_.moves.end(), [](const PlannedMove& a, const PlannedMove& b) {
      return std::tie(a.source, a.target) < std::tie(b.source, b.target);
    });
  }

  void add_move(const Node& source, const Node& target, double share) {
    PlannedMove move;
    move.source = source.name;
    move.target = target.name;
    move.source_instance = source.instance;
    move.target_instance = target.instance;
    move.share = share;
    const double owned = before_.share_of(source.name);
    move.of_source = owned > 0 ? std::min(1.0, share / owned) : 0;
    const NodeLoad load = load_of(source.name);
    move.keys = scaled(load.keys, move.of_source);
    move.bytes = scaled(load.bytes, move.of_source);
    out_.keys += move.keys;
    out_.bytes += move.bytes;
    out_.moves.push_back(std::move(move));
  }

  NodeLoad load_of(const std::string& node) const {
    const auto it = loads_.find(node);
    return it == loads_.end() ? NodeLoad{} : it->second;
  }

  void add_nodes() {
    std::set<std::string> names;
    for (const Side* side : {&before_, &after_}) {
      for (const Node& node : side->layout.nodes) {
        if (names.insert(node.name).second) add_node(node.name);
      }
    }
  }

  void add_node(const std::string& name) {
    const NodeLoad load = load_of(name);
    NodeForecast f;
    f.node = name;
    f.share_before = before_.share_of(name);
    f.share_after = after_.share_of(name);
    f.keys_before = load.keys;
    f.bytes_before = load.bytes;
    f.bytes_max = load.bytes_max;
    uint64_t keys_in = 0, keys_out = 0, bytes_in = 0, bytes_out = 0;
    for (const PlannedMove& m : out_.moves) {
      if (m.target == name) keys_in += m.keys, bytes_in += m.bytes;
      if (m.source == name) keys_out += m.keys, bytes_out += m.bytes;
    }
    f.keys_after = f.keys_before + keys_in - std::min(keys_out, f.keys_before + keys_in);
    f.bytes_after = f.bytes_before + bytes_in - std::min(bytes_out, f.bytes_before + bytes_in);
    f.bytes_peak = f.bytes_before + scaled(bytes_in, options_.memory_headroom);
    out_.nodes.push_back(std::move(f));
  }

  // The fewest slices whose copies fit beside what the targets hold: while one slice is copied, the ones before it are
  // cleaned up at their sources, but stay with their targets.
  Status choose_slices() {
    std::string full;
    for (const uint32_t slices : kSliceCounts) {
      full.clear();
      for (NodeForecast& f : out_.nodes) {
        if (f.bytes_max == 0) continue;
        const uint64_t coming = f.bytes_peak - f.bytes_before;
        const uint64_t going = f.bytes_before > f.bytes_after ? f.bytes_before - f.bytes_after : 0;
        const uint64_t rest = coming > going ? coming - going : 0;
        const uint64_t peak = f.bytes_before + std::max(rest, coming / slices);
        if (peak > f.bytes_max)
          full = fmt::format("node {} has {} bytes of {} and would need {}", f.node, f.bytes_before, f.bytes_max, peak);
      }
      out_.slices = slices;
      if (full.empty()) break;
    }
    if (!full.empty()) {
      return fail(Code::kFailedPrecondition, full + "; raise its maxmemory, or add a larger node");
    }
    out_.slices_in_memory = out_.slices == 1 ? 1 : slices_that_fit();
    return {};
  }

  uint32_t slices_that_fit() const {
    uint64_t fit = out_.slices;
    for (const NodeForecast& f : out_.nodes) {
      const uint64_t one = (f.bytes_peak - f.bytes_before) / out_.slices;
      if (f.bytes_max != 0 && one != 0)
        fit = std::min(fit, (f.bytes_max - std::min(f.bytes_max, f.bytes_before)) / one);
    }
    return static_cast<uint32_t>(std::max<uint64_t>(fit, 1));
  }

  const Side& before_;
  const Side& after_;
  const ForecastOptions& options_;
  std::map<std::string, NodeLoad> loads_;
  Forecast out_;
};

// Options under which a ring is monotone: a node's tokens do not depend on the others.
bool is_monotone_ring(const SchemeSpec& scheme) {
  return scheme.name == "ring" && std::all_of(scheme.options.begin(), scheme.options.end(), [](const auto& option) {
           return option.first == "vnodes" || option.first == "seed";
         });
}

// Some systems count weight 0 as 1, or ignore weights.
bool weight_0_may_own(const SchemeSpec& scheme) {
  const SchemeDefinition* definition = find_scheme(scheme.name);
  return definition == nullptr || definition->info.zero_weight_may_own;
}

bool same_but_weight(const Node& a, const Node& b) {
  return a.label == b.label && a.attributes == b.attributes;
}

// Whether a node can lose keys to others, or get keys from others, by this change of a monotone ring.
struct Flow {
  bool loses = false;
  bool gains = false;
};
Flow flow_of(const Node* before, const Node* after) {
  if (before == nullptr) return {false, true};
  if (after == nullptr) return {true, false};
  if (!same_but_weight(*before, *after)) return {true, true};
  return {after->weight_milli<before->weight_milli, after->weight_milli> before->weight_milli};
}

}  // namespace

Result<Forecast> forecast(const Layout& before, const Layout& after, const std::vector<NodeLoad>& loads,
                          const ForecastOptions& options) {
  SLIPRING_ASSIGN(const Side old_side, Side::make(before));
  SLIPRING_ASSIGN(const Side new_side, Side::make(after));
  return Forecaster(old_side, new_side, loads, options).run();
}

Result<std::vector<MoveOwner>> moves_of(const Layout& before, const Layout& after, uint32_t slices) {
  const bool narrow = before.scheme == after.scheme && is_monotone_ring(before.scheme);
  std::vector<MoveOwner> moves;
  const bool drained_gives = weight_0_may_own(before.scheme);
  const bool drained_takes = weight_0_may_own(after.scheme);
  for (const Node& source : before.nodes) {
    if (source.weight_milli == 0 && !drained_gives) continue;
    const Flow from = flow_of(&source, find_node(after, source.name));
    for (const Node& target : after.nodes) {
      if ((target.weight_milli == 0 && !drained_takes) || source.instance == target.instance) continue;
      const Flow to = flow_of(find_node(before, target.name), &target);
      const bool same_name = source.name == target.name;  // another server under the same name
      if (narrow && !same_name && !from.loses && !to.gains) continue;
      if (moves.size() + slices > kMovesPerPlanMax) {
        return fail(Code::kResourceExhausted, fmt::format("the plan would have more than {} moves", kMovesPerPlanMax));
      }
      for (uint32_t slice = 0; slice < slices; ++slice)
        moves.push_back({source.instance, target.instance, slice, false});
    }
  }
  std::sort(moves.begin(), moves.end(), [](const MoveOwner& a, const MoveOwner& b) {
    return std::tie(a.source, a.target, a.slice) < std::tie(b.source, b.target, b.slice);
  });
  return moves;
}

}  // namespace slipring::rebalance
