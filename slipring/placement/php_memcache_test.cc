#include "slipring/placement/php_memcache.h"

#include <gtest/gtest.h>

#include "slipring/hash/crc.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

// The ring is only looked at in 1,024 places, so hashes that are equal modulo 1,024 have one owner.
TEST(PhpMemcache, ConsistentOwnersDependOnTheHashModulo1024) {
  const auto scheme = scheme_of({"php-memcache", {}}, fleet_of(7));
  std::vector<NodeIndex> owner_of_bucket(1024, kNoNode);
  for (int i = 0; i < 20000; ++i) {
    const std::string key = "user:" + std::to_string(i);
    NodeIndex& known = owner_of_bucket[crc32(key) % 1024];
    if (known == kNoNode) known = scheme->owner(key);
    EXPECT_EQ(known, scheme->owner(key)) << key;
  }
}

TEST(PhpMemcache, RemovingAServerMovesOnlyItsKeys) {
  const std::vector<Member> ten = fleet_of(10);
  std::vector<Member> nine = ten;
  nine.erase(nine.begin() + 4);
  const auto before = owner_labels({"php-memcache", {}}, ten);
  const auto after = owner_labels({"php-memcache", {}}, nine);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == ten[4].label || before[i] == after[i]);
}

TEST(PhpMemcache, HashFunctionsAndStrategiesDiffer) {
  const auto owners = owners_of({"php-memcache", {}}, fleet_of(10));
  EXPECT_NE(owners, owners_of({"php-memcache", {{"hash_function", "fnv"}}}, fleet_of(10)));
  EXPECT_NE(owners, owners_of({"php-memcache", {{"strategy", "standard"}}}, fleet_of(10)));
  EXPECT_EQ(owners,
            owners_of({"php-memcache", {{"strategy", "consistent"}, {"hash_function", "crc32"}}}, fleet_of(10)));
}

TEST(PhpMemcache, AMissingPortIs11211) {
  EXPECT_EQ(owners_of({"php-memcache", {}}, labelled({"a", "b"})),
            owners_of({"php-memcache", {}}, labelled({"a:11211", "b:11211"})));
}

}  // namespace
}  // namespace slipring
