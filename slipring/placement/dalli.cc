#include "slipring/placement/dalli.h"

#include <cmath>

#include "slipring/hash/crc.h"
#include "slipring/hash/load.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

class DalliRing final : public PointScheme<uint32_t> {
 public:
  DalliRing(size_t member_count, PointRing<uint32_t> points) : PointScheme(member_count, std::move(points)) {}

  Explanation explain(std::string_view key) const override {
    const uint32_t h = point_of(key);
    const size_t at = position_of(h);
    return {.point = fmt::format("{:08x}", h),
            .range = fmt::format("[{:08x}, {:08x})", ring().point(at), ring().point(ring().wrap(at + 1)))};
  }

 protected:
  uint32_t point_of(std::string_view key) const override { return crc32(key); }

  size_t position_of(uint32_t h) const override { return ring().before(ring().after(h)); }
};

Result<std::unique_ptr<const Scheme>> make_dalli(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  SLIPRING_TRY(check_points(input.members.size() * 160));
  const auto total = static_cast<double>(total_weight(servers));
  Points32 points;
  for (const Server& server : servers) {
    const std::string name = full_address(server.label);
    const uint64_t scaled = uint64_t{input.members.size()} * 160 * server.weight();
    const auto count = static_cast<uint64_t>(std::floor(static_cast<double>(scaled) / total));
    for (uint64_t j = 0; j < count; ++j)
      points.push_back({load_be32(sha1(fmt::format("{}:{}", name, j)).data()), server.member});
  }
  return std::make_unique<DalliRing>(input.members.size(), PointRing<uint32_t>(std::move(points), Ties::kKeepInOrder));
}

}  // namespace

const SchemeDefinition& dalli_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "dalli",
               .system = "Dalli 3.0.6 (Ruby)",
               .source = "Dalli 3.0.6: lib/dalli/ring.rb",
               .summary = "ring of SHA-1 points; the nearest point at or below the key's CRC-32 owns it",
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "about 1/n of all keys",
               .cost = "one CRC-32 and one ring search, about 12 bytes a point"},
      .make = make_dalli};
  return definition;
}

}  // namespace slipring
