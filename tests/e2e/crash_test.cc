// A controller dies or stops at each action of the protocol, by the named fault points (base/fault_point.h), and at
// random moments, together with routers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/base/clock.h"
#include "slipring/base/random.h"
#include "tests/support/faults.h"

namespace slipring::testing {
namespace {

using control::PlanState;
using ::testing::IsEmpty;

// One plan for each named point: the controller dies there, another one goes on.
class ControllerDies : public Faults, public ::testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ControllerDies, AndTheNextOneEndsThePlan) {
  make();
  Load load(*cluster_, 1);
  bool joins = true;
  for (const std::string& point : GetParam()) {
    cluster_->controller_process().terminate();
    cluster_->start_controller(1, point);
    const uint64_t plan = cluster_->start(joins ? join() : control::Change(control::NodeRemove{"n4"}), no_grace());
    ASSERT_TRUE(eventually(60, [&] {
      return !cluster_->controller_process().running() || cluster_->detail(plan).summary.finished_at_ms != 0;
    }));
    if (!cluster_->controller_process().running()) cluster_->start_controller(1);
    ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted)) << point;
    SCOPED_TRACE(point);
    expect_whole();
    ASSERT_FALSE(HasFailure()) << cluster_->log("c1");
    joins = !joins;
  }
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

std::vector<std::string> points(const std::string& group, std::initializer_list<const char*> names,
                                const std::string& side) {
  std::vector<std::string> all;
  for (const char* name : names) all.push_back(fmt::format("{}.{}.{}", group, name, side));
  return all;
}

const auto kPlanPoints = {"store_read", "store_commit", "fence_terms",   "fence_routers",
                          "list_users", "ensure_saved", "announce_open", "announce_closed",
                          "publish",    "start_copy",   "tell_copy",     "stop_copy"};
const auto kCopyPoints = {"open_feed",  "barrier",     "scan",  "read",   "write",   "compare", "delete",
                          "feeds_open", "copied_once", "ready", "sealed", "flipped", "swept"};

// After one action is before the next one; those that change what others see are tried on both sides, and some of
// them for the second and third time in a plan.
INSTANTIATE_TEST_SUITE_P(
    AtEachAction, ControllerDies,
    ::testing::Values(points("plan", kPlanPoints, "before"), points("copy", kCopyPoints, "before"),
                      points("plan", {"store_commit", "fence_routers", "announce_open", "publish"}, "after"),
                      points("copy", {"write", "delete", "sealed", "flipped"}, "after"),
                      std::vector<std::string>{"plan.store_commit.after:2", "plan.store_commit.before:3",
                                               "plan.store_commit.after:4", "plan.publish.before:2",
                                               "copy.write.after:2"}));

// Controllers and routers die again and again, at moments that nobody chose, while plans follow each other.
TEST_F(Faults, WhateverDiesAtRandomMomentsThePlansEnd) {
  ClusterOptions options;
  options.routers = 2;
  make(options);
  const uint64_t seed = static_cast<uint64_t>(SystemClock().wall_ms());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  Load load(*cluster_, 2, 4);
  const auto some_time_passes = [&] {
    const uint64_t until = load.acknowledged() + random.below(400);
    return eventually(60, [&] { return load.acknowledged() >= until; });
  };
  bool joins = true;
  for (int round = 0; round < 4; ++round, joins = !joins) {
    const uint64_t plan = cluster_->start(joins ? join() : control::Change(control::NodeRemove{"n4"}), no_grace());
    for (int death = 0; death < 3; ++death) {
      ASSERT_TRUE(some_time_passes()) << load.last_error();
      const uint64_t dies = random.below(3);
      if (dies != 0) cluster_->controller_process().kill();
      if (dies != 1) cluster_->router_process(2).kill();
      if (dies != 0) cluster_->start_controller(1);
      if (dies != 1) cluster_->start_router(2);
    }
    ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted, 120)) << cluster_->log("c1");
    ASSERT_TRUE(eventually(60, [&] { return cluster_->routers_ready(); })) << cluster_->log("r2");
  }
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

// The controller stops at a point, another one takes over and ends the plan, then the first wakes up.
class ControllerStops : public Faults, public ::testing::WithParamInterface<const char*> {};

TEST_P(ControllerStops, AndWakesAfterAnotherHasTakenOver) {
  ClusterOptions options;
  options.controllers = 2;
  options.answer_ms = 5'000;  // the one that stops in the middle of its answer is waited for
  make(options);
  Load load(*cluster_, 1);
  cluster_->controller_process().kill();
  cluster_->start_controller(1, GetParam(), true);
  ASSERT_TRUE(eventually(30, [&] { return cluster_->leads(1); }));
  cluster_->start_controller(2);
  const uint64_t plan = cluster_->start(join(), no_grace());
  ASSERT_TRUE(second_takes_over()) << cluster_->log("c1") << cluster_->log("c2");
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted));
  cluster_->controller_process(1).resume();
  ASSERT_TRUE(eventually(30, [&] { return !cluster_->leads(1); }));
  const uint64_t acknowledged = load.acknowledged();
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > acknowledged + 200; })) << load.last_error();
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

INSTANTIATE_TEST_SUITE_P(At, ControllerStops,
                         ::testing::Values("plan.store_commit.before:2", "plan.fence_routers.before",
                                           "plan.announce_open.after", "plan.publish.before:2", "copy.write.before",
                                           "copy.sealed.before", "copy.delete.before"));

}  // namespace
}  // namespace slipring::testing
