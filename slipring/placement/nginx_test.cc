#include "slipring/placement/nginx.h"

#include <gtest/gtest.h>

#include <set>

#include "slipring/hash/hashkit.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const SchemeSpec kNginxConsistent = {"nginx", {{"method", "consistent"}}};
const SchemeSpec kHash = {"nginx", {{"method", "hash"}}};

void put_down(std::vector<Member>* members, std::initializer_list<size_t> down) {
  for (const size_t i : down) (*members)[i].attributes["down"] = "true";
}

TEST(Nginx, ADirectiveWithoutPortDiffersFromOneWithPort80) {
  const auto bare = owners_of(kNginxConsistent, labelled({"a", "b", "c"}));
  EXPECT_NE(bare, owners_of(kNginxConsistent, labelled({"a:80", "b:80", "c:80"})));
  EXPECT_EQ(bare, owners_of(kNginxConsistent, labelled({"unix:a", "b:", "c"})));
}

TEST(Nginx, HashGivesEachServerItsWeightInSlots) {
  const std::vector<Member> members = weighted(fleet_of(3), {3, 1, 2});
  const NodeIndex slots[] = {0, 0, 0, 1, 2, 2};
  const auto scheme = scheme_of(kHash, members);
  for (const std::string& key : some_keys()) {
    if (key.empty()) continue;
    EXPECT_EQ(scheme->owner(key), slots[crc32_15_bits(key) % 6]);
  }
}

TEST(Nginx, KeysOfAServerThatIsDownGoToOthersAndTheRestStay) {
  for (const SchemeSpec& spec : {kNginxConsistent, kHash}) {
    const std::vector<Member> up = fleet_of(6);
    std::vector<Member> down = up;
    put_down(&down, {1, 4});
    const auto before = owners_of(spec, up);
    const auto after = owners_of(spec, down);
    for (size_t i = 0; i < before.size(); ++i) {
      const bool lost = before[i] == 1 || before[i] == 4;
      EXPECT_TRUE(lost ? after[i] != 1 && after[i] != 4 : after[i] == before[i]);
    }
  }
}

// What nginx leaves to round robin: an empty key, and a key for which every try met a server that is down.
TEST(Nginx, WhatIsNotPlacedByItsKeyGoesToTheHeaviestServerThatIsUp) {
  std::vector<Member> members = weighted(fleet_of(4), {1, 7, 5, 5});
  put_down(&members, {1});
  for (const SchemeSpec& spec : {kNginxConsistent, kHash})
    EXPECT_EQ(owners_of(spec, members, {""}), std::vector<NodeIndex>{2});
  std::vector<Member> crowd = fleet_of(200);
  for (size_t i = 0; i + 1 < crowd.size(); ++i) put_down(&crowd, {i});
  for (const SchemeSpec& spec : {kNginxConsistent, kHash})
    EXPECT_EQ(owners_of(spec, crowd), std::vector<NodeIndex>(some_keys().size(), 199));
}

TEST(Nginx, PreferenceListsLeaveOutWhatIsDown) {
  std::vector<Member> members = fleet_of(5);
  put_down(&members, {0});
  const auto scheme = scheme_of(kNginxConsistent, members);
  for (const std::string& key : some_keys()) {
    std::vector<NodeIndex> list(5);
    list.resize(scheme->preference_list(key, list));
    EXPECT_EQ(list.size(), 4u);
    EXPECT_EQ(list.front(), scheme->owner(key));
    EXPECT_EQ(std::set<NodeIndex>(list.begin(), list.end()), (std::set<NodeIndex>{1, 2, 3, 4}));
  }
}

TEST(Nginx, RefusesAllDownAndTheSameDirectiveTwice) {
  std::vector<Member> members = fleet_of(2);
  put_down(&members, {0, 1});
  EXPECT_NE(refusal(kHash, members).find("every server is down"), std::string::npos);
  EXPECT_NE(refusal(kNginxConsistent, labelled({"a", "a"})).find("used twice"), std::string::npos);
  EXPECT_EQ(refusal(kHash, labelled({"a", "a"})), "accepted");
}

}  // namespace
}  // namespace slipring
