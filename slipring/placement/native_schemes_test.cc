// Native schemes other than the ring: known answers, refusals, slot tables, bounded load, overrides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "slipring/placement/bounded_load.h"
#include "slipring/placement/jump.h"
#include "slipring/placement/registry.h"
#include "slipring/placement/slots.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Options = std::map<std::string, std::string>;

std::vector<Member> nodes(std::initializer_list<const char*> names) {
  std::vector<Member> members;
  for (const char* name : names) members.push_back({.name = name});
  return members;
}

std::string error_of(const SchemeSpec& spec, const std::vector<Member>& members) {
  auto made = make_scheme(spec, members);
  return made ? "no error" : made.error().to_string();
}

// From the paper's algorithm run by hand in double precision, as in every published port.
TEST(Jump, GivesItsKnownAnswers) {
  EXPECT_EQ(jump_hash(1, 1), 0u);
  EXPECT_EQ(jump_hash(42, 57), 43u);
  EXPECT_EQ(jump_hash(0xdead10cc, 1), 0u);
  EXPECT_EQ(jump_hash(0xdead10cc, 666), 361u);
  EXPECT_EQ(jump_hash(256, 1024), 520u);
}

TEST(Maglev, TheTableMustBeAPrimeAboveTheNodes) {
  EXPECT_THAT(error_of({.name = "maglev", .options = {{"table", "1000"}}}, nodes({"a"})), HasSubstr("prime"));
  EXPECT_THAT(error_of({.name = "maglev", .options = {{"table", "3"}}}, nodes({"a", "b", "c"})), HasSubstr("above"));
}

TEST(Maglev, EqualNodesDifferByAtMostOneSlot) {
  const auto scheme =
      *make_scheme({.name = "maglev", .options = {{"table", "1009"}}}, nodes({"a", "b", "c", "d", "e", "f", "g"}));
  std::map<NodeIndex, int> count;
  const OwnershipMap map = *scheme->ownership();
  for (const OwnedRange& slot : map.ranges) ++count[slot.owner];
  for (const auto& [node, slots] : count) EXPECT_TRUE(slots == 144 || slots == 145) << slots;
}

TEST(AnchorAndDx, WeightsAreZeroOrOne) {
  for (const char* name : {"anchor", "dx"}) {
    auto members = nodes({"a", "b"});
    members[1].weight_milli = 2000;
    EXPECT_THAT(error_of({.name = name}, members), HasSubstr("node b: weight must be 0")) << name;
  }
  EXPECT_THAT(error_of({.name = "dx", .options = {{"places", "3"}}}, nodes({"a"})), HasSubstr("power of two"));
  EXPECT_THAT(error_of({.name = "dx", .options = {{"places", "2"}}}, nodes({"a", "b", "c"})), HasSubstr("at least 3"));
  EXPECT_THAT(error_of({.name = "anchor", .options = {{"capacity", "1"}}}, nodes({"a", "b"})), HasSubstr("fewer than"));
}

TEST(Anchor, NodesReturnInTheReverseOfTheOrderTheyWent) {
  auto members = nodes({"a", "b", "c", "d", "e", "f"});
  const auto owners = [&](const std::string& removed) {
    const auto scheme = *make_scheme({.name = "anchor", .options = {{"removed", removed}}}, members);
    std::vector<NodeIndex> all;
    for (int i = 0; i < 500; ++i) all.push_back(scheme->owner("k" + std::to_string(i)));
    return all;
  };
  members[4].weight_milli = 0;  // e went first
  const auto without_e = owners("e");
  members[1].weight_milli = 0;  // then b
  const auto without_e_b = owners("e,b");
  EXPECT_NE(without_e_b, owners("b,e"));
  for (size_t i = 0; i < without_e.size(); ++i) {
    EXPECT_TRUE(without_e[i] == 1 || without_e_b[i] == without_e[i]) << i;
  }
  EXPECT_THAT(error_of({.name = "anchor", .options = {{"removed", "a"}}}, members), HasSubstr("option removed"));
  EXPECT_THAT(error_of({.name = "anchor", .options = {{"removed", "b,b"}}}, members), HasSubstr("option removed"));
}

