// What an operator asks for becomes a layout, or an error that says what is wrong; the layout asked about never
// changes.
#include "slipring/control/change.h"

#include <gtest/gtest.h>

namespace slipring::control {
namespace {

Layout three() {
  Layout layout;
  for (const char* name : {"n1", "n2", "n3"}) {
    Node n;
    n.name = name;
    n.instance = {std::string("127.0.0.1:700") + name[1], 1};
    layout.nodes.push_back(n);
  }
  return layout;
}

Code error_of(const Change& change) {
  return apply_change(three(), change, 7).error().code;
}

TEST(Change, ANodeJoinsAtTheEndWithAGenerationOfItsOwn) {
  const Layout next = apply_change(three(), NodeAdd{"n4", "127.0.0.1:7004", 1500, "b"}, 7).value();
  ASSERT_EQ(next.nodes.size(), 4u);
  EXPECT_EQ(next.nodes[3].name, "n4");
  EXPECT_EQ(next.nodes[3].weight_milli, 1500);
  EXPECT_EQ(next.nodes[3].zone, "b");
  EXPECT_EQ(next.nodes[3].instance, (Instance{"127.0.0.1:7004", 7}));
}

TEST(Change, ANodeLeavesAndTheOthersKeepTheirOrder) {
  const Layout next = apply_change(three(), NodeRemove{"n2"}, 7).value();
  ASSERT_EQ(next.nodes.size(), 2u);
  EXPECT_EQ(next.nodes[0].name, "n1");
  EXPECT_EQ(next.nodes[1].name, "n3");
}

TEST(Change, AWeightChangesNothingElse) {
  Layout expected = three();
  expected.nodes[1].weight_milli = 0;
  EXPECT_EQ(apply_change(three(), NodeWeight{"n2", 0}, 7).value(), expected);
}

TEST(Change, WhatIsWrongInAnyStateIsAnInvalidArgument) {
  EXPECT_EQ(error_of(NodeAdd{"", "127.0.0.1:7004"}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{"a b", "127.0.0.1:7004"}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{std::string(65, 'x'), "127.0.0.1:7004"}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{"n4", "127.0.0.1"}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{"n4", "127.0.0.1:0"}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{"n4", "127.0.0.1:7004", -1}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeAdd{"n4", "127.0.0.1:7004", 1'000'001}), Code::kInvalidArgument);
  EXPECT_EQ(error_of(NodeWeight{"n1", -1}), Code::kInvalidArgument);
}

TEST(Change, NamesAndAddressesAreTakenOnce) {
  EXPECT_EQ(error_of(NodeAdd{"n1", "127.0.0.1:7004"}), Code::kAlreadyExists);
  EXPECT_EQ(error_of(NodeAdd{"n4", "127.0.0.1:7001"}), Code::kAlreadyExists);
}

TEST(Change, UnknownNodesAreNamedBesideTheKnownOnes) {
  const auto error = apply_change(three(), NodeRemove{"n9"}, 7).error();
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_NE(error.message.find("n1, n2, n3"), std::string::npos);
  EXPECT_EQ(error_of(NodeWeight{"n9", 5}), Code::kNotFound);
}

TEST(Change, SomethingMustChangeAndSomebodyMustOwn) {
  EXPECT_EQ(error_of(NodeWeight{"n1", 1000}), Code::kFailedPrecondition);
  Layout one;
  one.nodes.push_back(three().nodes[0]);
  EXPECT_EQ(apply_change(one, NodeRemove{"n1"}, 7).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(apply_change(one, NodeWeight{"n1", 0}, 7).error().code, Code::kFailedPrecondition);
}

// By the table that the next layout carries; a table of its own would deal all slots anew.
TEST(Change, APoolUnderSlotsMovesNoMoreSlotsThanTheNewNodeIsDue) {
  Layout before = three();
  before.scheme = {"slots", {{"slots", "300"}}};
  const Layout after = apply_change(before, NodeAdd{"n4", "127.0.0.1:7004"}, 7).value();
  const auto old_scheme = make_scheme(before).value();
  const auto new_scheme = make_scheme(after).value();
  const OwnershipMap old_slots = *old_scheme->ownership();
  const OwnershipMap new_slots = *new_scheme->ownership();
  ASSERT_EQ(new_slots.ranges.size(), 300u);
  size_t moved = 0;
  for (size_t i = 0; i < 300; ++i) {
    if (old_slots.ranges[i].owner == new_slots.ranges[i].owner) continue;
    EXPECT_EQ(new_slots.ranges[i].owner, 3u);
    ++moved;
  }
  EXPECT_EQ(moved, 75u);
  const Layout back = apply_change(after, NodeRemove{"n4"}, 8).value();
  const auto scheme_back = make_scheme(back).value();
  const OwnershipMap slots_back = *scheme_back->ownership();
  for (const OwnedRange& slot : slots_back.ranges) EXPECT_LT(slot.owner, 3u);
}

}  // namespace
}  // namespace slipring::control
