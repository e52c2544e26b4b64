#include "slipring/placement/spymemcached.h"

#include <gtest/gtest.h>

#include "slipring/hash/utf.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

// Recorded: its LIBMEMCACHED format is libmemcached's weighted ketama with MD5.
TEST(Spymemcached, TheLibmemcachedFormatAgreesWithLibmemcached) {
  const SchemeSpec spy = {"spymemcached", {{"key_format", "LIBMEMCACHED"}}};
  const SchemeSpec libmemcached = {"libmemcached", {{"ketama_weighted", "true"}}};
  const std::vector<Member> members = labelled({"a:11211", "b", "c:5"});
  EXPECT_EQ(owners_of(spy, members), owners_of(libmemcached, members));
  EXPECT_EQ(owners_of(spy, weighted(members, {1, 2, 5})), owners_of(libmemcached, weighted(members, {1, 2, 5})));
}

TEST(Spymemcached, ItsOwnFormatIsHashringsAndNamesTheResolvedAddress) {
  const SchemeSpec spy = {"spymemcached", {}};
  EXPECT_EQ(owners_of(spy, fleet_of(5)), owners_of({"npm-hashring", {}}, fleet_of(5)));
  std::vector<Member> resolved = labelled({"a", "b:7"});
  resolved[0].attributes["ip"] = "10.0.0.1";
  resolved[1].attributes["ip"] = "10.0.0.2";
  EXPECT_EQ(owners_of(spy, resolved), owners_of({"npm-hashring", {}}, labelled({"a/10.0.0.1:11211", "b/10.0.0.2:7"})));
}

TEST(Spymemcached, ArrayModIgnoresWeightsAndCountsUtf16Units) {
  const SchemeSpec mod = {"spymemcached", {{"locator", "array_mod"}, {"hash", "NATIVE_HASH"}}};
  const auto scheme = scheme_of(mod, weighted(fleet_of(3), {1, 9, 2}));
  for (const std::string& key : {std::string("abc"), std::string("\xc3\xa9"), std::string("\xf0\x9f\x98\x80")})
    EXPECT_EQ(scheme->owner(key), java_hash_code(key) % 3);
}

TEST(Spymemcached, HashAlgorithmsMakePointsToo) {
  const auto ketama = owners_of({"spymemcached", {}}, fleet_of(5));
  for (const char* hash : {"NATIVE_HASH", "CRC_HASH", "FNV1_64_HASH", "FNV1A_32_HASH"})
    EXPECT_NE(owners_of({"spymemcached", {{"hash", hash}}}, fleet_of(5)), ketama) << hash;
}

TEST(Spymemcached, AServerOfWeightZeroOwnsNothingButCountsAndArrayModIgnoresIt) {
  const std::vector<Member> drained = weighted(fleet_of(3), {1, 0, 2});
  const SchemeSpec spy = {"spymemcached", {}};
  EXPECT_NE(owner_labels(spy, drained), owner_labels(spy, {drained[0], drained[2]}));
  for (const NodeIndex owner : owners_of(spy, drained)) EXPECT_NE(owner, 1u);
  EXPECT_NE(refusal(spy, weighted(fleet_of(2), {0, 0})), "accepted");
  const SchemeSpec mod = {"spymemcached", {{"locator", "array_mod"}}};
  EXPECT_EQ(owners_of(mod, drained), owners_of(mod, fleet_of(3)));
}

// 25 equal servers have 156 points by the formula of weights, 160 without.
TEST(Spymemcached, GivenWeightsCountEvenIfAllAreOne) {
  const SchemeSpec given = {"spymemcached", {{"weighted", "true"}}};
  EXPECT_EQ(owners_of(given, fleet_of(5)), owners_of({"spymemcached", {}}, fleet_of(5)));
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i) keys.push_back("k" + std::to_string(i));
  EXPECT_NE(owners_of(given, fleet_of(25), keys), owners_of({"spymemcached", {}}, fleet_of(25), keys));
}

}  // namespace
}  // namespace slipring
