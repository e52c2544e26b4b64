#include "slipring/import/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "slipring/placement/registry.h"

namespace slipring::import {
namespace {

// A layout whose nodes may stand in another order: origin[i] is where node i of it stands in the imported one.
struct Variant {
  Layout layout;
  std::vector<NodeIndex> origin;
  std::string cause;
};

// One thing that may be otherwise; each alternative is a whole variant of a variant.
using Alternatives = std::vector<Variant>;
using Axis = Alternatives (*)(const Variant& variant);

Variant changed(const Variant& variant, std::string cause) {
  Variant other = variant;
  other.cause = variant.cause.empty() ? std::move(cause) : fmt::format("{}, and {}", variant.cause, cause);
  return other;
}

void add_values(const Variant& variant, const ParameterInfo& option, Alternatives& out) {
  const auto& options = variant.layout.scheme.options;
  const auto it = options.find(std::string(option.name));
  const std::string_view current = it == options.end() ? option.default_value : std::string_view(it->second);
  std::string_view rest = option.type == ParameterType::kFlag ? std::string_view("true|false") : option.allowed;
  if (option.name == "hash_tag") rest = "{}|";
  for (bool more = true; more;) {
    const size_t bar = rest.find('|');
    const std::string value(rest.substr(0, bar));
    more = bar != rest.npos;
    if (more) rest = rest.substr(bar + 1);
    if (value == current) continue;
    Variant other = changed(variant, value.empty() ? fmt::format("there is no {}", option.name)
                                                   : fmt::format("{} is {}", option.name, value));
    other.layout.scheme.options[std::string(option.name)] = value;
    if (value.empty()) other.layout.scheme.options.erase(std::string(option.name));
    out.push_back(std::move(other));
  }
}

template <bool tag>
Alternatives options_axis(const Variant& variant) {
  Alternatives out;
  const SchemeDefinition* definition = find_scheme(variant.layout.scheme.name);
  if (definition == nullptr) return out;
  for (const ParameterInfo& option : definition->info.options) {
    const bool enumerable = option.type == ParameterType::kChoice || option.type == ParameterType::kFlag;
    const bool is_tag = option.name == "hash_tag" || option.name == "tag";
    if (is_tag == tag && (enumerable || option.name == "hash_tag")) add_values(variant, option, out);
  }
  return out;
}

Alternatives weights_axis(const Variant& variant) {
  Variant other = changed(variant, "weights are ignored");
  for (Node& node : other.layout.nodes) node.weight_milli = 1000;
  return other.layout == variant.layout ? Alternatives{} : Alternatives{other};
}

// What identifies a server: its name, or its address.
Alternatives identity_axis(const Variant& variant) {
  Variant by_address = changed(variant, "servers are known by their addresses");
  for (Node& node : by_address.layout.nodes) {
    node.label = node.instance.address;
    if (variant.layout.scheme.name == "twemproxy") node.attributes["address"] = node.instance.address;
  }
  Variant by_name = changed(variant, "servers are known by their names");
  for (Node& node : by_name.layout.nodes) {
    node.label = node.name;
    node.attributes.erase("address");
  }
  Alternatives out;
  for (Variant* other : {&by_address, &by_name}) {
    if (!(other->layout == variant.layout)) out.push_back(std::move(*other));
  }
  return out;
}

Variant reordered(const Variant& variant, const std::vector<size_t>& order, const char* cause) {
  Variant other = changed(variant, cause);
  for (size_t i = 0; i < order.size(); ++i) {
    other.layout.nodes[i] = variant.layout.nodes[order[i]];
    other.origin[i] = variant.origin[order[i]];
  }
  return other;
}

Alternatives order_axis(const Variant& variant) {
  std::vector<size_t> order(variant.layout.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::reverse(order.begin(), order.end());
  Alternatives out = {reordered(variant, order, "servers stand in the reverse order")};
  std::iota(order.begin(), order.end(), size_t{0});
  const auto& nodes = variant.layout.nodes;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return nodes[a].instance.address < nodes[b].instance.address; });
  out.push_back(reordered(variant, order, "servers are sorted by address"));
  return out;
}

constexpr Axis kAxes[] = {options_axis<true>, options_axis<false>, weights_axis, identity_axis, order_axis};

double share_of(const Variant& variant, std::span<const Sighting> sightings) {
  const auto scheme = make_scheme(variant.layout);
  if (!scheme || sightings.empty()) return 0;
  size_t right = 0;
  for (const Sighting& seen : sightings) {
    const NodeIndex owner = (*scheme)->owner(seen.key);
    if (owner != kNoNode && variant.origin[owner] == seen.node) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(sightings.size());
}

class Search {
 public:
  Search(const Variant& start, std::span<const Sighting> sightings) : sightings_(sightings) {
    best_.share = share_of(start, sightings);
    level_ = {{start, 0}};
  }

  // All variants with one change more; each set of axes is met once, in the axes' order.
  void deepen() {
    std::vector<Reached> next;
    for (const Reached& reached : level_) {
      for (size_t axis = reached.axis; axis < std::size(kAxes); ++axis) {
        for (Variant& variant : kAxes[axis](reached.variant)) {
          if (++tried_ > kVariantsMax) return;
          judge(variant);
          // Two options of a scheme may both be otherwise, an order or an identity only once.
          next.push_back({std::move(variant), axis <= 1 ? axis : axis + 1});
        }
      }
    }
    level_ = std::move(next);
  }

  const Diagnosis& best() const { return best_; }

 private:
  struct Reached {
    Variant variant;
    size_t axis = 0;
  };

  void judge(const Variant& variant) {
    const double share = share_of(variant, sightings_);
    if (share <= best_.share) return;
    best_ = {share, variant.cause};
  }

  std::span<const Sighting> sightings_;
  std::vector<Reached> level_;
  Diagnosis best_;
  size_t tried_ = 0;
};

// Evenly out of all, so that no server is left out.
std::vector<Sighting> thinned(std::span<const Sighting> sightings) {
  const size_t step = std::max<size_t>(1, (sightings.size() + kSightingsUsedMax - 1) / kSightingsUsedMax);
  std::vector<Sighting> out;
  for (size_t i = 0; i < sightings.size(); i += step) out.push_back(sightings[i]);
  return out;
}

}  // namespace

Diagnosis diagnose(const Layout& layout, std::span<const Sighting> sightings) {
  constexpr double kExplained = 0.99;
  constexpr int kChangesMax = 3;
  Variant start{layout, {}, ""};
  start.origin.resize(layout.nodes.size());
  std::iota(start.origin.begin(), start.origin.end(), NodeIndex{0});
  const std::vector<Sighting> used = thinned(sightings);
  Search search(start, used);
  for (int changes = 0; changes < kChangesMax && search.best().share < kExplained; ++changes) search.deepen();
  return search.best();
}

}  // namespace slipring::import
