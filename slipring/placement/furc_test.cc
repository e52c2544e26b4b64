// mcrouter's hash functions and the schemes over them.
#include "slipring/placement/furc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/hash/city.h"
#include "slipring/placement/fleet_for_test.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string key(int i) {
  return "key:" + std::to_string(i);
}

TEST(Furc, AnswersAreThoseOfMcroutersTests) {
  EXPECT_EQ(furc_hash("sample", 1), 0u);
  EXPECT_EQ(furc_hash("sample", 100), 97u);
  EXPECT_EQ(furc_hash("", 100), 72u);
  EXPECT_EQ(furc_hash("sample", kFurcMax), 5167780u);
}

TEST(Furc, GrowingMovesKeysOnlyToTheNewNumber) {
  for (uint32_t n = 1; n < 70; ++n) {
    for (int i = 0; i < 50; ++i) {
      const uint32_t now = furc_hash(key(i), n + 1);
      EXPECT_TRUE(now == n || now == furc_hash(key(i), n)) << n << " " << i;
    }
  }
}

TEST(WeightedFurc, IsFurcWhenAllWeightsAreOne) {
  const std::vector<double> ones(37, 1.0);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(weighted_furc_hash(key(i), ones), furc_hash(key(i), 37));
    EXPECT_EQ(weighted_ch3_hash(key(i), ones), furc_hash(key(i), 37));
  }
}

TEST(WeightedFurc, AnswersAreTheRecordedOnes) {
  const std::vector<double> weights = {1.0, 0.5, 0.25, 0.0, 1.0};
  EXPECT_EQ(weighted_furc_hash("", weights), 1u);
  EXPECT_EQ(weighted_furc_hash("key:0", weights), 2u);
  EXPECT_EQ(weighted_furc_hash("key:3", weights), 4u);
  EXPECT_EQ(weighted_ch3_hash("", weights), 1u);
  EXPECT_EQ(weighted_ch3_hash("key:0", weights), 4u);
  EXPECT_EQ(weighted_ch3_hash("key:5", weights), 2u);
}

TEST(WeightedFurc, GivesUpWhenNobodyAcceptsAndStaysInRange) {
  const std::vector<double> zeros(3, 0.0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LT(weighted_furc_hash(key(i), zeros), 3u);
    EXPECT_LT(weighted_ch3_hash(key(i), zeros), 3u);
  }
}

TEST(WeightedFurc, LoweringAWeightMovesOnlyThatNodesKeys) {
  const std::vector<double> before = {1.0, 0.8, 0.6, 0.9};
  const std::vector<double> after = {1.0, 0.3, 0.6, 0.9};
  for (int i = 0; i < 500; ++i) {
    for (const auto hash : {weighted_furc_hash, weighted_ch3_hash}) {
      const uint32_t was = hash(key(i), before);
      EXPECT_TRUE(was == 1 || hash(key(i), after) == was) << i;
    }
  }
}

TEST(McrouterCh3, KnowsServersByOrdinalOnly) {
  auto members = fleet_for_test({"x", "y", "z"});
  const auto scheme = *make_scheme({.name = "mcrouter-ch3"}, members);
  members[1].label = "other";
  const auto relabelled = *make_scheme({.name = "mcrouter-ch3"}, members);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(scheme->owner(key(i)), furc_hash(key(i), 3));
    EXPECT_EQ(relabelled->owner(key(i)), scheme->owner(key(i)));
  }
}

TEST(McrouterCh3, WeightsAreProbabilities) {
  auto members = fleet_for_test({"x", "y", "z"});
  members[0].weight_milli = 250;
  const auto scheme = *make_scheme({.name = "mcrouter-weighted-furc"}, members);
  const std::vector<double> weights = {0.25, 1, 1};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(scheme->owner(key(i)), weighted_furc_hash(key(i), weights));
  members[1].weight_milli = 1001;
  for (const char* name : {"mcrouter-weighted-furc", "mcrouter-weighted-ch3"}) {
    EXPECT_THAT(error_for_test({.name = name}, members), HasSubstr("node y: weight must be 0 to 1"));
  }
}

TEST(McrouterRendezvous, ListsAreTheRecordedOnes) {
  const auto scheme = *make_scheme({.name = "mcrouter-weighted-rendezvous"}, addresses_for_test(3));
  EXPECT_THAT(list_for_test(*scheme, "", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(list_for_test(*scheme, "key:3", 9), ElementsAre(1, 2, 0));
  const auto plain = *make_scheme({.name = "mcrouter-rendezvous"}, addresses_for_test(5));
  EXPECT_THAT(list_for_test(*plain, "", 3), ElementsAre(4, 2, 3));
}

TEST(McrouterRendezvous, AWeightTakesKeysFromTheOthersOnly) {
  auto members = addresses_for_test(6);
  const auto before = *make_scheme({.name = "mcrouter-weighted-rendezvous"}, members);
  members[2].weight_milli = 3000;
  const auto heavier = *make_scheme({.name = "mcrouter-weighted-rendezvous"}, members);
  members[2].weight_milli = 0;
  const auto drained = *make_scheme({.name = "mcrouter-weighted-rendezvous"}, members);
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(heavier->owner(key(i)) == 2 || heavier->owner(key(i)) == before->owner(key(i)));
    EXPECT_TRUE(before->owner(key(i)) == 2 || drained->owner(key(i)) == before->owner(key(i)));
    EXPECT_EQ(list_for_test(*drained, key(i), 9).size(), 5u);
  }
}

TEST(City, MixesBothWords) {
  EXPECT_NE(city_128_to_64(1, 2), city_128_to_64(2, 1));
  EXPECT_EQ(city_128_to_64(0, 0), 0u);
}

}  // namespace
}  // namespace slipring
