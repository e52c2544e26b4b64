#include "slipring/placement/trafficserver.h"

#include <gtest/gtest.h>

#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const SchemeSpec kConsider = {"trafficserver", {}};
const SchemeSpec kIgnore = {"trafficserver", {{"qstring", "ignore"}}};

std::vector<std::string> paths(const std::string& front, const std::string& back) {
  std::vector<std::string> list;
  for (int i = 0; i < 200; ++i) list.push_back(front + "p" + std::to_string(i) + back);
  return list;
}

TEST(Trafficserver, ParamsAndFragmentAreDroppedAndTheSlashIsAlwaysThere) {
  const std::vector<Member> members = labelled({"a", "b", "c"});
  const auto plain = owners_of(kConsider, members, paths("/", ""));
  EXPECT_EQ(owners_of(kConsider, members, paths("/", ";v=1")), plain);
  EXPECT_EQ(owners_of(kConsider, members, paths("/", "#top")), plain);
  EXPECT_EQ(owners_of(kConsider, members, paths("", "")), plain);
  EXPECT_EQ(owners_of(kConsider, members, paths("/", ";v?q=1")), owners_of(kConsider, members, paths("/", "?q=1")));
}

TEST(Trafficserver, ABareQuestionMarkCountsUnlessTheQueryIsIgnored) {
  const std::vector<Member> members = labelled({"a", "b", "c"});
  const auto plain = owners_of(kConsider, members, paths("/", ""));
  EXPECT_NE(owners_of(kConsider, members, paths("/", "?")), plain);
  EXPECT_EQ(owners_of(kIgnore, members, paths("/", "?")), plain);
  EXPECT_EQ(owners_of(kIgnore, members, paths("/", "?q=1")), plain);
}

TEST(Trafficserver, OfParentsWithOneNameTheFirstListedTakesAll) {
  const std::vector<Member> members = labelled({"10.0.0.1", "10.0.0.1", "10.0.0.2"});
  const auto owners = owners_of(kConsider, members);
  for (const NodeIndex owner : owners) EXPECT_NE(owner, 1u);
  EXPECT_EQ(owner_labels(kConsider, members), owner_labels(kConsider, {members[0], members[2]}));
}

TEST(Trafficserver, RemovingAParentMovesOnlyItsKeys) {
  const std::vector<Member> ten = fleet_of(10);
  std::vector<Member> nine = ten;
  nine.erase(nine.begin() + 5);
  const auto before = owner_labels(kConsider, ten);
  const auto after = owner_labels(kConsider, nine);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == ten[5].label || before[i] == after[i]);
}

}  // namespace
}  // namespace slipring
