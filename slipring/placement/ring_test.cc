// The native ring is fixed for ever: its known answers, ties, weights, zones and refusals.
#include "slipring/placement/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/hash_tag.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Member> five_nodes() {
  return {{.name = "n1", .zone = "a"},
          {.name = "n2", .zone = "a"},
          {.name = "n3", .zone = "a"},
          {.name = "n4", .zone = "b"},
          {.name = "n5", .zone = "b"}};
}

std::vector<std::string> list_of(const Scheme& scheme, const std::vector<Member>& members, std::string_view key,
                                 size_t replicas) {
  std::vector<NodeIndex> out(replicas);
  out.resize(scheme.preference_list(key, out));
  std::vector<std::string> names;
  for (const NodeIndex i : out) names.push_back(members[i].name);
  return names;
}

TEST(Ring, TokensAreTheKnownOnes) {
  EXPECT_EQ(ring_token("n1", 0, 0), 0xc39ce7446ee20c42u);
  EXPECT_EQ(ring_token("n1", 1, 0), 0x3ae253c6ec8278edu);
  EXPECT_EQ(ring_token("n1", 511, 0), 0xa61c219e1318b888u);
  EXPECT_EQ(ring_token("cache-a", 0, 0), 0x5b63ddf07336ba59u);
  EXPECT_EQ(ring_token("cache-a", 511, 0), 0xe7c76e22b8c3ff77u);
  EXPECT_EQ(ring_token("n1", 0, 42), 0xb0fc1b4bc6ef7d7bu);
}

TEST(Ring, PointsAreTheKnownOnes) {
  EXPECT_EQ(ring_point("", 0), 0x2d06800538d394c2u);
  EXPECT_EQ(ring_point("user:1001", 0), 0x783864580ee66e90u);
  EXPECT_EQ(ring_point("{tag}x", 0), 0x857d5b2aa5836ac2u);
}

TEST(Ring, PreferenceListsAreTheKnownOnes) {
  const auto members = five_nodes();
  const auto ring = *make_scheme({}, members);
  EXPECT_THAT(list_of(*ring, members, "user:1001", 3), ElementsAre("n3", "n5", "n4"));
  EXPECT_THAT(list_of(*ring, members, "session:xyz", 3), ElementsAre("n1", "n4", "n3"));
  EXPECT_THAT(list_of(*ring, members, "a", 3), ElementsAre("n3", "n5", "n1"));
}

TEST(Ring, FewerNodesThanReplicasGivesAllOfThemOnce) {
  const auto members = five_nodes();
  const auto ring = *make_scheme({}, members);
  EXPECT_EQ(list_of(*ring, members, "k", 50).size(), 5u);
  EXPECT_EQ(list_of(*ring, members, "k", 0).size(), 0u);
}

TEST(Ring, ExplainGivesPointAndRange) {
  const auto ring = *make_scheme({}, five_nodes());
  const Explanation e = ring->explain("user:1001");
  EXPECT_EQ(e.point, "783864580ee66e90");
  ASSERT_EQ(e.range.size(), 36u);
  EXPECT_LT(e.range.substr(1, 16), e.point);
  EXPECT_GE(e.range.substr(19, 16), e.point);
}

TEST(Ring, TheHashTagRuleIsThatOfRedisCluster) {
  for (const auto& [key, tag] : std::map<std::string, std::string>{{"{}x", "{}x"},
                                                                   {"{}{a}", "{}{a}"},
                                                                   {"foo{}{bar}", "foo{}{bar}"},
                                                                   {"{{a}}", "{a"},
                                                                   {"foo{bar}{zap}", "bar"},
                                                                   {"}{a}", "a"},
                                                                   {"a{b", "a{b"},
                                                                   {"", ""}}) {
    EXPECT_EQ(redis_hash_tag(key), tag) << key;
  }
  const auto ring = *make_scheme({}, five_nodes());
  EXPECT_EQ(ring->tag("a{b}c"), "b");
  EXPECT_EQ(ring->owner("a{b}c"), ring->owner("b"));
}

TEST(Ring, ATagIsFoundWhereverItStandsInKeysOfAnyLength) {
  for (size_t length = 2; length < 100; ++length) {
    const std::string plain(length, 'k');
    EXPECT_EQ(redis_hash_tag(plain), plain);
    EXPECT_EQ(redis_hash_tag(plain + "\xfb\x7a\x7c"), plain + "\xfb\x7a\x7c");  // bytes near '{'
    for (size_t at = 0; at + 3 <= length; ++at) {
      std::string key = plain;
      key.replace(at, 3, "{t}");
      EXPECT_EQ(redis_hash_tag(key), "t") << key;
    }
  }
}

