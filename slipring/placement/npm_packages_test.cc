#include <gtest/gtest.h>

#include "slipring/placement/npm_consistent_hash.h"
#include "slipring/placement/npm_hashring.h"
#include "slipring/placement/npm_ketama.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

TEST(NpmHashring, WithTheDefaultPortItIsNpmMemcachedAndWeightedKetama) {
  const std::vector<Member> members = weighted(fleet_of(5, 11211), {1, 2, 3, 5, 8});
  const auto owners = owners_of({"npm-hashring", {{"default_port", "11211"}}}, members);
  EXPECT_EQ(owners, owners_of({"npm-memcached", {}}, members));
  EXPECT_EQ(owners, owners_of({"libmemcached", {{"ketama_weighted", "true"}}}, members));
  EXPECT_NE(owners, owners_of({"npm-hashring", {}}, members));
}

TEST(NpmHashring, OwnVnodesTakeThePlaceOfTheWeightUnlessTheyAreTheDefault) {
  std::vector<Member> default_vnodes = weighted(fleet_of(2), {1, 9});
  default_vnodes[0].attributes["vnodes"] = "40";
  EXPECT_EQ(owners_of({"npm-hashring", {}}, default_vnodes),
            owners_of({"npm-hashring", {}}, weighted(fleet_of(2), {1, 9})));
  std::vector<Member> own = default_vnodes;
  own[0].attributes["vnodes"] = "500";
  EXPECT_NE(owners_of({"npm-hashring", {}}, own), owners_of({"npm-hashring", {}}, default_vnodes));
}

TEST(NpmHashring, CompatibilityWinsOverReplicas) {
  const auto with = [](const std::string& name, const std::string& value) {
    return SchemeSpec{"npm-hashring", {{"replicas", "1"}, {name, value}}};
  };
  EXPECT_EQ(owners_of(with("compatibility", "ketama"), fleet_of(5)), owners_of({"npm-hashring", {}}, fleet_of(5)));
  EXPECT_EQ(owners_of(with("compatibility", "hash_ring"), fleet_of(5)),
            owners_of({"npm-hashring", {{"replicas", "3"}}}, fleet_of(5)));
}

// An MD5 has four words; JavaScript reads what lies beyond as 0.
TEST(NpmHashring, WordsBeyondTheDigestAreZero) {
  const auto scheme = scheme_of({"npm-hashring", {{"replicas", "5"}}}, fleet_of(3));
  const auto four = scheme_of({"npm-hashring", {{"replicas", "4"}}}, fleet_of(3));
  for (const std::string& key : some_keys()) {
    const NodeIndex owner = scheme->owner(key);
    EXPECT_TRUE(owner == four->owner(key) || owner == 0);
  }
}

TEST(NpmHashring, RefusesFleetsWithoutPointsAndDuplicates) {
  std::vector<Member> light = weighted(fleet_of(2), {1, 1000});
  EXPECT_EQ(refusal({"npm-hashring", {{"vnode_count", "1"}}}, light), "accepted");
  EXPECT_NE(refusal({"npm-hashring", {}}, labelled({"a:1", "a:1"})).find("used twice"), std::string::npos);
  EXPECT_NE(refusal({"npm-hashring", {{"vnode_count", "0"}}}, fleet_of(2)), "accepted");
  EXPECT_NE(refusal({"npm-hashring", {{"vnode_count", "1000000"}, {"replicas", "16"}}}, fleet_of(3)), "accepted");
}

TEST(NpmKetama, WeightsRoundToPointsAndZeroPointsOwnNothing) {
  std::vector<Member> members = labelled({"a", "b", "c"});
  members[2].weight_milli = 9;
  EXPECT_EQ(owner_labels({"npm-ketama", {}}, members), owner_labels({"npm-ketama", {}}, {members[0], members[1]}));
  members[2].weight_milli = 10;
  EXPECT_EQ(refusal({"npm-ketama", {}}, {members[2]}), "accepted");
  members[2].weight_milli = 9;
  EXPECT_NE(refusal({"npm-ketama", {}}, {members[2]}), "accepted");
}

TEST(NpmKetama, RemovingANodeMovesOnlyItsKeys) {
  const std::vector<Member> ten = fleet_of(10);
  std::vector<Member> nine = ten;
  nine.erase(nine.begin());
  const auto before = owner_labels({"npm-ketama", {}}, ten);
  const auto after = owner_labels({"npm-ketama", {}}, nine);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == ten[0].label || before[i] == after[i]);
}

TEST(NpmConsistentHash, NodesTakeTurnsAndWeightsAreIgnored) {
  const SchemeSpec spec = {"npm-consistent-hash", {}};
  EXPECT_EQ(owners_of(spec, fleet_of(5)), owners_of(spec, weighted(fleet_of(5), {1, 2, 3, 5, 8})));
  std::vector<NodeIndex> list(5);
  const auto scheme = scheme_of(spec, fleet_of(5));
  ASSERT_EQ(scheme->preference_list("user:1", list), 5u);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(list[i], (list[i - 1] + 1) % 5);
}

// Four nodes on a range of 1: points 0, 0, 1, 1, and every key at 0.
TEST(NpmConsistentHash, OfEqualPointsTheNodeListedLastOwns) {
  const SchemeSpec spec = {"npm-consistent-hash", {{"range", "1"}, {"control_points", "1"}}};
  EXPECT_EQ(owners_of(spec, fleet_of(4)), std::vector<NodeIndex>(some_keys().size(), 1));
  EXPECT_NE(refusal({"npm-consistent-hash", {{"range", "0"}}}, fleet_of(3)), "accepted");
}

TEST(NpmHashring, WeightZeroCountsAsOneAndAnIpv6AddressHasNoPortOfItsOwn) {
  EXPECT_EQ(owners_of({"npm-hashring", {}}, weighted(fleet_of(3), {0, 2, 1})),
            owners_of({"npm-hashring", {}}, weighted(fleet_of(3), {1, 2, 1})));
  const std::vector<Member> v6 = labelled({"[::1]:11211", "[::2]:11211"});
  EXPECT_EQ(owners_of({"npm-memcached", {}}, v6), owners_of({"npm-hashring", {}}, v6));
}

TEST(NpmKetama, ListsOfAllNodesAreInInsertionOrder) {
  const std::vector<Member> members = weighted(fleet_of(4), {1, 2, 0, 1});
  const auto scheme = scheme_of({"npm-ketama", {}}, members);
  for (const std::string& key : some_keys()) {
    EXPECT_EQ(npm_ketama_nodes(*scheme, members, key, 3), (std::vector<NodeIndex>{0, 1, 3}));
    EXPECT_EQ(npm_ketama_nodes(*scheme, members, key, 9), (std::vector<NodeIndex>{0, 1, 3}));
    EXPECT_EQ(npm_ketama_nodes(*scheme, members, key, 1), (std::vector<NodeIndex>{scheme->owner(key)}));
  }
}

}  // namespace
}  // namespace slipring
