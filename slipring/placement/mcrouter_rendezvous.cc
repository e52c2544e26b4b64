#include "slipring/placement/mcrouter_rendezvous.h"

#include <fmt/format.h>

#include <cmath>

#include "slipring/hash/city.h"
#include "slipring/hash/murmur.h"
#include "slipring/placement/mcrouter_key.h"
#include "slipring/placement/rendezvous_order.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

constexpr uint64_t kEndpointSeed = 4193360111;
constexpr uint64_t kKeySeed = 2718281828;
constexpr uint64_t kFractionMask = (uint64_t{1} << 53) - 1;

// Unweighted if `weights` is empty.
class McrouterRendezvous final : public Scheme {
 public:
  McrouterRendezvous(const SchemeInput& input, std::vector<double> weights)
      : Scheme(input.members.size()), key_(input), weights_(std::move(weights)) {
    for (NodeIndex i = 0; i < input.members.size(); ++i) {
      endpoints_.push_back(murmur2_64a(input.label(i), kEndpointSeed));
      if (weights_.empty() || weights_[i] > 0) owning_.push_back(i);
    }
  }

  std::string_view tag(std::string_view key) const override { return key_.tag(key); }

  NodeIndex owner(std::string_view key) const override {
    const uint64_t key_hash = murmur2_64a(tag(key), kKeySeed);
    NodeIndex best = kNoNode;
    double best_score = 0;
    for (const NodeIndex i : owning_) {
      const double score = score_of(i, key_hash);
      if (best != kNoNode && score < best_score) continue;
      best = i;
      best_score = score;
    }
    return best;
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const uint64_t key_hash = murmur2_64a(tag(key), kKeySeed);
    std::vector<double> scores(endpoints_.size());
    for (const NodeIndex i : owning_) scores[i] = score_of(i, key_hash);
    return best_first(owning_, out,
                      [&](NodeIndex a, NodeIndex b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a > b; });
  }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", murmur2_64a(tag(key), kKeySeed)), .range = ""};
  }

 private:
  double score_of(NodeIndex i, uint64_t key_hash) const {
    const uint64_t score = city_128_to_64(key_hash, endpoints_[i]);
    if (weights_.empty()) return static_cast<double>(score);
    constexpr double kOne = static_cast<double>(kFractionMask + 1);
    return weights_[i] * (1.0 / -std::log(static_cast<double>(score & kFractionMask) / kOne));
  }

  McrouterKey key_;
  std::vector<double> weights_;
  std::vector<uint64_t> endpoints_;
  std::vector<NodeIndex> owning_;
};

Result<std::unique_ptr<const Scheme>> make_mcrouter_rendezvous(const SchemeInput& input) {
  return std::make_unique<McrouterRendezvous>(input, std::vector<double>());
}

Result<std::unique_ptr<const Scheme>> make_weighted(const SchemeInput& input) {
  return std::make_unique<McrouterRendezvous>(input, decimal_weights(input.members));
}

}  // namespace

const SchemeDefinition& mcrouter_rendezvous_scheme() {
  static const SchemeDefinition definition = {.info = {.name = "mcrouter-rendezvous",
                                                       .system = "mcrouter (facebook/mcrouter 9d7f4342)",
                                                       .source = "RendezvousHashFunc of mcrouter",
                                                       .summary = "highest score of endpoint and key, MurmurHash64A",
                                                       .options = {kMcrouterHashStop},
                                                       .preference_lists = true,
                                                       .disruption = "the node's own share only",
                                                       .cost = "O(n), 8 bytes a node"},
                                              .make = make_mcrouter_rendezvous};
  return definition;
}

const SchemeDefinition& mcrouter_weighted_rendezvous_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "mcrouter-weighted-rendezvous",
               .system = "mcrouter (facebook/mcrouter 9d7f4342)",
               .source = "WeightedRendezvousHashFunc of mcrouter",
               .summary = "highest w / -ln(score) of endpoint and key, MurmurHash64A",
               .options = {kMcrouterHashStop},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "the share that the node's weight gains or loses",
               .cost = "O(n) logarithms, 16 bytes a node"},
      .make = make_weighted};
  return definition;
}

}  // namespace slipring
