#include "slipring/placement/haproxy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slipring/hash/simple.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const SchemeSpec kConsistent = {"haproxy", {{"hash_type", "consistent"}}};
const SchemeSpec kMap = {"haproxy", {{"hash_type", "map-based"}}};

std::vector<Member> with_ids(const std::vector<int>& ids) {
  std::vector<Member> members = fleet_of(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != 0) members[i].attributes["id"] = std::to_string(ids[i]);
  }
  return members;
}

// The counter skips used ids and advances past servers that have one of their own.
TEST(Haproxy, AutomaticIdsCountPastExplicitOnes) {
  EXPECT_EQ(owners_of(kConsistent, with_ids({0, 1, 0, 3, 0})), owners_of(kConsistent, with_ids({2, 1, 4, 3, 6})));
  EXPECT_EQ(owners_of(kConsistent, with_ids({0, 0, 0})), owners_of(kConsistent, with_ids({1, 2, 3})));
}

TEST(Haproxy, OnlyIdAndWeightCountForConsistent) {
  EXPECT_EQ(owners_of(kConsistent, labelled({"a:1", "b:2"})), owners_of(kConsistent, labelled({"c", "d"})));
}

TEST(Haproxy, ADisabledServerKeepsItsIdAndOnlyItsKeysMove) {
  const std::vector<Member> all = fleet_of(6);
  std::vector<Member> less = all;
  less[2].attributes["disabled"] = "true";
  const auto before = owners_of(kConsistent, all);
  const auto after = owners_of(kConsistent, less);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == 2 ? after[i] != 2 : after[i] == before[i]);
  less[2].attributes.clear();
  less[2].weight_milli = 0;
  EXPECT_EQ(owners_of(kConsistent, less), after);
}

TEST(Haproxy, TheNearestPointIsNamed) {
  const auto scheme = scheme_of(kConsistent, fleet_of(3));
  EXPECT_EQ(scheme->explain("user:1").range.substr(0, 11), "nearest to ");
  EXPECT_EQ(scheme->explain("user:1").range.size(), 19u);
}

TEST(Haproxy, ANamedFunctionHasNoAvalancheUnlessItIsAskedFor) {
  const auto with = [](const std::string& function, const std::string& avalanche) {
    return SchemeSpec{"haproxy", {{"hash_type", "consistent"}, {"function", function}, {"avalanche", avalanche}}};
  };
  EXPECT_EQ(owners_of(kConsistent, fleet_of(9)), owners_of(with("sdbm", "true"), fleet_of(9)));
  const SchemeSpec named = {"haproxy", {{"hash_type", "consistent"}, {"function", "sdbm"}}};
  EXPECT_EQ(owners_of(named, fleet_of(9)), owners_of(with("sdbm", "false"), fleet_of(9)));
  EXPECT_NE(owners_of(named, fleet_of(9)), owners_of(kConsistent, fleet_of(9)));
}

TEST(Haproxy, TheMapOfEqualServersIsTheirOrder) {
  const auto scheme = scheme_of(kMap, fleet_of(5));
  for (const std::string& key : some_keys()) EXPECT_EQ(scheme->owner(key), sdbm(key) % 5);
}

// Weights 10, 20, 30 are 1, 2, 3 after division; each gets as many of six slots.
TEST(Haproxy, TheMapDividesWeightsByTheirCommonDivisor) {
  EXPECT_EQ(owners_of(kMap, weighted(fleet_of(3), {10, 20, 30})), owners_of(kMap, weighted(fleet_of(3), {1, 2, 3})));
  std::vector<std::string> keys;
  for (int i = 0; i < 6000; ++i) keys.push_back("user:" + std::to_string(i));
  const auto owners = owners_of(kMap, weighted(fleet_of(3), {10, 20, 30}), keys);
  EXPECT_NEAR(static_cast<double>(std::count(owners.begin(), owners.end(), 2u)), 3000, 300);
}

TEST(Haproxy, RefusesIdsGivenTwiceAndFleetsWithoutALiveServer) {
  EXPECT_NE(refusal(kConsistent, with_ids({7, 7})).find("id 7: given twice"), std::string::npos);
  std::vector<Member> off = fleet_of(1);
  off[0].attributes["disabled"] = "true";
  EXPECT_NE(refusal(kMap, off).find("every server is disabled"), std::string::npos);
  EXPECT_NE(refusal(kMap, weighted(fleet_of(1), {257})).find("at most 256"), std::string::npos);
}

}  // namespace
}  // namespace slipring
