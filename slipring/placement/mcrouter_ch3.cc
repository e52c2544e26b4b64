#include "slipring/placement/mcrouter_ch3.h"

#include <fmt/format.h>

#include "slipring/placement/furc.h"
#include "slipring/placement/mcrouter_key.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

constexpr std::string_view kSystem = "mcrouter (facebook/mcrouter 9d7f4342)";
constexpr std::string_view kCh3Disruption = "none when the last node is added or removed; nearly all keys otherwise";

static_assert(kMembersMax <= kFurcMax);

// The base of all three: a function of the key and the ordinals.
class OrdinalHash : public OrdinalScheme {
 public:
  explicit OrdinalHash(const SchemeInput& input) : OrdinalScheme(input.members), key_(input) {}

  std::string_view tag(std::string_view key) const final { return key_.tag(key); }

  Explanation explain(std::string_view key) const final {
    return {.point = fmt::format("node {} of {}", owner(key), member_count()), .range = ""};
  }

 private:
  McrouterKey key_;
};

class Ch3 final : public OrdinalHash {
 public:
  using OrdinalHash::OrdinalHash;

  NodeIndex owner(std::string_view key) const override {
    return furc_hash(tag(key), static_cast<uint32_t>(member_count()));
  }
};

using WeightedHash = uint32_t (*)(std::string_view, std::span<const double>);

class WeightedOrdinalHash final : public OrdinalHash {
 public:
  WeightedOrdinalHash(const SchemeInput& input, WeightedHash hash)
      : OrdinalHash(input), weights_(decimal_weights(input.members)), hash_(hash) {}

  NodeIndex owner(std::string_view key) const override { return hash_(tag(key), weights_); }

 private:
  std::vector<double> weights_;
  WeightedHash hash_;
};

Result<std::unique_ptr<const Scheme>> make_ch3(const SchemeInput& input) {
  return std::make_unique<Ch3>(input);
}

template <WeightedHash hash>
Result<std::unique_ptr<const Scheme>> make_weighted(const SchemeInput& input) {
  for (const Member& member : input.members) {
    if (member.weight_milli > 1000) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: weight must be 0 to 1", member.name));
    }
  }
  return std::make_unique<WeightedOrdinalHash>(input, hash);
}

}  // namespace

const SchemeDefinition& mcrouter_ch3_scheme() {
  static const SchemeDefinition definition = {.info = {.name = "mcrouter-ch3",
                                                       .system = kSystem,
                                                       .source = "lib/fbi/hash.c of mcrouter",
                                                       .summary = "furc hash of the key over the ordinals",
                                                       .options = {kMcrouterHashStop},
                                                       .disruption = kCh3Disruption,
                                                       .cost = "O(log n), no memory"},
                                              .make = make_ch3};
  return definition;
}

const SchemeDefinition& mcrouter_weighted_ch3_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "mcrouter-weighted-ch3",
               .system = kSystem,
               .source = "WeightedCh3HashFunc of mcrouter",
               .summary = "ch3 with salted keys, accepted by SpookyHash at weights 0 to 1",
               .options = {kMcrouterHashStop},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .disruption = kCh3Disruption,
               .cost = "O(log n) a try, 8 bytes a node"},
      .make = make_weighted<weighted_ch3_hash>};
  return definition;
}

const SchemeDefinition& mcrouter_weighted_furc_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "mcrouter-weighted-furc",
               .system = kSystem,
               .source = "WeightedFurcHash (WeightedCh4) of mcrouter",
               .summary = "furc hash that accepts by the next bits of its stream at weights 0 to 1",
               .options = {kMcrouterHashStop},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .disruption = kCh3Disruption,
               .cost = "O(log n) a try, 8 bytes a node"},
      .make = make_weighted<weighted_furc_hash>};
  return definition;
}

}  // namespace slipring
