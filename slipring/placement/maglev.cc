#include "slipring/placement/maglev.h"

#include <algorithm>

#include "slipring/hash/murmur.h"
#include "slipring/placement/key_hash.h"
#include "slipring/placement/ring_tokens.h"

namespace slipring {
namespace {

bool is_prime(uint64_t n) {
  if (n < 2) return false;
  for (uint64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

// One node's walk through the slots, and how much of a turn it has saved up.
struct MemberTurn {
  NodeIndex member;
  uint64_t at;
  uint64_t skip;
  int64_t weight;
  int64_t credit = 0;

  uint64_t take_free(const std::vector<NodeIndex>& table) {
    while (table[at] != kNoNode) at = (at + skip) % table.size();
    return at;
  }
};

std::vector<NodeIndex> fill_table(std::vector<MemberTurn> turns, uint64_t size) {
  int64_t heaviest = 0;
  for (const MemberTurn& t : turns) heaviest = std::max(heaviest, t.weight);
  std::vector<NodeIndex> table(size, kNoNode);
  uint64_t filled = 0;
  while (true) {
    for (MemberTurn& t : turns) {
      t.credit += t.weight;
      if (t.credit < heaviest) continue;
      t.credit -= heaviest;
      table[t.take_free(table)] = t.member;
      if (++filled == size) return table;
    }
  }
}

class Maglev final : public OrdinalScheme {
 public:
  Maglev(const SchemeInput& input, uint64_t size) : OrdinalScheme(input.members), hash_(input.options) {
    std::vector<MemberTurn> turns;
    for (const NodeIndex m : members_by_label(input)) {
      if (input.members[m].weight_milli == 0) continue;
      const uint64_t hash = hash_.of_label(input.label(m));
      turns.push_back({.member = m,
                       .at = hash % size,
                       .skip = murmur3_mix64(hash) % (size - 1) + 1,
                       .weight = input.members[m].weight_milli});
    }
    table_ = fill_table(std::move(turns), size);
  }

  NodeIndex owner(std::string_view key) const override { return table_[hash_(key) % table_.size()]; }
  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    const uint64_t hash = hash_(key);
    return {.point = fmt::format("{:016x}", hash),
            .range = fmt::format("slot {} of {}", hash % table_.size(), table_.size())};
  }

  std::optional<OwnershipMap> ownership() const override {
    OwnershipMap map{
        .space = fmt::format("{} modulo {}", hash_.describe(), table_.size()), .last = table_.size() - 1, .ranges = {}};
    for (uint64_t slot = 0; slot < table_.size(); ++slot) map.ranges.push_back({slot, table_[slot]});
    return map;
  }

 private:
  KeyHash hash_;
  std::vector<NodeIndex> table_;
};

Result<std::unique_ptr<const Scheme>> make_maglev(const SchemeInput& input) {
  const uint64_t size = input.options.unsigned_integer("table");
  if (!is_prime(size))
    return fail(Code::kInvalidArgument, fmt::format("option table: {}: must be a prime number", size));
  if (size <= input.members.size()) {
    return fail(Code::kInvalidArgument,
                fmt::format("option table: {}: must be above the number of nodes, {}", size, input.members.size()));
  }
  return std::make_unique<Maglev>(input, size);
}

}  // namespace

const SchemeDefinition& maglev_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "maglev",
               .system = "slipring",
               .source = "Eisenbud et al., Maglev: A Fast and Reliable Software Network Load Balancer, NSDI 2016",
               .summary = "a prime table that nodes fill in turns: even shares, one read a look-up",
               .options = KeyHash::options({{"table", ParameterType::kUnsigned, "65537", "3..16777213",
                                             "slots; a prime, above 100 times the nodes"}}),
               .weights = Weights::kUsed,
               .disruption = "the share of the node, and a few per cent of other keys",
               .cost = "O(1); 4 bytes a slot"},
      .make = make_maglev};
  return definition;
}

}  // namespace slipring
