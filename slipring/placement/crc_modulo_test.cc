#include "slipring/placement/crc_modulo.h"

#include <gtest/gtest.h>

#include "slipring/hash/hashkit.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

std::string key_with_hash_zero() {
  for (uint64_t i = 0;; ++i) {
    std::string key = "z:" + std::to_string(i);
    if (crc32_15_bits(key) == 0) return key;
  }
}

std::vector<std::string> keys_with_other_hashes() {
  std::vector<std::string> keys = some_keys();
  std::erase_if(keys, [](const std::string& key) { return crc32_15_bits(key) == 0; });
  return keys;
}

TEST(CrcModulo, OwnersFollowTheSlotsInListOrder) {
  const std::vector<Member> members = weighted(fleet_of(3), {1, 2, 1});
  const NodeIndex slots[] = {0, 1, 1, 2};
  const auto scheme = scheme_of({"perl-cache-memcached", {}}, members);
  for (const std::string& key : some_keys()) EXPECT_EQ(scheme->owner(key), slots[crc32_15_bits(key) % 4]);
}

TEST(CrcModulo, PythonAndPhpTurnAZeroHashIntoOne) {
  const std::vector<std::string> zero = {key_with_hash_zero()};
  EXPECT_EQ(owners_of({"perl-cache-memcached", {}}, fleet_of(3), zero), std::vector<NodeIndex>{0});
  EXPECT_EQ(owners_of({"python-memcached", {}}, fleet_of(3), zero), std::vector<NodeIndex>{1});
  EXPECT_EQ(owners_of({"php-memcache", {{"strategy", "standard"}}}, fleet_of(3), zero), std::vector<NodeIndex>{1});
}

TEST(CrcModulo, AllOfThemAgreeOnOtherKeys) {
  const std::vector<Member> members = weighted(fleet_of(5), {1, 2, 3, 5, 8});
  const auto keys = keys_with_other_hashes();
  const auto expected = owners_of({"perl-cache-memcached", {}}, members, keys);
  EXPECT_EQ(owners_of({"python-memcached", {}}, members, keys), expected);
  EXPECT_EQ(owners_of({"perl-cache-memcached-fast", {}}, members, keys), expected);
  EXPECT_EQ(owners_of({"php-memcache", {{"strategy", "standard"}}}, members, keys), expected);
}

TEST(CrcModulo, FastsKetamaWith160PointsIsNginxsConsistentHash) {
  const std::vector<Member> members = weighted(fleet_of(5), {1, 2, 3, 5, 8});
  std::vector<std::string> keys = some_keys();
  std::erase(keys, "");
  EXPECT_EQ(owners_of({"perl-cache-memcached-fast", {{"ketama_points", "160"}}}, members, keys),
            owners_of({"nginx", {{"method", "consistent"}}}, members, keys));
}

TEST(CrcModulo, FastTakesFractionsOfWeights) {
  std::vector<Member> members = fleet_of(2);
  members[0].weight_milli = 500;
  EXPECT_EQ(refusal({"perl-cache-memcached-fast", {}}, members), "accepted");
  EXPECT_EQ(refusal({"perl-cache-memcached-fast", {{"ketama_points", "1"}}}, members), "accepted");
  EXPECT_NE(refusal({"python-memcached", {}}, members).find("must be a whole number"), std::string::npos);
  for (Member& member : members) member.weight_milli = 100;
  EXPECT_NE(refusal({"perl-cache-memcached-fast", {}}, members), "accepted");
  EXPECT_NE(refusal({"perl-cache-memcached-fast", {{"ketama_points", "1"}}}, members), "accepted");
}

}  // namespace
}  // namespace slipring
