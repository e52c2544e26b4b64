#include "slipring/placement/multiprobe.h"

#include "slipring/hash/murmur.h"
#include "slipring/placement/key_hash.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/ring_tokens.h"

namespace slipring {
namespace {

class Multiprobe final : public Scheme {
 public:
  Multiprobe(const SchemeInput& input, PointRing<uint64_t> ring)
      : Scheme(input.members.size()),
        hash_(input.options),
        ring_(std::move(ring)),
        probes_(input.options.unsigned_integer("probes")) {}

  NodeIndex owner(std::string_view key) const override { return ring_.member(closest(hash_(key))); }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    return ring_.distinct_from(closest(hash_(key)), out);
  }

  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    const uint64_t hash = hash_(key);
    return {.point = fmt::format("{:016x}", hash), .range = fmt::format("token {:016x}", ring_.point(closest(hash)))};
  }

 private:
  // Position of the point that follows one of the probes at the least distance; of equal ones the first probe's.
  size_t closest(uint64_t hash) const {
    uint64_t least = UINT64_MAX;
    size_t best = 0;
    for (uint64_t i = 0; i < probes_; ++i) {
      const uint64_t probe = murmur3_mix64(hash + i * 0x9e3779b97f4a7c15);
      const size_t at = ring_.wrap(ring_.at_or_after(probe));
      const uint64_t distance = ring_.point(at) - probe;
      if (distance >= least) continue;
      least = distance;
      best = at;
    }
    return best;
  }

  KeyHash hash_;
  PointRing<uint64_t> ring_;
  uint64_t probes_;
};

Result<std::unique_ptr<const Scheme>> make_multiprobe(const SchemeInput& input) {
  const KeyHash hash(input.options);
  std::vector<RingPoint<uint64_t>> points;
  for (const NodeIndex m : members_by_label(input)) points.push_back({hash.of_label(input.label(m)), m});
  return std::make_unique<Multiprobe>(input, PointRing<uint64_t>(std::move(points), Ties::kKeepInOrder));
}

}  // namespace

const SchemeDefinition& multiprobe_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "multiprobe",
               .system = "slipring",
               .source = "Appleton and O'Reilly, Multi-probe consistent hashing, arXiv 1505.00062",
               .summary = "one point a node, k probes a key: little memory, bounded peak, no bounded low side",
               .options = KeyHash::options({{"probes", ParameterType::kUnsigned, "21", "1..1000", "probes a key"}}),
               .preference_lists = true,
               .disruption = "only the share of the node added or removed",
               .cost = "O(probes); 8 to 16 bytes a node"},
      .make = make_multiprobe};
  return definition;
}

}  // namespace slipring
