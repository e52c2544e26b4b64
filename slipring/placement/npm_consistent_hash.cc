#include "slipring/placement/npm_consistent_hash.h"

#include <cmath>

#include "slipring/hash/utf.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

class UniformRing final : public PointScheme<uint32_t> {
 public:
  UniformRing(size_t member_count, PointRing<uint32_t> points, uint32_t range)
      : PointScheme(member_count, std::move(points)), range_(range) {}

 protected:
  uint32_t point_of(std::string_view key) const override { return (pjw24_utf16(key) << 5) % range_; }

 private:
  uint32_t range_;
};

Points32 uniform_points(const ServerList& servers, uint64_t points_each, double range) {
  const auto n = static_cast<double>(servers.size());
  const double step = range / (n * static_cast<double>(points_each));
  Points32 points;
  for (size_t i = 0; i < servers.size(); ++i) {
    const double offset = step * static_cast<double>(i) + step / 2;
    for (uint64_t j = 0; j < points_each; ++j) {
      const double at = offset + (step * n) * static_cast<double>(j);
      points.push_back({static_cast<uint32_t>(std::floor(at + 0.5)), servers[i].member});
    }
  }
  return points;
}

Result<std::unique_ptr<const Scheme>> make_npm_consistent_hash(const SchemeInput& input) {
  const ServerList servers = servers_zero_as_one(input);
  const uint64_t points_each = input.options.unsigned_integer("control_points");
  const uint64_t range = input.options.unsigned_integer("range");
  SLIPRING_TRY(check_points(points_each * servers.size()));
  Points32 points = uniform_points(servers, points_each, static_cast<double>(range));
  return std::make_unique<UniformRing>(input.members.size(), PointRing<uint32_t>(std::move(points), Ties::kKeepLast),
                                       static_cast<uint32_t>(range));
}

}  // namespace

const SchemeDefinition& npm_consistent_hash_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "npm-consistent-hash",
               .system = "npm consistent-hash 1.2.2",
               .source = "consistent-hash 1.2.2: consistent-hash.js",
               .summary = "nodes take turns at equal steps on a small range (distribution 'uniform')",
               .options = {{"control_points", ParameterType::kUnsigned, "40", "1..1000000", "points a node"},
                           {"range", ParameterType::kUnsigned, "100003", "1..2147483647", "size of the ring"}},
               .weights = Weights::kIgnored,
               .zero_weight_may_own = true,
               .preference_lists = true,
               .disruption = "nearly all keys",
               .cost = "one hash and one ring search, about 12 bytes a point"},
      .make = make_npm_consistent_hash};
  return definition;
}

}  // namespace slipring
