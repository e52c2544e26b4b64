// Rings with other hashes, labels, successors, spaces, given tokens and equal partitions.
#include "slipring/placement/ring_variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "slipring/base/random.h"

namespace slipring {
namespace {

using ::testing::HasSubstr;
using Options = std::map<std::string, std::string>;

std::vector<Member> three() {
  return {{.name = "A"}, {.name = "B"}, {.name = "C"}};
}

std::vector<Member> with_tokens() {
  return {{.name = "A", .attributes = {{"tokens", "40"}}},
          {.name = "B", .attributes = {{"tokens", "150"}}},
          {.name = "C", .attributes = {{"tokens", "280"}}}};
}

std::string owner(const Scheme& scheme, const std::vector<Member>& members, std::string_view key) {
  return members[scheme.owner(key)].name;
}

std::string variant_error(const Options& options, const std::vector<Member>& members) {
  auto made = make_scheme({.options = options}, members);
  return made ? "no error" : made.error().to_string();
}

TEST(RingVariants, NodesAt40And150And280OwnAsOnPaper) {
  const auto members = with_tokens();
  const auto ring = *make_scheme({.options = {{"hash", "decimal"}, {"space", "360"}}}, members);
  EXPECT_EQ(owner(*ring, members, "10"), "A");
  EXPECT_EQ(owner(*ring, members, "120"), "B");
  EXPECT_EQ(owner(*ring, members, "40"), "A");
  EXPECT_EQ(owner(*ring, members, "41"), "B");
  EXPECT_EQ(owner(*ring, members, "280"), "C");
  EXPECT_EQ(owner(*ring, members, "281"), "A");
  EXPECT_EQ(owner(*ring, members, "370"), "A");
  EXPECT_EQ(ring->explain("120").point, "120");
  EXPECT_EQ(ring->explain("120").range, "(40, 150]");
}

TEST(RingVariants, AStrictSuccessorLeavesATokenToTheNextNode) {
  const auto members = with_tokens();
  const auto ring =
      *make_scheme({.options = {{"hash", "decimal"}, {"space", "360"}, {"successor", "strict"}}}, members);
  EXPECT_EQ(owner(*ring, members, "39"), "A");
  EXPECT_EQ(owner(*ring, members, "40"), "B");
  EXPECT_EQ(owner(*ring, members, "280"), "A");
}

TEST(RingVariants, SpelledOutDefaultsAreTheNativeRing) {
  const auto members = three();
  const auto native = *make_scheme({}, members);
  const auto variant = *make_scheme({.options = {{"tag", "none"}}}, members);
  for (int i = 0; i < 500; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(native->owner(key), variant->owner(key));
    EXPECT_EQ(native->explain(key).range, variant->explain(key).range);
  }
  EXPECT_EQ(variant->tag("a{b}"), "a{b}");
}

TEST(RingVariants, EveryHashGivesAllAShareAndGoodOnesAFairOne) {
  const auto members = three();
  const std::map<std::string, size_t> digits = {{"xxh3", 16}, {"murmur3", 16}, {"fnv1a", 16},
                                                {"crc32", 8}, {"md5", 32},     {"sha1", 40}};
  for (const auto& [hash, width] : digits) {
    const auto ring = *make_scheme({.options = {{"hash", hash}, {"label", "{name}#{i}"}}}, members);
    std::map<NodeIndex, int> count;
    for (int i = 0; i < 3000; ++i) ++count[ring->owner(std::to_string(i * 7919) + "-key-" + std::to_string(i))];
    EXPECT_EQ(count.size(), 3u) << hash;
    const bool uneven = hash == "fnv1a" || hash == "crc32";  // on short similar labels
    for (const auto& [node, keys] : count) EXPECT_NEAR(keys, 1000, uneven ? 999 : 350) << hash;
    EXPECT_EQ(ring->explain("x").point.size(), width) << hash;
  }
}

TEST(RingVariants, Sha1PointsAreTheDigest) {
  const auto ring = *make_scheme({.options = {{"hash", "sha1"}}}, three());
  EXPECT_EQ(ring->explain("abc").point, "a9993e364706816aba3e25717850c26c9cd0d89d");
  const auto md5_ring = *make_scheme({.options = {{"hash", "md5"}}}, three());
  EXPECT_EQ(md5_ring->explain("abc").point, "900150983cd24fb0d6963f7d28e17f72");
}

TEST(RingVariants, PartitionsAreOwnedAsAWholeByTheNodeAfterTheirEnd) {
  const auto members = with_tokens();
  const Options options = {{"hash", "decimal"}, {"space", "360"}, {"partitions", "6"}};
  const auto ring = *make_scheme({.options = options}, members);
  // Partitions end at 59, 119, 179, 239, 299, 359; the tokens after these are 150, 150, 280, 280, 40, 40.
  const char* owners[] = {"B", "B", "C", "C", "A", "A"};
  for (int key = 0; key < 360; ++key) {
    EXPECT_EQ(owner(*ring, members, std::to_string(key)), owners[key / 60]) << key;
  }
  EXPECT_EQ(ring->explain("61").range, "partition 1 of 6");
  EXPECT_EQ(ring->ownership()->ranges.size(), 6u);
}

TEST(RingVariants, ASpaceThatPartitionsDoNotDivideIsCoveredWithoutGap) {
  const Options options = {{"hash", "decimal"}, {"space", "100"}, {"partitions", "7"}};
  const auto ring = *make_scheme({.options = options}, three());
  const OwnershipMap map = *ring->ownership();
  EXPECT_EQ(map.ranges.back().end, 99u);
  for (uint64_t key = 0; key < 100; ++key) {
    size_t i = 0;
    while (map.ranges[i].end < key) ++i;
    EXPECT_EQ(ring->owner(std::to_string(key)), map.ranges[i].owner) << key;
  }
}

TEST(RingVariants, WeightsAndZonesWorkWithWidePointsToo) {
  std::vector<Member> members = three();
  members[0].weight_milli = 0;
  members[1].zone = members[2].zone = "z";
  const auto ring = *make_scheme({.options = {{"hash", "sha1"}}}, members);
  std::vector<NodeIndex> list(5);
  EXPECT_EQ(ring->preference_list("k", list), 2u);
  EXPECT_NE(ring->owner("k"), 0u);
}

TEST(RingVariants, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(variant_error({{"hash", "md4"}}, three()), HasSubstr("must be xxh3|murmur3"));
  EXPECT_THAT(variant_error({{"label", "{name}"}}, three()), HasSubstr("option label"));
  EXPECT_THAT(variant_error({{"hash", "md5"}, {"seed", "1"}}, three()), HasSubstr("hash md5 has no seed"));
  EXPECT_THAT(variant_error({{"hash", "sha1"}, {"space", "360"}}, three()), HasSubstr("at most 64 bits"));
  EXPECT_THAT(variant_error({{"hash", "crc32"}, {"space", "4294967297"}}, three()), HasSubstr("larger than the hash"));
  EXPECT_THAT(variant_error({{"space", "3"}, {"partitions", "4"}}, three()), HasSubstr("more than points"));
}

TEST(RingVariants, TokensOutOfTheSpaceOrMissingAreRefused) {
  auto members = with_tokens();
  members[1].attributes["tokens"] = "360";
  EXPECT_THAT(variant_error({{"space", "360"}}, members), HasSubstr("node B: token: 360: must be 0 to 359"));
  for (const char* bad : {"", "1,", ",1", "1,,2", "x", "-1", "18446744073709551616"}) {
    members[1].attributes["tokens"] = bad;
    EXPECT_THAT(variant_error({}, members), HasSubstr("node B: token")) << bad;
  }
  members[1].attributes.clear();
  EXPECT_THAT(variant_error({}, members), HasSubstr("node B: no tokens"));
}

}  // namespace
}  // namespace slipring
