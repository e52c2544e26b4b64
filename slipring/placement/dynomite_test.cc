#include "slipring/placement/dynomite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/fleet_for_test.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Member> racks_of_two() {
  std::vector<Member> members;
  for (const char* zone : {"dc1/r1", "dc1/r2"}) {
    for (const char* token : {"1000000000", "3000000000"}) {
      members.push_back(
          {.name = "n" + std::to_string(members.size()), .zone = zone, .attributes = {{"tokens", token}}});
    }
  }
  return members;
}

TEST(Dynomite, TokensAreMurmur2SeededByTheLength) {
  EXPECT_EQ(dynomite_token(""), 0u);
  EXPECT_EQ(dynomite_token("key:0"), 1895216676u);
  EXPECT_EQ(dynomite_token("key:1"), 3691594071u);
  EXPECT_EQ(dynomite_token("key:2"), 1027041185u);
}

TEST(Dynomite, EveryRackHoldsTheKeyUnderItsOwnTokens) {
  const auto scheme = *make_scheme({.name = "dynomite"}, racks_of_two());
  EXPECT_EQ(scheme->owner("key:0"), 1u);
  EXPECT_THAT(list_for_test(*scheme, "key:0", 4), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(list_for_test(*scheme, "key:1", 2), ElementsAre(0, 2));
  EXPECT_EQ(scheme->explain("key:0").range, "(1000000000, 3000000000]");
}

TEST(Dynomite, TheLocalRackComesFirst) {
  const SchemeSpec spec{.name = "dynomite", .options = {{"rack", "dc1/r2"}}};
  EXPECT_THAT(list_for_test(**make_scheme(spec, racks_of_two()), "key:0", 2), ElementsAre(3, 1));
}

TEST(Dynomite, AHashTagOfTwoCharactersCountsIfItIsFilled) {
  const auto scheme = *make_scheme({.name = "dynomite", .options = {{"hash_tag", "<>"}}}, racks_of_two());
  EXPECT_EQ(scheme->tag("a<key:1>b"), "key:1");
  EXPECT_EQ(scheme->tag("a<>b"), "a<>b");
  EXPECT_EQ(scheme->tag("a<b"), "a<b");
  EXPECT_EQ(scheme->owner("a<key:1>b"), scheme->owner("key:1"));
}

TEST(Dynomite, TokensOutOfTheSpaceAndTwiceInARackAreRefused) {
  auto members = racks_of_two();
  members[1].attributes["tokens"] = "4294967296";
  EXPECT_THAT(error_for_test({.name = "dynomite"}, members), HasSubstr("node n1: token \"4294967296\""));
  members[1].attributes["tokens"] = "5,1000000000";
  EXPECT_THAT(error_for_test({.name = "dynomite"}, members), HasSubstr("token 1000000000: named by n0 and by n1"));
  EXPECT_THAT(error_for_test({.name = "dynomite"}, fleet_for_test({"a"})), HasSubstr("node a: token \"\""));
  EXPECT_THAT(error_for_test({.name = "dynomite", .options = {{"rack", "x"}}}, racks_of_two()),
              HasSubstr("no node in"));
  EXPECT_THAT(error_for_test({.name = "dynomite", .options = {{"hash_tag", "{"}}}, racks_of_two()),
              HasSubstr("two characters"));
}

}  // namespace
}  // namespace slipring
