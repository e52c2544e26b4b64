#include "slipring/placement/groupcache.h"

#include "slipring/hash/crc.h"
#include "slipring/placement/point_scheme.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

class Groupcache final : public PointScheme<uint32_t> {
 public:
  Groupcache(size_t members, PointRing<uint32_t> ring) : PointScheme(members, std::move(ring)) {}

 private:
  uint32_t point_of(std::string_view key) const override { return crc32(key); }
};

Result<std::unique_ptr<const Scheme>> make_groupcache(const SchemeInput& input) {
  const uint64_t replicas = input.options.unsigned_integer("replicas");
  SLIPRING_TRY(check_points(replicas * input.members.size()));
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  std::vector<RingPoint<uint32_t>> points;
  for (NodeIndex member = 0; member < input.members.size(); ++member) {
    for (uint64_t i = 0; i < replicas; ++i) {
      points.push_back({crc32(fmt::format("{}{}", i, input.label(member))), member});
    }
  }
  return std::make_unique<Groupcache>(input.members.size(), PointRing<uint32_t>(std::move(points), Ties::kKeepLast));
}

}  // namespace

const SchemeDefinition& groupcache_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "groupcache",
               .system = "golang/groupcache 2c02b820",
               .source = "package consistenthash of groupcache",
               .summary = "ring of CRC32 points, the later of equal points owns",
               .options = {{"replicas", ParameterType::kUnsigned, "50", "1..10000", "points a node"}},
               .disruption = "the node's own share",
               .cost = "O(1) search, 6 bytes a point"},
      .make = make_groupcache};
  return definition;
}

}  // namespace slipring
