#include "slipring/placement/katran.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "slipring/hash/load.h"
#include "slipring/hash/murmur.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/lookup_table.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

// The first word of MurmurHash3-x64-128 over two words.
uint64_t hash_words(uint64_t a, uint64_t b, uint32_t seed) {
  char bytes[16];
  store_le64(bytes, a);
  store_le64(bytes + 8, b);
  return murmur3_x64_128({bytes, sizeof bytes}, seed)[0];
}

struct RealTurn {
  NodeIndex real;
  uint32_t weight;
  uint32_t offset;
  uint32_t skip;
  uint32_t next = 0;
  uint64_t accumulated = 0;

  // Takes the first entry of the walk that is free. The product wraps in 32 bits, as Katran's does.
  void take(std::vector<NodeIndex>& table) {
    for (;;) {
      const uint32_t entry = (offset + next++ * skip) % static_cast<uint32_t>(table.size());
      if (table[entry] != kNoNode) continue;
      table[entry] = real;
      return;
    }
  }
};

std::vector<RealTurn> turns_of(std::span<const KatranReal> reals, uint32_t table_size) {
  std::vector<RealTurn> turns;
  for (const KatranReal& real : reals) {
    const uint64_t offset = hash_words(real.hash, 42, 0) % table_size;
    const uint64_t skip = hash_words(real.hash, 2718281828, 2307) % (table_size - 1) + 1;
    turns.push_back({real.real, real.weight, static_cast<uint32_t>(offset), static_cast<uint32_t>(skip)});
  }
  return turns;
}

void fill_version_1(std::vector<RealTurn>& turns, std::vector<NodeIndex>& table) {
  for (size_t filled = 0;;) {
    for (RealTurn& turn : turns) {
      for (uint32_t i = 0; i < turn.weight; ++i) {
        turn.take(table);
        if (++filled == table.size()) return;
      }
      turn.weight = 1;
    }
  }
}

void fill_version_2(std::vector<RealTurn>& turns, std::vector<NodeIndex>& table) {
  const auto heaviest =
      std::max_element(turns.begin(), turns.end(), [](const RealTurn& a, const RealTurn& b) { return a.weight < b.weight; });
  const uint32_t greatest = heaviest->weight;
  if (greatest == 0) return;
  for (size_t filled = 0;;) {
    for (RealTurn& turn : turns) {
      turn.accumulated += turn.weight;
      if (turn.accumulated < greatest) continue;
      turn.accumulated -= greatest;
      turn.take(table);
      if (++filled == table.size()) return;
    }
  }
}

class Katran final : public LookupTableScheme {
 public:
  using LookupTableScheme::LookupTableScheme;

 private:
  uint64_t hash_of(std::string_view key) const override { return xxh64(key); }
};

Result<std::vector<KatranReal>> reals_of(const SchemeInput& input) {
  SLIPRING_ASSIGN(const std::vector<uint32_t> weights, whole_weights(input.members));
  std::vector<KatranReal> reals;
  for (NodeIndex i = 0; i < weights.size(); ++i) {
    if (!input.attributes[i].given("hash")) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: needs the attribute hash", input.members[i].name));
    }
    reals.push_back({i, input.attributes[i].unsigned_integer("hash"), weights[i]});
  }
  if (input.options.text("order") == "given") return reals;
  std::erase_if(reals, [](const KatranReal& real) { return real.weight == 0; });
  std::stable_sort(reals.begin(), reals.end(),
                   [](const KatranReal& a, const KatranReal& b) { return a.hash < b.hash; });
  return reals;
}

Result<std::unique_ptr<const Scheme>> make_katran(const SchemeInput& input) {
  const auto table_size = static_cast<uint32_t>(input.options.unsigned_integer("table_size"));
  if (!is_prime(table_size)) {
    return fail(Code::kInvalidArgument, fmt::format("option table_size: {}: must be prime", table_size));
  }
  SLIPRING_ASSIGN(const std::vector<KatranReal> reals, reals_of(input));
  const bool v2 = input.options.text("algorithm") == "maglev-v2";
  return std::make_unique<Katran>(
      input.members, katran_table(reals, table_size, v2 ? KatranVersion::kMaglevV2 : KatranVersion::kMaglev));
}

}  // namespace

std::vector<NodeIndex> katran_table(std::span<const KatranReal> reals, uint32_t table_size, KatranVersion version) {
  if (reals.size() == 1) return std::vector<NodeIndex>(table_size, reals.front().real);
  std::vector<NodeIndex> table(table_size, kNoNode);
  if (reals.empty()) return table;
  std::vector<RealTurn> turns = turns_of(reals, table_size);
  version == KatranVersion::kMaglev ? fill_version_1(turns, table) : fill_version_2(turns, table);
  return table;
}

const SchemeDefinition& katran_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "katran",
               .system = "Katran (facebookincubator/katran 19f08fec)",
               .source = "Maglev (NSDI 2016); MaglevHash and MaglevHashV2 of Katran",
               .summary = "Maglev tables of Katran for given hashes of the reals; keys by XXH64",
               .options = {{"algorithm", ParameterType::kChoice, "maglev", "maglev|maglev-v2", "version of the table"},
                           {"order", ParameterType::kChoice, "hash", "hash|given", "order of the reals' turns"},
                           {"table_size", ParameterType::kUnsigned, "65537", "3..65537", "entries, a prime number"}},
               .attributes = {{"hash", ParameterType::kUnsigned, "", "", "the real's 64-bit hash (required)"}},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .disruption = "the node's own share, and a few per cent of other keys",
               .cost = "O(1), 4 bytes an entry"},
      .make = make_katran};
  return definition;
}

}  // namespace slipring
