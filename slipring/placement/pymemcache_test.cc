#include "slipring/placement/pymemcache.h"

#include <gtest/gtest.h>

#include "slipring/hash/murmur.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const SchemeSpec kStr = {"pymemcache", {}};
const SchemeSpec kBytes = {"pymemcache", {{"key_type", "bytes"}}};

TEST(Pymemcache, TheHighestScoreOwnsAndTheOthersFollowByScore) {
  const std::vector<Member> members = fleet_of(8);
  const auto scheme = scheme_of(kStr, members);
  for (int i = 0; i < 100; ++i) {
    const std::string key = "user:" + std::to_string(i);
    std::vector<NodeIndex> list(8);
    ASSERT_EQ(scheme->preference_list(key, list), 8u);
    EXPECT_EQ(scheme->owner(key), list[0]);
    for (size_t k = 1; k < list.size(); ++k) {
      EXPECT_GE(murmur3_32(members[list[k - 1]].label + "-" + key, 0),
                murmur3_32(members[list[k]].label + "-" + key, 0));
    }
  }
}

// U+00E9 and U+01E9 have the same low byte; so has the byte 0xe9, which is no UTF-8.
TEST(Pymemcache, CharactersAreCutToEightBits) {
  const std::vector<std::string> keys = {"\xc3\xa9", "\xc7\xa9", "\xe9"};
  const auto scheme = scheme_of(kStr, fleet_of(50));
  EXPECT_EQ(scheme->owner(keys[0]), scheme->owner(keys[1]));
  EXPECT_EQ(scheme->owner(keys[0]), scheme->owner(keys[2]));
}

TEST(Pymemcache, ABytesKeyIsHashedAsPythonWritesIt) {
  EXPECT_EQ(owners_of(kBytes, fleet_of(50), {"user:1", "a'b", "\xc3\xa9", "tab\t\\"}),
            owners_of(kStr, fleet_of(50), {"b'user:1'", "b\"a'b\"", "b'\\xc3\\xa9'", "b'tab\\t\\\\'"}));
}

TEST(Pymemcache, OnlyTheKeysOfARemovedNodeMove) {
  const std::vector<Member> ten = fleet_of(10);
  std::vector<Member> nine = ten;
  nine.erase(nine.begin() + 7);
  const auto before = owner_labels(kStr, ten);
  const auto after = owner_labels(kStr, nine);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == ten[7].label || before[i] == after[i]);
}

TEST(Pymemcache, SeedAndDuplicates) {
  EXPECT_NE(owners_of(kStr, fleet_of(5)), owners_of({"pymemcache", {{"seed", "42"}}}, fleet_of(5)));
  EXPECT_NE(refusal(kStr, labelled({"a:1", "a:1"})).find("used twice"), std::string::npos);
}

}  // namespace
}  // namespace slipring
