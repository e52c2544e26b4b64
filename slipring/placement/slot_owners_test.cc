// Systems with a fixed number of slots: Redis Cluster, Codis, Couchbase.
#include "slipring/placement/slot_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/codis.h"
#include "slipring/placement/couchbase.h"
#include "slipring/placement/fleet_for_test.h"
#include "slipring/placement/redis_cluster.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Member> slot_fleet(std::initializer_list<const char*> slots) {
  std::vector<Member> members;
  for (const char* text : slots) {
    members.push_back({.name = "n" + std::to_string(members.size()), .attributes = {{"slots", text}}});
  }
  return members;
}

TEST(RedisCluster, SlotsAreThoseOfTheSpecification) {
  EXPECT_EQ(redis_cluster_slot("123456789"), 0x31c3u & 16383u);
  EXPECT_EQ(redis_cluster_slot("somekey"), 11058u);
  EXPECT_EQ(redis_cluster_slot("foo{hash_tag}"), 2515u);
  EXPECT_EQ(redis_cluster_slot("bar{hash_tag}"), 2515u);
  EXPECT_EQ(redis_cluster_slot(""), 0u);
}

TEST(RedisCluster, OnlyAFilledTagCounts) {
  EXPECT_EQ(redis_cluster_slot("{user1000}.following"), redis_cluster_slot("{user1000}.followers"));
  EXPECT_NE(redis_cluster_slot("foo{}{bar}"), redis_cluster_slot("bar"));
  EXPECT_EQ(redis_cluster_slot("foo{{bar}}zap"), redis_cluster_slot("{bar"));
  EXPECT_EQ(redis_cluster_slot("foo{bar}{zap}"), redis_cluster_slot("bar"));
  EXPECT_EQ(redis_cluster_slot("}{a}"), redis_cluster_slot("a"));
}

TEST(RedisCluster, MembersOwnTheSlotsTheyName) {
  const auto members = slot_fleet({"0-5460,11058", "5461-11057,11059-16382", "16383"});
  const auto scheme = *make_scheme({.name = "redis-cluster"}, members);
  EXPECT_EQ(scheme->owner("somekey"), 0u);
  EXPECT_EQ(scheme->owner("foo{hash_tag}"), 0u);
  EXPECT_EQ(scheme->tag("foo{hash_tag}"), "hash_tag");
  EXPECT_EQ(scheme->explain("somekey").point, "slot 11058");
  EXPECT_EQ(scheme->explain("somekey").range, "slot 11058");
  EXPECT_EQ(scheme->explain("").range, "slots 0-5460");
  EXPECT_THAT(list_for_test(*scheme, "somekey", 5), ElementsAre(0, 1, 2));
}

TEST(RedisCluster, WithoutATableMembersOwnEqualRuns) {
  const auto scheme = *make_scheme({.name = "redis-cluster"}, fleet_for_test({"a", "b", "c"}));
  const OwnershipMap map = *scheme->ownership();
  ASSERT_EQ(map.ranges.size(), 3u);
  EXPECT_EQ(map.last, 16383u);
  EXPECT_EQ(map.ranges[0].end, 5461u);
  EXPECT_EQ(map.ranges[2].end, 16383u);
  EXPECT_EQ(map.ranges[2].owner, 2u);
}

TEST(RedisCluster, ATableWithHolesOverlapsOrNonsenseIsRefused) {
  const SchemeSpec spec{.name = "redis-cluster"};
  EXPECT_THAT(error_for_test(spec, slot_fleet({"0-100", "102-16383"})), HasSubstr("slot 101: no node names it"));
  EXPECT_THAT(error_for_test(spec, slot_fleet({"0-100", "100-16383"})), HasSubstr("slot 100: named by n0 and by n1"));
  for (const char* bad : {"5-4", "16384", "a", "1-", "-1", "1,,2", " 1", "0-99999999999999999999"}) {
    EXPECT_THAT(error_for_test(spec, slot_fleet({bad})), HasSubstr("node n0: slots")) << bad;
  }
  auto weighted = fleet_for_test({"a"});
  weighted[0].weight_milli = 2000;
  EXPECT_THAT(error_for_test(spec, weighted), HasSubstr("has no weights"));
}

TEST(Codis, AnEmptyTagCountsAndAnOpenOneDoesNot) {
  EXPECT_EQ(codis_slot("key:0"), 890u);
  EXPECT_EQ(codis_slot("{}x"), 0u);
  EXPECT_EQ(codis_slot("a{key:0}b"), 890u);
  EXPECT_EQ(codis_tag("a{key"), "a{key");
  const auto scheme = *make_scheme({.name = "codis"}, fleet_for_test({"a", "b"}));
  EXPECT_EQ(scheme->owner("key:0"), 1u);
  EXPECT_EQ(scheme->tag("{}x"), "");
}

TEST(Couchbase, AVbucketIsFoundByModuloNotByMask) {
  EXPECT_EQ(couchbase_vbucket("key:0", 1024), 104u);
  EXPECT_EQ(couchbase_vbucket("key:1", 1024), 879u);
  EXPECT_EQ(couchbase_vbucket("key:0", 64), 40u);
  EXPECT_EQ(couchbase_vbucket("key:0", 1), 0u);
  EXPECT_EQ(couchbase_vbucket("key:0", 1000), ((104u + 1024u * (couchbase_vbucket("key:0", 32768) / 1024)) % 1000));
}

TEST(Couchbase, ThePreferenceListIsTheMapThenTheOthers) {
  auto members = fleet_for_test({"a", "b", "c", "d"});
  members[2].attributes = {{"slots", "0-511"}};
  members[3].attributes = {{"slots", "512-1023"}, {"replica1", "0-511"}};
  members[1].attributes = {{"replica1", "512-1023"}, {"replica2", "0-511"}};
  const auto scheme = *make_scheme({.name = "couchbase"}, members);
  EXPECT_EQ(scheme->owner("key:0"), 2u);
  EXPECT_THAT(list_for_test(*scheme, "key:0", 9), ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(list_for_test(*scheme, "key:1", 3), ElementsAre(3, 1, 0));
  EXPECT_THAT(list_for_test(*scheme, "key:1", 1), ElementsAre(3));
  EXPECT_EQ(scheme->explain("key:0").point, "vBucket 104");
}

}  // namespace
}  // namespace slipring
