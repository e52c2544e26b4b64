#include "slipring/placement/ex_hash_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "slipring/hash/load.h"
#include "slipring/hash/md5.h"
#include "slipring/placement/erlang_sort.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

// The library prepends point after point, so its list begins with the last point of the last node.
PointRing<uint64_t> make_ring(std::span<const ExHashRing::Node> nodes) {
  std::vector<RingPoint<uint64_t>> points;
  for (size_t i = nodes.size(); i-- > 0;) {
    for (uint32_t replica = nodes[i].replicas; replica-- > 0;) {
      points.push_back({ex_hash(fmt::format("{}{}", nodes[i].name, replica)), static_cast<NodeIndex>(i)});
    }
  }
  const auto less = [](const RingPoint<uint64_t>& a, const RingPoint<uint64_t>& b) { return a.point < b.point; };
  return PointRing<uint64_t>(erlang_sort(std::move(points), less), Ties::kKeepLast);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return fail(Code::kInvalidArgument, "'%' must be followed by two hex digits");
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

// Cuts the part before `mark` off `rest`; all of it if there is no mark.
std::string_view cut(std::string_view& rest, char mark) {
  const size_t at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

class ExHashRingScheme final : public Scheme {
 public:
  ExHashRingScheme(std::vector<std::string> labels, ExHashRing ring) : Scheme(labels.size()), ring_(std::move(ring)) {
    for (NodeIndex i = 0; i < labels.size(); ++i) by_label_.emplace(std::move(labels[i]), i);
  }

  NodeIndex owner(std::string_view key) const override {
    NodeIndex first = kNoNode;
    preference_list(key, {&first, 1});
    return first;
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const std::vector<std::string>* first = ring_.overridden(key);
    if (first == nullptr) return ring_.find_in_ring(key, out);
    IndexSet listed;
    size_t filled = 0;
    const auto append = [&](NodeIndex node) {
      if (filled < out.size() && listed.insert(node)) out[filled++] = node;
    };
    for (const std::string& name : *first) append(by_label_.at(name));
    std::vector<NodeIndex> rest(filled < out.size() ? out.size() : 0);
    rest.resize(ring_.find_in_ring(key, rest));
    for (const NodeIndex node : rest) append(node);
    return filled;
  }

  Explanation explain(std::string_view key) const override {
    const uint64_t hash = ex_hash(key);
    const PointRing<uint64_t>& ring = ring_.ring();
    const size_t at = ring.wrap(ring.after(hash));
    return {.point = fmt::format("{:016x}", hash),
            .range = fmt::format("[{:016x}, {:016x})", ring.point(ring.before(at)), ring.point(at))};
  }

 private:
  ExHashRing ring_;
  std::unordered_map<std::string, NodeIndex> by_label_;
};

Status check_overrides(const ExHashRing::Overrides& overrides, const std::vector<std::string>& labels) {
  std::vector<std::string_view> known(labels.begin(), labels.end());
  std::sort(known.begin(), known.end());
  for (const auto& [key, names] : overrides) {
    for (const std::string& name : names) {
      if (std::binary_search(known.begin(), known.end(), std::string_view(name))) continue;
      return fail(Code::kInvalidArgument, fmt::format("option overrides: no node is named \"{}\"", name.substr(0, 64)));
    }
  }
  return {};
}

Result<std::unique_ptr<const Scheme>> make_ex_hash_ring(const SchemeInput& input) {
  const auto common = static_cast<uint32_t>(input.options.unsigned_integer("replicas"));
  std::vector<std::string> labels;
  std::vector<ExHashRing::Node> nodes;
  uint64_t points = 0;
  for (size_t i = 0; i < input.members.size(); ++i) {
    const Parameters& attributes = input.attributes[i];
    const bool own = attributes.given("replicas");
    nodes.push_back(
        {std::string(input.label(i)), own ? static_cast<uint32_t>(attributes.unsigned_integer("replicas")) : common});
    labels.emplace_back(input.label(i));
    points += nodes.back().replicas;
  }
  if (points == 0) return fail(Code::kInvalidArgument, "all nodes have 0 replicas: nobody would own a key");
  SLIPRING_TRY(check_points(points));
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  SLIPRING_ASSIGN(ExHashRing::Overrides overrides, parse_ex_hash_overrides(input.options.text("overrides")));
  SLIPRING_TRY(check_overrides(overrides, labels));
  return std::make_unique<ExHashRingScheme>(std::move(labels), ExHashRing(std::move(nodes), std::move(overrides)));
}

}  // namespace

uint64_t ex_hash(std::string_view s) {
  return load_le64(md5(s).data() + 8);
}

ExHashRing::ExHashRing(std::vector<Node> nodes, Overrides overrides)
    : nodes_(std::move(nodes)), overrides_(std::move(overrides)), ring_(make_ring(nodes_)) {
  std::erase_if(overrides_, [](const auto& entry) { return entry.second.empty(); });
}

const std::vector<std::string>* ExHashRing::overridden(std::string_view key) const {
  const auto it = overrides_.find(key);
  return it == overrides_.end() ? nullptr : &it->second;
}

size_t ExHashRing::find_in_ring(std::string_view key, std::span<NodeIndex> out) const {
  return ring_.empty() ? 0 : ring_.distinct_from(ring_.wrap(ring_.after(ex_hash(key))), out);
}

std::vector<std::string> ExHashRing::find_nodes(std::string_view key, size_t count) const {
  std::vector<std::string> found;
  if (const std::vector<std::string>* first = overridden(key)) {
    found.assign(first->begin(), first->begin() + static_cast<std::ptrdiff_t>(std::min(count, first->size())));
  }
  const size_t overriding = found.size();
  std::vector<NodeIndex> in_ring(std::min(count, nodes_.size()));
  in_ring.resize(find_in_ring(key, in_ring));
  for (const NodeIndex node : in_ring) {
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(overriding);
    if (found.size() < count && std::find(found.begin(), end, nodes_[node].name) == end) {
      found.push_back(nodes_[node].name);
    }
  }
  return found;
}

Result<ExHashRing::Overrides> parse_ex_hash_overrides(std::string_view text) {
  ExHashRing::Overrides overrides;
  while (!text.empty()) {
    std::string_view item = cut(text, ';');
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return fail(Code::kInvalidArgument,
                  fmt::format("option overrides: \"{}\": must be key=node,node", item.substr(0, 64)));
    }
    SLIPRING_ASSIGN(std::string key, unescape(item.substr(0, equals)));
    std::string_view names = item.substr(equals + 1);
    std::vector<std::string> list;
    while (!names.empty()) {
      SLIPRING_ASSIGN(std::string name, unescape(cut(names, ',')));
      list.push_back(std::move(name));
    }
    if (!overrides.emplace(std::move(key), std::move(list)).second) {
      return fail(Code::kInvalidArgument, fmt::format("option overrides: \"{}\": key named twice", item.substr(0, 64)));
    }
  }
  return overrides;
}

const SchemeDefinition& ex_hash_ring_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "ex-hash-ring",
               .system = "discord/ex_hash_ring 7.0.0",
               .source = "lib/ex_hash_ring of discord/ex_hash_ring",
               .summary = "ring of MD5 points, strictly greater successor, lists of overrides",
               .options = {{"replicas", ParameterType::kUnsigned, "512", "0..65536", "points a node"},
                           {"overrides", ParameterType::kText, "", "",
                            "nodes that come first for a key: \"key=node,node;key=node\", %XX for other bytes"}},
               .attributes = {{"replicas", ParameterType::kUnsigned, "", "0..65536", "points of this node"}},
               .preference_lists = true,
               .disruption = "the node's own share, and points shared by clashing names",
               .cost = "O(1) search, 10 bytes a point"},
      .make = make_ex_hash_ring};
  return definition;
}

}  // namespace slipring
