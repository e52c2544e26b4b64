#include "slipring/placement/envoy_maglev.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "slipring/placement/envoy_key.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/lookup_table.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

struct HostTurn {
  NodeIndex host;
  double weight;  // normalised
  double target = 0;
  MaglevWalk walk;
};

std::vector<HostTurn> turns_of(std::span<const WeightedHost> hosts, size_t table_size) {
  double sum = 0;
  for (const WeightedHost& host : hosts) sum += host.weight;
  std::vector<HostTurn> turns;
  for (NodeIndex i = 0; i < hosts.size(); ++i) {
    if (hosts[i].weight == 0) continue;
    const MaglevWalk walk{xxh64(hosts[i].key, 0) % table_size, xxh64(hosts[i].key, 1) % (table_size - 1) + 1};
    turns.push_back({i, hosts[i].weight / sum, 0, walk});
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [&](const HostTurn& a, const HostTurn& b) { return hosts[a.host].key < hosts[b.host].key; });
  return turns;
}

class EnvoyMaglev final : public LookupTableScheme {
 public:
  EnvoyMaglev(std::span<const Member> members, std::vector<NodeIndex> table, EnvoyKey key)
      : LookupTableScheme(members, std::move(table)), key_(key) {}
  std::string_view tag(std::string_view key) const override { return key_.tag(key); }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const uint64_t hash = hash_of(key);
    const size_t want = std::min(out.size(), member_count());
    // Attempts may meet the same hosts again and again; members without an entry are never met.
    const uint64_t attempts_max = 8 * want;
    IndexSet listed;
    size_t filled = 0;
    for (uint64_t attempt = 0; filled < want && attempt <= attempts_max; ++attempt) {
      const NodeIndex host = table()[(attempt == 0 ? hash : hash ^ -attempt) % table().size()];
      if (listed.insert(host)) out[filled++] = host;
    }
    if (filled == want) return filled;
    std::vector<NodeIndex> in_order(member_count());
    in_order.resize(OrdinalScheme::preference_list(key, in_order));
    for (size_t i = 0; i < in_order.size() && filled < want; ++i) {
      if (listed.insert(in_order[i])) out[filled++] = in_order[i];
    }
    return filled;
  }

 private:
  uint64_t hash_of(std::string_view key) const override { return key_.hash(key); }
  EnvoyKey key_;
};

Result<std::unique_ptr<const Scheme>> make_envoy_maglev(const SchemeInput& input) {
  const uint64_t table_size = input.options.unsigned_integer("table_size");
  if (!is_prime(table_size)) {
    return fail(Code::kInvalidArgument, fmt::format("option table_size: {}: must be prime", table_size));
  }
  const std::vector<double> weights = decimal_weights(input.members);
  std::vector<WeightedHost> hosts;
  for (size_t i = 0; i < weights.size(); ++i) hosts.push_back({std::string(input.label(i)), weights[i]});
  return std::make_unique<EnvoyMaglev>(input.members, envoy_maglev_table(hosts, table_size),
                                       EnvoyKey::from(input.options));
}

}  // namespace

std::vector<NodeIndex> envoy_maglev_table(std::span<const WeightedHost> hosts, size_t table_size) {
  std::vector<NodeIndex> table(table_size, kNoNode);
  std::vector<HostTurn> turns = turns_of(hosts, table_size);
  double greatest = 0;
  for (const HostTurn& turn : turns) greatest = std::max(greatest, turn.weight);
  size_t filled = 0;
  for (uint32_t iteration = 1; filled < table_size; ++iteration) {
    for (HostTurn& turn : turns) {
      if (filled == table_size) break;
      if (iteration * turn.weight < turn.target) continue;
      turn.target += greatest;
      table[turn.walk.next_free(table)] = turn.host;
      ++filled;
    }
  }
  return table;
}

const SchemeDefinition& envoy_maglev_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "envoy-maglev",
               .system = "Envoy maglev",
               .source = "Maglev (NSDI 2016); maglev_lb.cc of Envoy",
               .summary = "Maglev table with Envoy's weights, XXH64",
               .options = {{"table_size", ParameterType::kUnsigned, "65537", "3..5000011", "entries, a prime number"},
                           kEnvoyKeyHash,
                           kEnvoyTag},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "the node's own share, and a few per cent of other keys",
               .cost = "O(1), 4 bytes an entry"},
      .make = make_envoy_maglev};
  return definition;
}

}  // namespace slipring
