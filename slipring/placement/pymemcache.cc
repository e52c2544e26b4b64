#include "slipring/placement/pymemcache.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/hash/murmur.h"
#include "slipring/hash/utf.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

class PymemcacheRendezvous final : public Scheme {
 public:
  PymemcacheRendezvous(const SchemeInput& input, const ServerList& servers)
      : Scheme(input.members.size()),
        seed_(static_cast<uint32_t>(input.options.unsigned_integer("seed"))),
        bytes_keys_(input.options.text("key_type") == "bytes") {
    for (const Server& server : servers)
      nodes_.push_back({server.member, std::string(server.label), low_bytes(server.label) + "-"});
  }

  NodeIndex owner(std::string_view key) const override {
    NodeIndex first = kNoNode;
    preference_list(key, {&first, 1});
    return first;
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    std::vector<std::pair<uint32_t, const Node*>> scored = scores(key);
    const size_t count = std::min(out.size(), scored.size());
    std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(count), scored.end(),
                      [](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first : a.second->label > b.second->label;
                      });
    for (size_t i = 0; i < count; ++i) out[i] = scored[i].second->member;
    return count;
  }

  Explanation explain(std::string_view key) const override {
    uint32_t best = 0;
    for (const auto& [score, node] : scores(key)) best = std::max(best, score);
    return {.point = fmt::format("{:08x}", best), .range = ""};
  }

 private:
  struct Node {
    NodeIndex member;
    std::string label;
    std::string hashed;  // what stands before the key
  };

  std::vector<std::pair<uint32_t, const Node*>> scores(std::string_view key) const {
    const std::string text = bytes_keys_ ? python_bytes_repr(key) : low_bytes(key);
    std::vector<std::pair<uint32_t, const Node*>> scored;
    scored.reserve(nodes_.size());
    std::string hashed;
    for (const Node& node : nodes_) {
      hashed.assign(node.hashed).append(text);
      scored.emplace_back(murmur3_32(hashed, seed_), &node);
    }
    return scored;
  }

  uint32_t seed_;
  bool bytes_keys_;
  std::vector<Node> nodes_;
};

Result<std::unique_ptr<const Scheme>> make_pymemcache(const SchemeInput& input) {
  const ServerList servers = listed_servers(input);
  SLIPRING_TRY(check_distinct_labels(servers));
  return std::make_unique<PymemcacheRendezvous>(input, servers);
}

}  // namespace

const SchemeDefinition& pymemcache_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "pymemcache",
               .system = "pymemcache 3.5.2 (Python)",
               .source = "pymemcache 3.5.2: client/rendezvous.py, client/murmur3.py",
               .summary = "rendezvous hashing over characters cut to 8 bits",
               .options = {{"key_type", ParameterType::kChoice, "str", "str|bytes", "Python type of the keys"},
                           {"seed", ParameterType::kUnsigned, "0", "0..4294967295", "seed of MurmurHash3"}},
               .weights = Weights::kIgnored,
               .preference_lists = true,
               .disruption = "only the keys of the node that comes or goes",
               .cost = "one hash a node, no memory"},
      .make = make_pymemcache};
  return definition;
}

}  // namespace slipring
