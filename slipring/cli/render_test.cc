#include "slipring/cli/render.h"

#include <gtest/gtest.h>

namespace slipring::cli {
namespace {

using namespace slipring::control;

PlanDetail two_moves() {
  PlanDetail plan;
  plan.summary.id = 7;
  plan.summary.title = "add node n4";
  plan.summary.keys_total = 300;
  plan.summary.keys_done = 120;
  MoveProgress a{0, "n1", "n4", 0, MoveStage::kVerify, false, 100, 100, 1000, 50, 500, 2000, 3};
  MoveProgress b{1, "n1", "n4", 1, MoveStage::kStream, false, 200, 20, 100, 10, 100, 9000, 4};
  plan.moves = {a, b};
  return plan;
}

TEST(RenderProgress, SumsUpTheMovesOfASourceAndTargetAndShowsTheEarliestStage) {
  const std::string text = render_progress(two_moves(), 20);
  EXPECT_NE(text.find("plan 7: add node n4: running, 120 of 300 keys"), std::string::npos) << text;
  EXPECT_NE(text.find("n1      n4      stream   120  40 %        7  60 keys/s  600 B/s  9.0 s"), std::string::npos)
      << text;
}

TEST(RenderProgress, AMoveThatNeedsAPersonIsShownFirst) {
  PlanDetail plan = two_moves();
  plan.moves[0].stage = MoveStage::kNeedsDecision;
  EXPECT_NE(render_progress(plan, 20).find("needs decision"), std::string::npos);
}

TEST(RenderProgress, RowsBeyondTheLimitAreCounted) {
  PlanDetail plan = two_moves();
  plan.moves[1].source = "n2";
  EXPECT_NE(render_progress(plan, 1).find("and 1 more"), std::string::npos);
}

TEST(RenderVerification, RowsThatDifferAreAlwaysShown) {
  std::vector<VerificationRow> rows(100, {"n1", "n4", 0, 5, 5, 6, 6, "aa", "aa", true});
  rows.back() = {"n2", "n4", 99, 5, 4, 6, 6, "aa", "bb", false};
  const std::string text = render_verification(rows, 3);
  EXPECT_NE(text.find("DIFFERENT"), std::string::npos);
  EXPECT_NE(text.find("and 96 more ranges, all equal"), std::string::npos);
  EXPECT_EQ(render_verification({}, 3), "");
}

TEST(RenderNextSteps, EveryStateThatIsOpenNamesACommandThatLeavesIt) {
  for (uint8_t s = 0; s <= static_cast<uint8_t>(PlanState::kCancelled); ++s) {
    PlanSummary plan;
    plan.id = 7;
    plan.state = static_cast<PlanState>(s);
    const std::string text = render_next_steps(plan);
    EXPECT_EQ(text.empty(), is_final(plan.state)) << int{s};
    if (!is_final(plan.state)) {
      EXPECT_NE(text.find("slipring plan "), std::string::npos) << int{s};
    }
  }
}

TEST(RenderNextSteps, ARollbackThatIsNotAvailableIsNotOffered) {
  PlanSummary plan;
  plan.state = PlanState::kGrace;
  plan.rollback = {false, "node n1 is full", 1};
  EXPECT_EQ(render_next_steps(plan).find("plan rollback"), std::string::npos);
  EXPECT_NE(render_next_steps(plan).find("node n1 is full"), std::string::npos);
}

TEST(RenderPreview, SaysWhenMemoryDoesNotAllowInstantRollbackOfAll) {
  PlanPreview preview;
  preview.slices = 16;
  preview.slices_with_instant_rollback = 4;
  EXPECT_NE(render_preview(preview).find("instant rollback covers 4 of 16 slices"), std::string::npos);
}

TEST(RenderHolds, NothingIsSaidBeforeTheFirstCutover) {
  EXPECT_EQ(render_holds({}), "");
  PlanDetail plan;
  plan.hold_longest_us = 12'300;
  EXPECT_EQ(render_holds(plan), "commands for moving keys were held for at most 12.3 ms\n");
}

TEST(RenderPlan, AKeyThatWasChangedBehindItsBackIsNamed) {
  PlanDetail plan = two_moves();
  plan.alarms = {"key \"user:1\": was changed by somebody else"};
  EXPECT_NE(render_plan(plan).find("user:1"), std::string::npos);
}

}  // namespace
}  // namespace slipring::cli
