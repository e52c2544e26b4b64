// Faults while a node joins or leaves under load: controllers, routers and servers are killed, stopped, woken, cut off
// and emptied. Nothing acknowledged is lost or stale, nothing that was the last copy is deleted, and the plan ends by
// itself or rests in a state that a command ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/support/faults.h"

namespace slipring::testing {
namespace {

using control::PlanState;
using ::testing::IsEmpty;

TEST_F(Faults, ARouterIsKilledAndComesBack) {
  ClusterOptions options;
  options.routers = 2;
  make(options);
  Load load(*cluster_, 2, 4);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  cluster_->router_process(2).kill();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
  cluster_->start_router(2);
  ASSERT_TRUE(eventually(30, [&] { return cluster_->routers_ready(); }));
  ASSERT_TRUE(cluster_->controller().act(plan, control::PlanAction::kComplete, false));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

TEST_F(Faults, ARouterSleepsThroughTheCutoverAndNeverWritesToTheOldOwner) {
  ClusterOptions options;
  options.routers = 2;
  make(options);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  Load load(*cluster_, 2, 4);
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > 500; }));
  cluster_->router_process(2).stop();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
  cluster_->router_process(2).resume();
  ASSERT_TRUE(eventually(30, [&] { return cluster_->routers_ready(); })) << cluster_->log("c1") << cluster_->log("r2");
  const uint64_t acknowledged = load.acknowledged();
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > acknowledged + 500; }));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error() << cluster_->log("c1") << cluster_->log("r1")
                                        << cluster_->log("r2");
  expect_whole();
}

TEST_F(Faults, ARouterStartsFromItsDiskWhileTheControllerIsAway) {
  make();
  Load load(*cluster_, 1);
  ASSERT_TRUE(eventually(30, [&] { return std::ifstream(cluster_->directory() + "/router-r1.state").good(); }));
  cluster_->controller_process().kill();
  cluster_->router_process(1).kill();
  cluster_->start_router(1);
  const uint64_t acknowledged = load.acknowledged();
  EXPECT_TRUE(eventually(30, [&] { return load.acknowledged() > acknowledged + 200; }))
      << load.last_error() << cluster_->log("r1");
  cluster_->start_controller(1);
  const uint64_t plan = cluster_->start(join(), no_grace());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

TEST_F(Faults, AStoppedServerMakesRequestsTimeOutAndNoneOfThemRunsLater) {
  make();
  Load load(*cluster_, 1);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  cluster_->server(1).stop();
  ASSERT_TRUE(eventually(30, [&] { return load.errors() > 0; }));
  cluster_->server(1).resume();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
}

TEST_F(Faults, CutFeedsAreOpenedAgain) {
  make();
  Load load(*cluster_, 1);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  for (int n = 1; n <= 4; ++n) EXPECT_TRUE(cluster_->admin(n).call({"CLIENT", "KILL", "TYPE", "replica"}));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
  for (int n = 1; n <= 4; ++n) EXPECT_TRUE(cluster_->admin(n).call({"CLIENT", "KILL", "TYPE", "replica"}));
  ASSERT_TRUE(cluster_->controller().act(plan, control::PlanAction::kRollback, false));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kRolledBack, 90));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

TEST_F(Faults, ATargetThatIsKilledBeforeTheCutoverIsCopiedAgain) {
  make();
  Load load(*cluster_, 1);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  cluster_->server(4).restart_empty();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
}

TEST_F(Faults, ASourceThatComesBackEmptyBeforeTheCutoverNeedsADecision) {
  make();
  const uint64_t plan = cluster_->start(join(), slow());
  // Of n1's keys: what nobody else holds cannot be missed.
  ASSERT_TRUE(eventually(60, [&] {
    for (const auto& m : cluster_->detail(plan).moves) {
      if (m.source == "n1" && m.keys_done > 10) return true;
    }
    return false;
  }));
  const int64_t copies = cluster_->admin(4).call({"DBSIZE"})->integer;
  cluster_->server(1).restart_empty();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kNeedsDecision, 60));
  EXPECT_GE(cluster_->admin(4).call({"DBSIZE"})->integer, copies) << "the copies may be the last ones";
  // The other side's copy is taken: what n4 has of n1's keys comes back.
  uint32_t move = 0;
  for (const auto& m : cluster_->detail(plan).moves) {
    if (m.stage == control::MoveStage::kNeedsDecision) move = m.index;
  }
  ASSERT_TRUE(cluster_->controller().decide(plan, move, control::Choice::kMerge));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90));
}

TEST_F(Faults, ATargetThatComesBackEmptyInGraceNeedsADecisionAndTheSourcesCopyIsKept) {
  make();
  const uint64_t plan = cluster_->start(join());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace));
  cluster_->server(4).restart_empty();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kNeedsDecision, 60));
  // Until it is decided the keys that n4 should hold are errors, never missing.
  redis::Client client = cluster_->client();
  ASSERT_TRUE(eventually(30, [&] {
    return client
        .command({"MGET", "fill:0", "fill:1", "fill:2", "fill:3", "fill:4", "fill:5", "fill:6", "fill:7", "fill:8",
                  "fill:9", "fill:10", "fill:11"})
        ->is_error();
  }));
  for (int i = 0; i < kFill; ++i) {
    const auto reply = client.command({"GET", fmt::format("fill:{}", i)}).value();
    EXPECT_TRUE(reply.is_error() || reply.text == fmt::format("value {}", i)) << i;
  }
  // Deciding one move may settle others of the same server meanwhile.
  const auto decide_all = [&] {
    for (const auto& m : cluster_->detail(plan).moves) {
      if (m.stage != control::MoveStage::kNeedsDecision) continue;
      const auto decided = cluster_->controller().decide(plan, m.index, control::Choice::kMerge);
      EXPECT_TRUE(decided || decided.error().code == Code::kFailedPrecondition) << decided.error().message;
    }
    return cluster_->detail(plan).summary.state == PlanState::kGrace;
  };
  ASSERT_TRUE(eventually(60, decide_all));
  ASSERT_TRUE(eventually(60, [&] {
    return !client.command({"MGET", "fill:0", "fill:1", "fill:2", "fill:3", "fill:4", "fill:5", "fill:6", "fill:7"})
                ->is_error();
  }));
  expect_whole();
}

TEST_F(Faults, ATargetThatDiesInGraceIsTakenBackByForce) {
  ClusterOptions options;
  options.move = "unreachable = \"1s\"\n";
  make(options);
  const uint64_t plan = cluster_->start(join());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace));
  cluster_->server(4).kill();
  // Nobody else can say what n4 held, so an ordinary rollback does not end.
  ASSERT_TRUE(eventually(60, [&] {
    const auto summary = cluster_->detail(plan).summary;
    return summary.state == PlanState::kNeedsDecision || !summary.rollback.available;
  }));
  const auto forced = cluster_->controller().act(plan, control::PlanAction::kRollback, true);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_THAT(forced->reason, ::testing::HasSubstr("the old copies lack")) << forced->reason;
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kRolledBack, 90)) << cluster_->log("c1");
  expect_whole();
  // What has happened can be read after a restart.
  cluster_->controller_process().kill();
  cluster_->start_controller(1);
  const auto events = cluster_->controller().plan_events(plan, 0, 1000);
  ASSERT_TRUE(events) << events.error().message;
  std::string told;
  for (const auto& event : *events) told += event.text + "\n";
  EXPECT_THAT(told, ::testing::AllOf(::testing::HasSubstr("copied once"), ::testing::HasSubstr("taken back by force")));
}

}  // namespace
}  // namespace slipring::testing
