#include "slipring/placement/cilium_maglev.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "slipring/hash/murmur.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/lookup_table.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

constexpr std::array<uint32_t, 10> kTableSizes = {251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521, 131071};

struct BackendTurn {
  NodeIndex backend;
  uint32_t weight;
  double counter;
  MaglevWalk walk;
};

std::vector<BackendTurn> turns_of(std::span<const CiliumBackend> backends, uint32_t table_size, uint32_t seed) {
  std::vector<BackendTurn> turns;
  for (NodeIndex i = 0; i < backends.size(); ++i) {
    if (backends[i].weight == 0) continue;
    const auto [h1, h2] = murmur3_x64_128(backends[i].hash_string, seed);
    turns.push_back({i, backends[i].weight, 0, {h1 % table_size, h2 % (table_size - 1) + 1}});
  }
  std::stable_sort(turns.begin(), turns.end(), [&](const BackendTurn& a, const BackendTurn& b) {
    return backends[a.backend].hash_string < backends[b.backend].hash_string;
  });
  for (BackendTurn& turn : turns) turn.counter = static_cast<double>(turn.weight) / static_cast<double>(turns.size());
  return turns;
}

class CiliumMaglev final : public LookupTableScheme {
 public:
  using LookupTableScheme::LookupTableScheme;

 private:
  uint64_t hash_of(std::string_view key) const override { return xxh64(key); }
};

// The value of a character of base64's alphabet, 64 for others.
uint32_t base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0') + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : 64;
}

Result<std::unique_ptr<const Scheme>> make_cilium_maglev(const SchemeInput& input) {
  const auto table_size = static_cast<uint32_t>(input.options.unsigned_integer("table_size"));
  if (std::find(kTableSizes.begin(), kTableSizes.end(), table_size) == kTableSizes.end()) {
    return fail(Code::kInvalidArgument,
                fmt::format("option table_size: {}: must be one of {}", table_size, fmt::join(kTableSizes, ", ")));
  }
  auto seed = cilium_murmur_seed(input.options.text("hash_seed"));
  if (!seed) return fail_in("option hash_seed", seed.error());
  SLIPRING_ASSIGN(const std::vector<uint32_t> weights, whole_weights(input.members));
  std::vector<CiliumBackend> backends;
  for (size_t i = 0; i < weights.size(); ++i) backends.push_back({std::string(input.label(i)), weights[i]});
  return std::make_unique<CiliumMaglev>(input.members, cilium_maglev_table(backends, table_size, *seed));
}

}  // namespace

std::vector<NodeIndex> cilium_maglev_table(std::span<const CiliumBackend> backends, uint32_t table_size,
                                           uint32_t murmur_seed) {
  std::vector<NodeIndex> table(table_size, kNoNode);
  std::vector<BackendTurn> turns = turns_of(backends, table_size, murmur_seed);
  uint64_t sum = 0;
  for (const BackendTurn& turn : turns) sum += turn.weight;
  const bool weighted = sum / turns.size() > 1;
  for (uint64_t n = 0; n < table_size; ++n) {
    size_t i = n % turns.size();
    if (weighted) {
      while ((n + 1) * turns[i].weight < static_cast<uint64_t>(turns[i].counter)) i = (i + 1) % turns.size();
      turns[i].counter += static_cast<double>(sum);
    }
    table[turns[i].walk.next_free(table)] = turns[i].backend;
  }
  return table;
}

Result<uint32_t> cilium_murmur_seed(std::string_view base64) {
  uint64_t bits = 0;
  bool valid = base64.size() == 16;
  for (size_t i = 0; i < base64.size(); ++i) {
    const uint32_t value = base64_value(base64[i]);
    valid &= value < 64;
    if (i < 6) bits = bits << 6 | value;
  }
  if (!valid) return fail(Code::kInvalidArgument, "must be 12 bytes in base64 (16 characters)");
  return static_cast<uint32_t>(bits >> 4);
}

const SchemeDefinition& cilium_maglev_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "cilium-maglev",
               .system = "Cilium pkg/maglev",
               .source = "Maglev (NSDI 2016); pkg/maglev of Cilium",
               .summary = "Maglev table with Cilium's weights, murmur3; keys by XXH64",
               .options = {{"table_size", ParameterType::kUnsigned, "16381", "251..131071",
                            "entries: 251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521 or 131071"},
                           {"hash_seed", ParameterType::kText, "JLfvgnHc2kaSUFaI", "", "12 bytes in base64"}},
               .weights = Weights::kUsed,
               .disruption = "the node's own share, and a few per cent of other keys",
               .cost = "O(1), 4 bytes an entry"},
      .make = make_cilium_maglev};
  return definition;
}

}  // namespace slipring
