#include "slipring/placement/stathat.h"

#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/placement/point_scheme.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

using Hash = uint32_t (*)(std::string_view);

class Stathat final : public PointScheme<uint32_t> {
 public:
  Stathat(size_t members, PointRing<uint32_t> ring, Hash hash)
      : PointScheme(members, std::move(ring), Successor::kStrict), hash_(hash) {}

 private:
  uint32_t point_of(std::string_view key) const override { return hash_(key); }

  Hash hash_;
};

Result<std::unique_ptr<const Scheme>> make_stathat(const SchemeInput& input) {
  const uint64_t replicas = input.options.unsigned_integer("replicas");
  const Hash hash = input.options.text("hash") == "fnv1a" ? Hash{fnv1a_32} : Hash{plain_crc32};
  SLIPRING_TRY(check_points(replicas * input.members.size()));
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  std::vector<RingPoint<uint32_t>> points;
  for (NodeIndex member = 0; member < input.members.size(); ++member) {
    for (uint64_t i = 0; i < replicas; ++i) {
      points.push_back({hash(fmt::format("{}{}", i, input.label(member))), member});
    }
  }
  return std::make_unique<Stathat>(input.members.size(), PointRing<uint32_t>(std::move(points), Ties::kKeepLast), hash);
}

}  // namespace

const SchemeDefinition& stathat_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "stathat",
               .system = "stathat/consistent 30ea17e8",
               .source = "consistent.go of stathat/consistent",
               .summary = "ring of CRC32 or FNV-1a points, strictly greater successor",
               .options = {{"hash", ParameterType::kChoice, "crc32", "crc32|fnv1a", "fnv1a = UseFnv"},
                           {"replicas", ParameterType::kUnsigned, "20", "1..10000", "points a node"}},
               .preference_lists = true,
               .disruption = "the node's own share",
               .cost = "O(1) search, 6 bytes a point"},
      .make = make_stathat};
  return definition;
}

}  // namespace slipring
