#include "slipring/control/service.h"

#include <gtest/gtest.h>

namespace slipring::control {
namespace {

TEST(Service, OneRefusingFindingRefusesAndWarningsDoNot) {
  EXPECT_FALSE(refuses({}));
  EXPECT_FALSE(refuses({{Severity::kWarn, "few_vnodes", "pool p", "", ""}, {Severity::kNote, "x", "", "", ""}}));
  EXPECT_TRUE(
      refuses({{Severity::kWarn, "few_vnodes", "pool p", "", ""}, {Severity::kRefuse, "role", "node n4", "", ""}}));
}

TEST(Service, OnlyThreeStatesAreFinal) {
  int finals = 0;
  for (uint8_t s = 0; s <= static_cast<uint8_t>(PlanState::kCancelled); ++s)
    finals += is_final(static_cast<PlanState>(s));
  EXPECT_EQ(finals, 3);
  EXPECT_TRUE(is_final(PlanState::kRolledBack));
  EXPECT_FALSE(is_final(PlanState::kStopped));
}

TEST(Service, AChangeIsDescribedInWords) {
  EXPECT_EQ(describe(Change(NodeAdd{"n4", "10.0.0.4:6379", 1500, ""})), "add node n4 at 10.0.0.4:6379 (weight 1.5)");
  EXPECT_EQ(describe(Change(NodeRemove{"n1"})), "remove node n1");
  EXPECT_EQ(describe(Change(NodeWeight{"n1", 0})), "set the weight of node n1 to 0");
}

TEST(Service, ASchemeIsDescribedByItsNameAndOptions) {
  EXPECT_EQ(describe(SchemeSpec{"ring", {}}), "ring");
  EXPECT_EQ(describe(SchemeSpec{"ring", {{"vnodes", "64"}, {"seed", "7"}}}), "ring seed=7 vnodes=64");
}

}  // namespace
}  // namespace slipring::control
