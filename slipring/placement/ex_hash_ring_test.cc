#include "slipring/placement/ex_hash_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/placement/erlang_sort.h"
#include "slipring/placement/fleet_for_test.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Where the elements of a list, told apart by their places, end up.
std::vector<size_t> places_after_sort(const std::vector<int>& keys) {
  std::vector<std::pair<int, size_t>> items;
  for (size_t i = 0; i < keys.size(); ++i) items.emplace_back(keys[i], i);
  items = erlang_sort(std::move(items), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<size_t> places;
  for (const auto& [key, place] : items) places.push_back(place);
  return places;
}

// Printed by lists:sort(fun({A, _}, {B, _}) -> A < B end, ...) of Erlang/OTP 25.
TEST(ErlangSort, LeavesEqualElementsInErlangsOrder) {
  EXPECT_THAT(places_after_sort({}), IsEmpty());
  EXPECT_THAT(places_after_sort({1}), ElementsAre(0));
  EXPECT_THAT(places_after_sort({1, 1}), ElementsAre(1, 0));
  EXPECT_THAT(places_after_sort({1, 1, 1}), ElementsAre(2, 1, 0));
  EXPECT_THAT(places_after_sort({2, 2, 1, 1}), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(places_after_sort({1, 2, 2, 3, 1, 1, 2}), ElementsAre(5, 4, 0, 6, 2, 1, 3));
  EXPECT_THAT(places_after_sort({5, 3, 5, 3, 1, 5, 3, 1, 1, 5, 2, 2}),
              ElementsAre(8, 7, 4, 11, 10, 6, 3, 1, 9, 5, 2, 0));
  EXPECT_THAT(places_after_sort({2, 0, 2, 1, 0, 2, 1, 1, 0, 0, 2, 1, 2, 0, 1, 1, 2}),
              ElementsAre(13, 9, 8, 4, 1, 15, 14, 11, 7, 6, 3, 16, 12, 10, 5, 2, 0));
}

TEST(ErlangSort, SortsAsAnyOther) {
  EXPECT_TRUE(rc::check([](std::vector<int> numbers) {
    std::vector<int> expected = numbers;
    std::sort(expected.begin(), expected.end());
    RC_ASSERT(erlang_sort(numbers, std::less<>()) == expected);
  }));
}

ExHashRing ring_of(std::initializer_list<ExHashRing::Node> nodes, ExHashRing::Overrides overrides = {}) {
  return ExHashRing(std::vector<ExHashRing::Node>(nodes), std::move(overrides));
}

TEST(ExHashRing, OwnersAreTheRecordedOnes) {
  const ExHashRing ring = ring_of({{"node0"}, {"node1"}, {"node2"}});
  EXPECT_THAT(ring.find_nodes("", 1), ElementsAre("node2"));
  EXPECT_THAT(ring.find_nodes("key:0", 1), ElementsAre("node1"));
  EXPECT_THAT(ring.find_nodes("key:1", 1), ElementsAre("node0"));
}

TEST(ExHashRing, OverridesComeFirstAndTheRingFillsUp) {
  const ExHashRing ring =
      ring_of({{"node0"}, {"node1"}, {"node2"}, {"node3"}, {"node4"}}, {
                                                                           {"key:0", {"node3"}},
                                                                           {"key:3", {"elsewhere"}},
                                                                           {"key:4", {}},
                                                                           {"key:5", {"node0", "node0"}},
                                                                       });
  EXPECT_THAT(ring.find_nodes("key:0", 3), ElementsAre("node3", "node1", "node0"));
  EXPECT_THAT(ring.find_nodes("key:3", 3), ElementsAre("elsewhere", "node1", "node3"));
  EXPECT_THAT(ring.find_nodes("key:4", 3), ElementsAre("node0", "node4", "node3"));
  EXPECT_THAT(ring.find_nodes("key:5", 3), ElementsAre("node0", "node0", "node2"));
  EXPECT_THAT(ring.find_nodes("key:5", 1), ElementsAre("node0"));
  EXPECT_THAT(ring.find_nodes("key:5", 0), IsEmpty());
}

TEST(ExHashRing, AskingForMoreNodesThanHavePointsEnds) {
  const ExHashRing ring = ring_of({{"a", 3}, {"b", 0}});
  EXPECT_THAT(ring.find_nodes("k", 5), ElementsAre("a"));
}

// "node1" + "12" and "node11" + "2" are one text, so one point: it has one owner, and that is the same in every run.
TEST(ExHashRing, ClashingNamesShareAPoint) {
  const ExHashRing ring = ring_of({{"node1", 20}, {"node11", 5}});
  EXPECT_EQ(ring.ring().size(), 20u + 5u - 5u);
}

TEST(ExHashRing, TheOptionWritesOverridesAsText) {
  const auto overrides = parse_ex_hash_overrides("key:0=n1,n2;a%3Bb%3d=n1;empty=");
  ASSERT_TRUE(overrides) << overrides.error().message;
  EXPECT_THAT(overrides->at("key:0"), ElementsAre("n1", "n2"));
  EXPECT_THAT(overrides->at("a;b="), ElementsAre("n1"));
  EXPECT_THAT(overrides->at("empty"), IsEmpty());
  EXPECT_TRUE(parse_ex_hash_overrides("")->empty());
  for (const char* bad : {"key", "k=n;k=m", "k=%", "k=%4", "k=%zz", "%4=n"}) {
    EXPECT_FALSE(parse_ex_hash_overrides(bad)) << bad;
  }
}

TEST(ExHashRing, TheSchemeListsDistinctMembersOverridesFirst) {
  SchemeSpec spec{.name = "ex-hash-ring", .options = {{"overrides", "key:5=node2,node2"}}};
  const auto members = fleet_for_test({"node0", "node1", "node2"});
  const auto scheme = *make_scheme(spec, members);
  EXPECT_EQ(scheme->owner("key:5"), 2u);
  EXPECT_EQ(scheme->owner("key:0"), 1u);
  const auto list = list_for_test(*scheme, "key:5", 9);
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.front(), 2u);
  spec.options["overrides"] = "k=elsewhere";
  EXPECT_THAT(error_for_test(spec, members), HasSubstr("no node is named \"elsewhere\""));
}

TEST(ExHashRing, ReplicasAreBoundedAndNotAllZero) {
  auto members = fleet_for_test({"a", "b"});
  members[0].attributes["replicas"] = "0";
  EXPECT_EQ((*make_scheme({.name = "ex-hash-ring"}, members))->owner("k"), 1u);
  members[1].attributes["replicas"] = "0";
  EXPECT_THAT(error_for_test({.name = "ex-hash-ring"}, members), HasSubstr("0 replicas"));
  members[1].attributes["replicas"] = "65537";
  EXPECT_THAT(error_for_test({.name = "ex-hash-ring"}, members), HasSubstr("must be"));
}

}  // namespace
}  // namespace slipring
