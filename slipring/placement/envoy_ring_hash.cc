#include "slipring/placement/envoy_ring_hash.h"

#include "slipring/placement/envoy_key.h"
#include "slipring/placement/point_scheme.h"
#include "slipring/placement/ring_hash.h"
#include "slipring/placement/server_list.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

uint64_t xxh64_seed_0(std::string_view s) {
  return xxh64(s, 0);
}

class EnvoyRingHash final : public PointScheme<uint64_t> {
 public:
  EnvoyRingHash(size_t members, PointRing<uint64_t> ring, EnvoyKey key)
      : PointScheme(members, std::move(ring)), key_(key) {}
  std::string_view tag(std::string_view key) const override { return key_.tag(key); }

 private:
  uint64_t point_of(std::string_view key) const override { return key_.hash(key); }
  EnvoyKey key_;
};

Result<std::unique_ptr<const Scheme>> make_envoy_ring_hash(const SchemeInput& input) {
  const RingSizes sizes = {input.options.unsigned_integer("min_ring_size"),
                           input.options.unsigned_integer("max_ring_size")};
  if (sizes.min > sizes.max) return fail(Code::kInvalidArgument, "option min_ring_size: greater than max_ring_size");
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  const std::vector<double> weights = decimal_weights(input.members);
  std::vector<RingHashHost> hosts;
  for (NodeIndex i = 0; i < weights.size(); ++i) hosts.push_back({input.label(i), weights[i], i});
  const bool murmur = input.options.text("hash") == "murmur2";
  auto points = ring_hash_points(hosts, sizes, murmur ? envoy_murmur_hash_2 : xxh64_seed_0);
  return std::make_unique<EnvoyRingHash>(weights.size(), PointRing<uint64_t>(std::move(points), Ties::kKeepInOrder),
                                         EnvoyKey::from(input.options));
}

}  // namespace

const SchemeDefinition& envoy_ring_hash_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "envoy-ring-hash",
               .system = "Envoy ring_hash",
               .source = "ring_hash_lb.cc of Envoy",
               .summary = "ring whose number of points follows the weights, XXH64 or MurmurHash64A",
               .options = {{"min_ring_size", ParameterType::kUnsigned, "1024", "1..8388608", "least number of points"},
                           {"max_ring_size", ParameterType::kUnsigned, "8388608", "1..8388608",
                            "greatest number of points"},
                           {"hash", ParameterType::kChoice, "xxh64", "xxh64|murmur2", "hash of the points"},
                           kEnvoyKeyHash,
                           kEnvoyTag},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "the node's own share while the other nodes keep their number of points",
               .cost = "O(1) search, 10 bytes a point"},
      .make = make_envoy_ring_hash};
  return definition;
}

}  // namespace slipring
