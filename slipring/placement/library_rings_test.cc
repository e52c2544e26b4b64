// Rings of Go libraries, and jump over XXH64: groupcache, stathat, go-jump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/hash/xx.h"
#include "slipring/placement/fleet_for_test.h"
#include "slipring/placement/jump.h"
#include "slipring/placement/point_scheme.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;

const PointRing<uint32_t>& ring_of(const Scheme& scheme) {
  return dynamic_cast<const PointScheme<uint32_t>&>(scheme).ring();
}

TEST(Groupcache, OwnersAreTheRecordedOnes) {
  const auto scheme = *make_scheme({.name = "groupcache"}, addresses_for_test(3));
  EXPECT_EQ(ring_of(*scheme).size(), 150u);
  EXPECT_EQ(scheme->owner("key:0"), 0u);
  EXPECT_EQ(scheme->owner("key:1"), 2u);
  EXPECT_EQ(scheme->owner("key:3"), 1u);
}

// A point of "1" + "0a" is a point of "10" + "a": the node added later owns it.
TEST(Groupcache, OfEqualPointsTheLaterNodeOwns) {
  const SchemeSpec spec{.name = "groupcache", .options = {{"replicas", "11"}}};
  const auto scheme = *make_scheme(spec, fleet_for_test({"a", "0a"}));
  EXPECT_EQ(ring_of(*scheme).size(), 21u);
  EXPECT_EQ(scheme->owner("10a"), 1u);
  EXPECT_EQ((*make_scheme(spec, fleet_for_test({"0a", "a"})))->owner("10a"), 1u);
}

TEST(Groupcache, AKeyOnAPointIsOwnedByIt) {
  const auto scheme = *make_scheme({.name = "groupcache"}, fleet_for_test({"a", "b"}));
  EXPECT_EQ(scheme->owner("7a"), 0u);
  EXPECT_EQ(scheme->owner("7b"), 1u);
}

// The answers that the package's own tests assert.
TEST(Stathat, AnswersAreThoseOfThePackagesTests) {
  const auto scheme = *make_scheme({.name = "stathat"}, fleet_for_test({"abcdefg", "hijklmn", "opqrstu"}));
  EXPECT_EQ(scheme->owner("ggg"), 0u);
  EXPECT_EQ(scheme->owner("hhh"), 2u);
  EXPECT_EQ(scheme->owner("iiiii"), 1u);
  EXPECT_THAT(list_for_test(*scheme, "9999999", 3), ElementsAre(2, 0, 1));
}

TEST(Stathat, AKeyOnAPointBelongsToTheNextOne) {
  const auto scheme = *make_scheme({.name = "stathat"}, fleet_for_test({"a", "b", "c"}));
  const PointRing<uint32_t>& ring = ring_of(*scheme);
  for (const std::string key : {"3a", "3b", "3c"}) {
    const size_t next = ring.wrap(ring.after(ring.point(ring.at_or_after(0))));
    EXPECT_EQ(next, 1u);
    EXPECT_EQ(scheme->explain(key).range.front(), '[');
    EXPECT_EQ(scheme->explain(key).range.find(scheme->explain(key).point), 1u);
  }
}

TEST(Stathat, FnvIsAnotherRing) {
  const SchemeSpec fnv{.name = "stathat", .options = {{"hash", "fnv1a"}}};
  const auto one = *make_scheme({.name = "stathat"}, addresses_for_test(3));
  const auto other = *make_scheme(fnv, addresses_for_test(3));
  EXPECT_NE(ring_of(*one).point(0), ring_of(*other).point(0));
}

TEST(LibraryRings, TooManyPointsAndEqualLabelsAreRefused) {
  auto twins = fleet_for_test({"a", "b"});
  twins[1].label = "a";
  std::vector<Member> many;
  for (int i = 0; i < 2000; ++i) many.push_back({.name = "n" + std::to_string(i)});
  for (const char* name : {"groupcache", "stathat"}) {
    EXPECT_NE(error_for_test({.name = name}, twins), "none");
    EXPECT_NE(error_for_test({.name = name, .options = {{"replicas", "10000"}}}, many), "none");
  }
}

TEST(GoJump, IsJumpOverXxh64) {
  EXPECT_EQ(jump_hash(42, 57), 43u);
  EXPECT_EQ(jump_hash(0xdead10cc, 666), 361u);
  EXPECT_EQ(jump_hash(256, 1024), 520u);
  const auto scheme = *make_scheme({.name = "go-jump"}, addresses_for_test(7));
  EXPECT_EQ(scheme->owner("{a}b"), jump_hash(xxh64("{a}b"), 7));
}

}  // namespace
}  // namespace slipring