TEST(Ring, AWeightAddsOrRemovesOnlyTheLastTokens) {
  EXPECT_EQ(vnode_count(512, 0), 0u);
  EXPECT_EQ(vnode_count(512, 1), 1u);
  EXPECT_EQ(vnode_count(512, 1000), 512u);
  EXPECT_EQ(vnode_count(512, 1500), 768u);
  EXPECT_EQ(vnode_count(1, 1499), 1u);
  EXPECT_EQ(vnode_count(1, 1500), 2u);
  EXPECT_EQ(vnode_count(512, kWeightMilliMax), 512'000u);
}

TEST(Ring, ADrainedNodeOwnsNothingAndIsInNoList) {
  auto members = five_nodes();
  members[2].weight_milli = 0;
  const auto ring = *make_scheme({}, members);
  for (int i = 0; i < 1000; ++i) {
    const auto list = list_of(*ring, members, std::to_string(i), 5);
    EXPECT_EQ(list.size(), 4u);
    EXPECT_THAT(list, ::testing::Not(::testing::Contains("n3")));
  }
}

TEST(Ring, OfEqualTokensTheSmallerLabelOwnsAndTheOtherStaysNext) {
  // Two nodes with one label have the same tokens everywhere; then the smaller name owns.
  const std::vector<Member> members = {{.name = "b", .label = "x"}, {.name = "a", .label = "x"}};
  const auto ring = *make_scheme({}, members);
  EXPECT_THAT(list_of(*ring, members, "k", 2), ElementsAre("a", "b"));
}

TEST(Ring, ALabelKeepsAnotherIdentity) {
  const std::vector<Member> plain = {{.name = "n1"}, {.name = "n2"}};
  const std::vector<Member> renamed = {{.name = "x", .label = "n1"}, {.name = "y", .label = "n2"}};
  const auto a = *make_scheme({}, plain);
  const auto b = *make_scheme({}, renamed);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(a->owner(std::to_string(i)), b->owner(std::to_string(i)));
}

TEST(Ring, TooManyTokensAreRefused) {
  std::vector<Member> members = {{.name = "a", .weight_milli = kWeightMilliMax}};
  const auto made = make_scheme({.options = {{"vnodes", "16778"}}}, members);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("16778000 tokens in all: at most 16777216"));
}

TEST(Ring, OptionsOutOfRangeAreRefused) {
  for (const char* bad : {"0", "-1", "1048577", "many"}) {
    EXPECT_FALSE(make_scheme({.options = {{"vnodes", bad}}}, five_nodes())) << bad;
  }
}

TEST(Ring, FewTokensAreWarnedOf) {
  auto members = five_nodes();
  members[1].weight_milli = 10;
  EXPECT_THAT(placement_warnings({}, members), ElementsAre(HasSubstr("node n2: only 5 tokens")));
  EXPECT_EQ(placement_warnings({.options = {{"vnodes", "31"}}}, five_nodes()).size(), 5u);
  EXPECT_EQ(placement_warnings({.options = {{"vnodes", "32"}}}, five_nodes()).size(), 0u);
}

TEST(Ring, TheBatchAnswersWhatOneByOneAnswers) {
  const auto ring = *make_scheme({}, five_nodes());
  std::vector<std::string> keys;
  for (int i = 0; i < 333; ++i) keys.push_back("key:{" + std::to_string(i) + "}:x");
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<NodeIndex> owners(keys.size());
  ring->owners(views, owners);
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(owners[i], ring->owner(keys[i]));
}

TEST(Ring, ARingMadeFromAnotherOneTakesOverridesAndRefusesWhatMakeRefuses) {
  const SchemeSpec before = {.options = {{"override.key.k", "b"}}};
  const SchemeSpec after = {.options = {{"override.key.k", "c"}}};
  const std::vector<Member> two = {{.name = "a"}, {.name = "b"}};
  const std::vector<Member> three = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  const auto old = *make_scheme(before, two);
  const MadeScheme made = {*old, before, two};
  EXPECT_EQ((*remake_scheme(made, after, three))->owner("k"), 2u);
  EXPECT_EQ(remake_scheme(made, after, two).error().message, make_scheme(after, two).error().message);
  const SchemeSpec other_seed = {.options = {{"seed", "7"}}};
  const SchemeSpec other_scheme = {.name = "jump", .options = {}};
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key:" + std::to_string(i);
    EXPECT_EQ((*remake_scheme(made, other_seed, three))->owner(key), (*make_scheme(other_seed, three))->owner(key));
    EXPECT_EQ((*remake_scheme(made, other_scheme, three))->owner(key), (*make_scheme(other_scheme, three))->owner(key));
  }
}

}  // namespace
}  // namespace slipring
