#include "slipring/control/change.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"
#include "slipring/placement/slots.h"

namespace slipring::control {
namespace {

Status check_weight(const std::string& node, int64_t milli) {
  if (milli >= 0 && milli <= kWeightMilliMax) return {};
  return fail(Code::kInvalidArgument, fmt::format("node {}: weight {}: must be 0 to 1000", node, format_milli(milli)));
}

Result<std::vector<Node>::iterator> find_node(Layout& layout, const std::string& name) {
  const auto it = std::find_if(layout.nodes.begin(), layout.nodes.end(), [&](const Node& n) { return n.name == name; });
  if (it != layout.nodes.end()) return it;
  std::string names;
  for (const Node& n : layout.nodes) names += (names.empty() ? "" : ", ") + n.name;
  return fail(Code::kNotFound, fmt::format("no node {}; there are {}", name, names));
}

Result<Layout> apply(Layout layout, const NodeAdd& add, uint64_t generation) {
  SLIPRING_TRY(check_node_name(add.name));
  SLIPRING_TRY(check_weight(add.name, add.weight_milli));
  SLIPRING_ASSIGN(const HostPort address, parse_host_port(add.address));
  const std::string canonical = format_host_port(address);
  for (const Node& n : layout.nodes) {
    if (n.name == add.name) {
      return fail(Code::kAlreadyExists,
                  fmt::format("node {} is in the pool already, at {}", n.name, n.instance.address));
    }
    if (n.instance.address == canonical) {
      return fail(Code::kAlreadyExists, fmt::format("{} is node {} already", canonical, n.name));
    }
  }
  Node node;
  node.name = add.name;
  node.zone = add.zone;
  node.weight_milli = add.weight_milli;
  node.instance = {canonical, generation};
  layout.nodes.push_back(std::move(node));
  return layout;
}

Result<Layout> apply(Layout layout, const NodeRemove& remove, uint64_t) {
  SLIPRING_ASSIGN(const auto node, find_node(layout, remove.name));
  if (layout.nodes.size() == 1) {
    return fail(Code::kFailedPrecondition,
                fmt::format("node {} is the pool's only node; add another one first", remove.name));
  }
  layout.nodes.erase(node);
  return layout;
}

Result<Layout> apply(Layout layout, const NodeWeight& weight, uint64_t) {
  SLIPRING_TRY(check_weight(weight.name, weight.weight_milli));
  SLIPRING_ASSIGN(const auto node, find_node(layout, weight.name));
  if (node->weight_milli == weight.weight_milli) {
    return fail(Code::kFailedPrecondition,
                fmt::format("node {} has weight {} already", weight.name, format_milli(weight.weight_milli)));
  }
  node->weight_milli = weight.weight_milli;
  return layout;
}

}  // namespace

Result<Layout> apply_change(const Layout& layout, const Change& change, uint64_t generation) {
  SLIPRING_ASSIGN(Layout next, std::visit([&](const auto& c) { return apply(layout, c, generation); }, change));
  const bool owns = std::any_of(next.nodes.begin(), next.nodes.end(), [](const Node& n) { return n.weight_milli > 0; });
  if (!owns) {
    return fail(Code::kFailedPrecondition, "no node with a weight above 0 would be left to own the keys");
  }
  SLIPRING_ASSIGN(next.scheme, spec_after_change(layout.scheme, members_of(layout), members_of(next)));
  return next;
}

}  // namespace slipring::control
