#include "slipring/cli/config_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"

namespace slipring::cli {
namespace {

constexpr const char* kAbsent = "absent";
constexpr const char* kPresent = "present";

class Comparison {
 public:
  void field(const std::string& subject, const std::string& name, const std::string& file, const std::string& running,
             const std::string& command = "") {
    if (file != running) found_.push_back({subject, name, file, running, command});
  }
  std::vector<Difference> take() { return std::move(found_); }

 private:
  std::vector<Difference> found_;
};

const control::NodeStatus* find_node(const control::PoolStatus& pool, const std::string& name) {
  const auto it = std::find_if(pool.nodes.begin(), pool.nodes.end(), [&](const auto& n) { return n.name == name; });
  return it == pool.nodes.end() ? nullptr : &*it;
}

const control::PoolStatus* find_pool(const control::ClusterStatus& status, const std::string& name) {
  const auto it = std::find_if(status.pools.begin(), status.pools.end(), [&](const auto& p) { return p.name == name; });
  return it == status.pools.end() ? nullptr : &*it;
}

std::string add_command_line(const std::string& pool, const Node& node) {
  std::string line = fmt::format("slipring node add {} {} --pool {}", node.name, node.instance.address, pool);
  if (node.weight_milli != 1000) line += " --weight " + format_milli(node.weight_milli);
  if (!node.zone.empty()) line += " --zone " + node.zone;
  return line;
}

void compare_node(const std::string& pool, const Node& file, const control::PoolStatus& running, Comparison& out) {
  const std::string subject = fmt::format("pool {} node {}", pool, file.name);
  const control::NodeStatus* node = find_node(running, file.name);
  if (node == nullptr) return out.field(subject, "node", kPresent, kAbsent, add_command_line(pool, file));
  const std::string weight = format_milli(file.weight_milli);
  out.field(subject, "address", file.instance.address, node->address);
  out.field(subject, "weight", weight, format_milli(node->weight_milli),
            fmt::format("slipring node weight {} {} --pool {}", file.name, weight, pool));
  out.field(subject, "zone", file.zone, node->zone);
}

void compare_pool(const Pool& file, const control::PoolStatus& running, Comparison& out) {
  const std::string subject = "pool " + file.name;
  out.field(subject, "kind", file.kind == PoolKind::kStore ? "store" : "cache", running.kind);
  out.field(subject, "fence", std::string(fence_name(file.fence)), running.fence);
  out.field(subject, "scheme", control::describe(file.layout.scheme), running.scheme);
  out.field(subject, "key_prefix", file.key_prefix, running.key_prefix);
  for (const Node& node : file.layout.nodes) compare_node(file.name, node, running, out);
  for (const control::NodeStatus& node : running.nodes) {
    const auto& nodes = file.layout.nodes;
    if (std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == node.name; })) continue;
    out.field(fmt::format("pool {} node {}", file.name, node.name), "node", kAbsent, kPresent,
              fmt::format("slipring node remove {} --pool {}", node.name, file.name));
  }
}

}  // namespace

std::vector<Difference> compare_config(const std::vector<Pool>& file, const control::ClusterStatus& running) {
  Comparison out;
  for (const Pool& pool : file) {
    const control::PoolStatus* found = find_pool(running, pool.name);
    if (found == nullptr) {
      out.field("pool " + pool.name, "pool", kPresent, kAbsent);
    } else {
      compare_pool(pool, *found, out);
    }
  }
  for (const control::PoolStatus& pool : running.pools) {
    if (std::any_of(file.begin(), file.end(), [&](const Pool& p) { return p.name == pool.name; })) continue;
    out.field("pool " + pool.name, "pool", kAbsent, kPresent);
  }
  return out.take();
}

}  // namespace slipring::cli
