#include "slipring/placement/grpc_ring_hash.h"

#include <algorithm>

#include "slipring/hash/xx.h"
#include "slipring/placement/point_scheme.h"
#include "slipring/placement/ring_hash.h"
#include "slipring/placement/server_list.h"
#include "slipring/placement/weights.h"

namespace slipring {
namespace {

uint64_t hash_of(std::string_view s) {
  return xxh64(s, 0);
}

class GrpcRingHash final : public PointScheme<uint64_t> {
 public:
  GrpcRingHash(size_t members, PointRing<uint64_t> ring) : PointScheme(members, std::move(ring)) {}

 private:
  uint64_t point_of(std::string_view key) const override { return hash_of(key); }
};

Result<std::unique_ptr<const Scheme>> make_grpc_ring_hash(const SchemeInput& input) {
  RingSizes sizes = {input.options.unsigned_integer("min_ring_size"), input.options.unsigned_integer("max_ring_size")};
  if (sizes.min > sizes.max) return fail(Code::kInvalidArgument, "option min_ring_size: greater than max_ring_size");
  const uint64_t cap = input.options.unsigned_integer("ring_size_cap");
  sizes = {std::min(sizes.min, cap), std::min(sizes.max, cap)};
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  const std::vector<double> weights = decimal_weights(input.members);
  std::vector<RingHashHost> hosts;
  for (NodeIndex i = 0; i < weights.size(); ++i) hosts.push_back({input.label(i), weights[i], i});
  std::stable_sort(hosts.begin(), hosts.end(),
                   [](const RingHashHost& a, const RingHashHost& b) { return a.key < b.key; });
  return std::make_unique<GrpcRingHash>(
      weights.size(), PointRing<uint64_t>(ring_hash_points(hosts, sizes, hash_of), Ties::kKeepInOrder));
}

}  // namespace

const SchemeDefinition& grpc_ring_hash_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "grpc-ring-hash",
               .system = "gRPC ring_hash",
               .source = "gRFC A42 and A76; balancer/ringhash of grpc-go",
               .summary = "ring whose number of points follows the weights, endpoints sorted by hash key, XXH64",
               .options = {{"min_ring_size", ParameterType::kUnsigned, "1024", "1..8388608", "least number of points"},
                           {"max_ring_size", ParameterType::kUnsigned, "4096", "1..8388608",
                            "greatest number of points"},
                           {"ring_size_cap", ParameterType::kUnsigned, "4096", "1..8388608",
                            "the client's bound on both sizes"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "the node's own share while the other nodes keep their number of points",
               .cost = "O(1) search, 10 bytes a point"},
      .make = make_grpc_ring_hash};
  return definition;
}

}  // namespace slipring
