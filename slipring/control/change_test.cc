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

}  // namespace
}  // namespace slipring::control