TEST(Slots, AreDealtByWeightInOrder) {
  auto members = nodes({"a", "b", "c"});
  EXPECT_THAT(deal_slots(10, members), ElementsAre(0, 0, 0, 0, 1, 1, 1, 2, 2, 2));
  members[2].weight_milli = 2000;
  EXPECT_THAT(deal_slots(4, members), ElementsAre(0, 1, 2, 2));
}

TEST(Slots, ATableIsReadAndWrittenAlike) {
  const auto members = nodes({"a", "b"});
  const std::string text = "0-3=a;4-4=b;5-9=a";
  const SlotTable table = *parse_slots(text, 10, members);
  EXPECT_THAT(table, ElementsAre(0, 0, 0, 0, 1, 0, 0, 0, 0, 0));
  EXPECT_EQ(format_slots(table, members), text);
  EXPECT_EQ(*parse_slots("4=b;0-3=a;5-9=a", 10, members), table);
}

TEST(Slots, ATableWithGapsOrDoublesOrStrangersIsRefused) {
  auto members = nodes({"a", "b", "c"});
  members[2].weight_milli = 0;
  const auto error = [&](std::string_view text) { return parse_slots(text, 10, members).error().message; };
  EXPECT_THAT(error("0-8=a"), HasSubstr("slot 9: nobody owns it"));
  EXPECT_THAT(error(""), HasSubstr("slot 0: nobody owns it"));
  EXPECT_THAT(error("0-9=a;9=b"), HasSubstr("slot 9: given twice"));
  EXPECT_THAT(error("0-9=x"), HasSubstr("no node of that name"));
  EXPECT_THAT(error("0-9=c"), HasSubstr("weight 0"));
  for (const char* bad : {"0-10=a", "5-3=a", "a", "=a", "-=a", "1-=a", "0-9", ";", "0-9=a;;"}) {
    EXPECT_FALSE(parse_slots(bad, 10, members)) << bad;
  }
}

TEST(Slots, SplittingKeepsEveryOwner) {
  const auto members = nodes({"a", "b", "c"});
  const auto whole = *make_scheme({.name = "slots", .options = {{"slots", "16"}}}, members);
  const auto split = *make_scheme({.name = "slots", .options = {{"slots", "16"}, {"split", "2"}}}, members);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(whole->owner(std::to_string(i)), split->owner(std::to_string(i)));
  EXPECT_THAT(split->explain("k").range, HasSubstr("of 32"));
  EXPECT_THAT(error_of({.name = "slots", .options = {{"slots", "1048576"}, {"split", "2"}}}, members),
              HasSubstr("at most"));
}

TEST(Slots, AChangeMovesTheFewestSlots) {
  const auto before = nodes({"a", "b", "c"});
  const auto after = nodes({"a", "b", "c", "d"});
  const SlotTable old_table = deal_slots(1024, before);
  const SlotTable grown = reassign_slots(old_table, before, after);
  int moved = 0;
  for (size_t s = 0; s < grown.size(); ++s) {
    if (grown[s] == old_table[s]) continue;
    EXPECT_EQ(grown[s], 3u);
    ++moved;
  }
  EXPECT_EQ(moved, 256);
  const auto without_b = nodes({"a", "c", "d"});
  const SlotTable shrunk = reassign_slots(grown, after, without_b);
  for (size_t s = 0; s < grown.size(); ++s) {
    EXPECT_TRUE(grown[s] == 1 || without_b[shrunk[s]].name == after[grown[s]].name) << s;
  }
}

TEST(Slots, TheSpecAfterAChangeCarriesTheTable) {
  const auto before = nodes({"a", "b"});
  const auto after = nodes({"a", "b", "c"});
  const SchemeSpec spec = {.name = "slots", .options = {{"slots", "6"}, {"split", "2"}, {"override.key.k", "a"}}};
  const SchemeSpec next = *spec_after_change(spec, before, after);
  EXPECT_EQ(next.options.at("slots"), "12");
  EXPECT_EQ(next.options.at("table"), "0-3=a;4-5=c;6-9=b;10-11=c");
  EXPECT_EQ(next.options.at("override.key.k"), "a");
  EXPECT_FALSE(next.options.contains("split"));
  EXPECT_TRUE(make_scheme(next, after));
  EXPECT_EQ(*spec_after_change({}, before, after), SchemeSpec{});
}

