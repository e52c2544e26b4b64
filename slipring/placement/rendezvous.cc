#include "slipring/placement/rendezvous.h"

#include <algorithm>
#include <cmath>

#include "slipring/hash/murmur.h"
#include "slipring/placement/key_hash.h"
#include "slipring/placement/ring_tokens.h"
#include "slipring/placement/zones.h"

namespace slipring {
namespace {

struct Candidate {
  uint64_t hash;  // of the label
  double weight;
  NodeIndex member;
};

struct Scored {
  double score;
  NodeIndex member;
};

// Members from the highest score down, as a circle for Zones.
struct Ranking {
  std::vector<Scored> ranked;
  NodeIndex member(size_t i) const { return ranked[i].member; }
  size_t wrap(size_t i) const { return i == ranked.size() ? 0 : i; }
};

double score_of(const Candidate& candidate, uint64_t key_hash) {
  const uint64_t mixed = murmur3_mix64(candidate.hash ^ key_hash);
  const double u = (static_cast<double>(mixed >> 11) + 0.5) * 0x1p-53;
  return candidate.weight / -std::log(u);
}

class Rendezvous final : public Scheme {
 public:
  explicit Rendezvous(const SchemeInput& input) : Scheme(input.members.size()), hash_(input.options) {
    std::vector<bool> owns(input.members.size());
    for (const NodeIndex m : members_by_label(input)) {
      if (input.members[m].weight_milli == 0) continue;
      owns[m] = true;
      // Mixed twice, so that a label's hash never cancels out against that of a key which is the same text.
      candidates_.push_back({murmur3_mix64(hash_.of_label(input.label(m)) + 0x9e3779b97f4a7c15),
                             static_cast<double>(input.members[m].weight_milli), m});
    }
    zones_ = Zones(input.members, owns);
  }

  NodeIndex owner(std::string_view key) const override {
    const uint64_t key_hash = hash_(key);
    double best = -1;
    NodeIndex owner = kNoNode;
    for (const Candidate& candidate : candidates_) {
      const double score = score_of(candidate, key_hash);
      if (score <= best) continue;
      best = score;
      owner = candidate.member;
    }
    return owner;
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const uint64_t key_hash = hash_(key);
    Ranking ranking;
    ranking.ranked.reserve(candidates_.size());
    for (const Candidate& c : candidates_) ranking.ranked.push_back({score_of(c, key_hash), c.member});
    std::stable_sort(ranking.ranked.begin(), ranking.ranked.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
    return zones_.preference_list(ranking, 0, out);
  }

  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", hash_(key)), .range = ""};
  }

 private:
  KeyHash hash_;
  std::vector<Candidate> candidates_;  // by label: of equal scores the smaller label wins
  Zones zones_;
};

Result<std::unique_ptr<const Scheme>> make_rendezvous(const SchemeInput& input) {
  return std::make_unique<Rendezvous>(input);
}

}  // namespace

const SchemeDefinition& rendezvous_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "rendezvous",
               .system = "slipring",
               .source = "Thaler and Ravishankar, IEEE/ACM ToN 1998; weights: Schindelhauer and Schomaker, SPAA 2005",
               .summary = "highest random weight, weight / -ln(u): exact shares, small fleets",
               .options = KeyHash::options(),
               .weights = Weights::kUsed,
               .zones = true,
               .preference_lists = true,
               .disruption = "only the share of the node added, removed or given another weight",
               .cost = "O(n), 16 bytes a node"},
      .make = make_rendezvous};
  return definition;
}

}  // namespace slipring
