#include "slipring/placement/server_list.h"

#include <gtest/gtest.h>

#include <set>

namespace slipring {
namespace {

TEST(ServerList, AnAddressIsCutAtItsPort) {
  const auto parts = [](std::string_view label) {
    const ServerAddress address = split_address(label);
    return std::pair<std::string, std::string>(address.host, address.port);
  };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("a.example:11211"), Pair("a.example", "11211"));
  EXPECT_EQ(parts("a.example"), Pair("a.example", ""));
  EXPECT_EQ(parts("a.example:"), Pair("a.example:", ""));
  EXPECT_EQ(parts("a:b"), Pair("a:b", ""));
  EXPECT_EQ(parts("[::1]:7"), Pair("::1", "7"));
  EXPECT_EQ(parts("[::1]"), Pair("::1", ""));
  EXPECT_EQ(parts("/run/m.sock"), Pair("/run/m.sock", ""));
  EXPECT_EQ(parts("/run/m:1"), Pair("/run/m:1", ""));
  EXPECT_EQ(parts(""), Pair("", ""));
}

TEST(ServerList, APortAbove65535IsRefused) {
  EXPECT_EQ(*port_of(split_address("a:65535"), 1), 65535u);
  EXPECT_EQ(*port_of(split_address("a"), 11211), 11211u);
  EXPECT_FALSE(port_of(split_address("a:65536"), 1));
  EXPECT_FALSE(port_of(split_address("a:99999999999999999999"), 1));
}

TEST(ServerList, AFullAddressAlwaysNamesItsPort) {
  EXPECT_EQ(full_address("a"), "a:11211");
  EXPECT_EQ(full_address("a:5"), "a:5");
}

// The list of the counts at which the float32 formula rounds down, up to 110 equal servers.
TEST(ServerList, EqualServersLoseFourPointsWhereFloat32RoundsDown) {
  std::set<uint64_t> short_counts;
  for (uint64_t n = 1; n <= 110; ++n) {
    const uint32_t points = ketama_points_float32(1, n, n);
    EXPECT_TRUE(points == 160 || points == 156) << n;
    if (points == 156) short_counts.insert(n);
  }
  for (const uint64_t n : {25, 47, 50, 55, 61, 71, 94, 100, 107}) EXPECT_TRUE(short_counts.contains(n)) << n;
  EXPECT_FALSE(short_counts.contains(5));
  EXPECT_FALSE(short_counts.contains(40));
}

TEST(ServerList, PointsFollowTheWeightInGroupsOfFour) {
  EXPECT_EQ(ketama_points_float32(1, 19, 5), 40u);
  EXPECT_EQ(ketama_points_float32(8, 19, 5), 336u);
  EXPECT_EQ(ketama_points_float32(1, 1000, 2), 0u);
}

TEST(ServerList, SlotsRepeatAServerByItsWeight) {
  const ServerList servers = {{4, 2000, "a"}, {1, 1000, "b"}};
  EXPECT_EQ(*weighted_slots(servers), (std::vector<NodeIndex>{4, 4, 1}));
  const ServerList heavy(17, {0, 1'000'000'000, "a"});
  EXPECT_FALSE(weighted_slots(heavy));
}

}  // namespace
}  // namespace slipring