TEST(BoundedLoad, NoNodeIsGivenMoreThanItsCapacity) {
  for (const char* name : {"ring", "rendezvous", "jump", "slots", "maglev"}) {
    auto members = nodes({"a", "b", "c", "d", "e"});
    if (std::string_view(name) != "jump") members[0].weight_milli = 3000;
    const std::shared_ptr<const Scheme> scheme = *make_scheme({.name = name}, members);
    const auto bounded = *BoundedLoad::make(scheme, members, 100);
    std::vector<uint64_t> loads(5);
    for (uint64_t total = 1; total <= 1000; ++total) {
      const NodeIndex m = bounded.owner("one hot key", loads);
      ASSERT_LT(loads[m], bounded.capacity(m, total)) << name;
      ++loads[m];
    }
    EXPECT_GT(*std::min_element(loads.begin(), loads.end()), 0u) << name;
  }
}

TEST(BoundedLoad, AKeyStaysWithItsOwnerWhileThereIsRoom) {
  const auto members = nodes({"a", "b", "c"});
  const std::shared_ptr<const Scheme> scheme = *make_scheme({}, members);
  const auto bounded = *BoundedLoad::make(scheme, members, 250);
  const std::vector<uint64_t> idle = {10, 10, 10};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bounded.owner(std::to_string(i), idle), scheme->owner(std::to_string(i)));
  EXPECT_EQ(bounded.capacity(0, 30), 13u);  // ceil(1.25 * 30 / 3)
  EXPECT_FALSE(BoundedLoad::make(scheme, members, 0));
  EXPECT_FALSE(BoundedLoad::make(scheme, nodes({"a"}), 250));
}

TEST(Overrides, AKeyBeatsATagAndATagBeatsThePrefixes) {
  const auto members = nodes({"a", "b", "c", "d"});
  const SchemeSpec spec = {.options = {{"override.key.x{t}1", "a"},
                                       {"override.tag.t", "b"},
                                       {"override.prefix.x", "c"},
                                       {"override.prefix.x{u}", "d"}}};
  for (const char* name : {"ring", "modulo", "rendezvous", "slots"}) {
    SchemeSpec over = spec;
    over.name = name;
    const auto scheme = *make_scheme(over, members);
    EXPECT_EQ(scheme->owner("x{t}1"), 0u) << name;
    EXPECT_EQ(scheme->owner("x{t}2"), 1u) << name;
    EXPECT_EQ(scheme->owner("t"), 1u) << name;
    EXPECT_EQ(scheme->owner("xyz"), 2u) << name;
    EXPECT_EQ(scheme->owner("x{u}9"), 3u) << name;
    EXPECT_EQ(scheme->explain("xyz").range, "override") << name;
    const auto plain = *make_scheme({.name = name}, members);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(scheme->owner(std::to_string(i)), plain->owner(std::to_string(i)));
  }
}

TEST(Overrides, TheListBeginsWithTheNodeAndHasItOnce) {
  const auto members = nodes({"a", "b", "c", "d"});
  const auto plain = *make_scheme({}, members);
  for (const char* node : {"a", "b", "c", "d"}) {
    const auto scheme = *make_scheme({.options = {{"override.key.k", node}}}, members);
    for (size_t n = 1; n <= 5; ++n) {
      std::vector<NodeIndex> list(n);
      list.resize(scheme->preference_list("k", list));
      EXPECT_EQ(list.size(), std::min<size_t>(n, 4));
      EXPECT_EQ(members[list[0]].name, node);
      EXPECT_EQ(std::set<NodeIndex>(list.begin(), list.end()).size(), list.size());
    }
  }
}

TEST(Overrides, BadOnesAreRefused) {
  const auto members = nodes({"a"});
  EXPECT_THAT(error_of({.options = {{"override.key.k", "z"}}}, members), HasSubstr("no node named \"z\""));
  for (const char* bad : {"override.", "override.key", "override.tag.", "override.prefix.", "override.glob.x"}) {
    EXPECT_THAT(error_of({.options = {{bad, "a"}}}, members), HasSubstr("write override.key.KEY")) << bad;
  }
  EXPECT_TRUE(make_scheme({.options = {{"override.key.", "a"}}}, members));  // the empty key is a key
}

}  // namespace
}  // namespace slipring
