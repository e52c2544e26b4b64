// The ring_hash balancers of Envoy and gRPC.
#include "slipring/placement/ring_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/hash/xx.h"
#include "slipring/placement/fleet_for_test.h"
#include "slipring/placement/point_scheme.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint64_t> points_each(std::vector<double> weights, RingSizes sizes) {
  std::vector<RingHashHost> hosts;
  for (NodeIndex i = 0; i < weights.size(); ++i) hosts.push_back({"h", weights[i], i});
  std::vector<uint64_t> found(weights.size());
  for (const auto& point : ring_hash_points(hosts, sizes, [](std::string_view s) { return xxh64(s); })) {
    ++found[point.member];
  }
  return found;
}

const PointRing<uint64_t>& token_ring_of(const Scheme& scheme) {
  return dynamic_cast<const PointScheme<uint64_t>&>(scheme).ring();
}

std::vector<Member> ports_90_to_95() {
  std::vector<Member> members;
  for (int port = 90; port < 96; ++port) {
    members.push_back({.name = "p" + std::to_string(port), .label = "127.0.0.1:" + std::to_string(port)});
  }
  return members;
}

TEST(RingHash, PointsFollowTheWeights) {
  EXPECT_THAT(points_each({1, 1}, {1024, 4096}), ElementsAre(512, 512));
  EXPECT_THAT(points_each({1, 2, 3}, {6, 100}), ElementsAre(1, 2, 3));
  EXPECT_THAT(points_each({1, 0, 1}, {10, 100}), ElementsAre(5, 0, 5));
}

TEST(RingHash, EqualHostsGetWholeNumbersSoTheRingOutgrowsItsMinimum) {
  EXPECT_THAT(points_each({1, 1, 1}, {1024, 4096}), ElementsAre(342, 342, 342));
}

TEST(RingHash, TheMaximumCutsLateHostsShort) {
  EXPECT_THAT(points_each({1, 1, 1}, {100, 100}), ElementsAre(34, 33, 33));
  EXPECT_THAT(points_each({1, 1, 1, 1}, {2, 2}), ElementsAre(1, 0, 1, 0));
}

// The first lines of the ring that Envoy's unit test prints for these hosts.
TEST(EnvoyRingHash, MakesTheRingOfEnvoysUnitTest) {
  const SchemeSpec spec{.name = "envoy-ring-hash", .options = {{"min_ring_size", "12"}}};
  const auto scheme = *make_scheme(spec, ports_90_to_95());
  const auto& ring = token_ring_of(*scheme);
  ASSERT_EQ(ring.size(), 12u);
  EXPECT_EQ(ring.point(0), 833437586790550860u);
  EXPECT_EQ(ring.member(0), 4u);
  EXPECT_EQ(ring.point(1), 928266305478181108u);
  EXPECT_EQ(ring.member(1), 2u);
  EXPECT_EQ(ring.point(11), 16117243373044804889u);
  EXPECT_EQ(ring.member(11), 0u);
}

TEST(EnvoyRingHash, OtherHashesGiveOtherRings) {
  const auto xx = *make_scheme({.name = "envoy-ring-hash"}, addresses_for_test(3));
  const auto murmur =
      *make_scheme({.name = "envoy-ring-hash", .options = {{"hash", "murmur2"}}}, addresses_for_test(3));
  EXPECT_EQ(token_ring_of(*xx).size(), token_ring_of(*murmur).size());
  EXPECT_NE(token_ring_of(*xx).point(0), token_ring_of(*murmur).point(0));
}

TEST(EnvoyRingHash, SizesThatContradictAreRefused) {
  const SchemeSpec spec{.name = "envoy-ring-hash", .options = {{"min_ring_size", "5"}, {"max_ring_size", "4"}}};
  EXPECT_THAT(error_for_test(spec, addresses_for_test(2)), HasSubstr("min_ring_size: greater than max_ring_size"));
  EXPECT_THAT(
      error_for_test({.name = "envoy-ring-hash", .options = {{"max_ring_size", "8388609"}}}, addresses_for_test(2)),
      HasSubstr("must be"));
  auto twins = addresses_for_test(2);
  twins[1].label = twins[0].label;
  EXPECT_NE(error_for_test({.name = "envoy-ring-hash"}, twins), "none");
}

TEST(GrpcRingHash, TheOrderOfEndpointsPlaysNoPart) {
  const SchemeSpec spec{.name = "grpc-ring-hash", .options = {{"min_ring_size", "100"}, {"max_ring_size", "103"}}};
  auto members = addresses_for_test(7);
  const auto one = *make_scheme(spec, members);
  std::reverse(members.begin(), members.end());
  const auto other = *make_scheme(spec, members);
  for (int i = 0; i < 200; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(one->owner(key), 6 - other->owner(key));
  }
}

TEST(GrpcRingHash, TheCapLowersBothSizes) {
  const auto capped = [](const char* cap) {
    const SchemeSpec spec{.name = "grpc-ring-hash",
                          .options = {{"min_ring_size", "8000"}, {"max_ring_size", "8000"}, {"ring_size_cap", cap}}};
    return token_ring_of(**make_scheme(spec, addresses_for_test(2))).size();
  };
  EXPECT_EQ(capped("4096"), 4096u);
  EXPECT_EQ(capped("8388608"), 8000u);
}

}  // namespace
}  // namespace slipring
