// Faults while a node joins or leaves under load: controllers, routers and servers are killed, stopped, woken, cut off
// and emptied. Nothing acknowledged is lost or stale, nothing that was the last copy is deleted, and the plan ends by
// itself or rests in a state that a command ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/support/cluster.h"
#include "tests/support/load.h"

namespace slipring::testing {
namespace {

using control::PlanState;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void fill(redis::Client& client, int count) {
  for (int i = 0; i < count; ++i) client.append({"SET", fmt::format("fill:{}", i), fmt::format("value {}", i)});
  ASSERT_TRUE(client.flush());
  for (int i = 0; i < count; ++i) ASSERT_FALSE(client.read_reply()->is_error());
}

void expect_filled(redis::Client& client, int count) {
  for (int i = 0; i < count; ++i) {
    Result<redis::Reply> reply = fail(Code::kUnavailable, "");
    ASSERT_TRUE(eventually(30, [&] {
      return (reply = client.call({"GET", fmt::format("fill:{}", i)})).has_value();
    })) << reply.error().message;
    ASSERT_EQ(reply->text, fmt::format("value {}", i));
  }
}

void expect_no_copies(Cluster& cluster) {
  for (const auto& [key, holders] : cluster.keys_by_server()) EXPECT_EQ(holders.size(), 1u) << key;
}

constexpr int kFill = 2000;

class Faults : public ::testing::Test {
 protected:
  // A cluster whose servers lose nothing by a kill, with keys in it.
  void make(ClusterOptions options = {}) {
    cluster_ = std::make_unique<Cluster>(std::move(options));
    redis::Client client = cluster_->client();
    fill(client, kFill);
  }
  control::Change join() { return control::NodeAdd{"n4", cluster_->server(4).address()}; }
  static control::PlanOptions no_grace() {
    control::PlanOptions o;
    o.grace_ms = 0;
    return o;
  }
  // Slow enough that a test can do something while keys are copied.
  static control::PlanOptions slow() {
    control::PlanOptions o;
    o.keys_per_second = 300;
    return o;
  }
  void expect_whole() {
    redis::Client client = cluster_->client();
    expect_filled(client, kFill);
  }
  // Some keys are on n4, and the plan has not cut over yet.
  void wait_until_copying() {
    ASSERT_TRUE(eventually(30, [&] { return cluster_->admin(4).call({"DBSIZE"})->integer > 30; }));
  }
  std::unique_ptr<Cluster> cluster_;
};

// One plan for each named point: the controller dies there, another one goes on.
class ControllerDies : public Faults, public ::testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ControllerDies, AndTheNextOneEndsThePlan) {
  make();
  Load load(*cluster_, 1);
  bool joins = true;
  for (const std::string& point : GetParam()) {
    cluster_->controller_process().kill();
    cluster_->start_controller(1, point);
    const uint64_t plan = cluster_->start(joins ? join() : control::Change(control::NodeRemove{"n4"}), no_grace());
    ASSERT_TRUE(eventually(60, [&] {
      return !cluster_->controller_process().running() || cluster_->detail(plan).summary.finished_at_ms != 0;
    }));
    if (!cluster_->controller_process().running()) cluster_->start_controller(1);
    ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted)) << point;
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

INSTANTIATE_TEST_SUITE_P(AtEachAction, ControllerDies,
                         ::testing::Values(points("plan", kPlanPoints, "before"), points("plan", kPlanPoints, "after"),
                                           points("copy", kCopyPoints, "before"), points("copy", kCopyPoints, "after"),
                                           std::vector<std::string>{"plan.store_commit.after:2",
                                                                    "plan.store_commit.before:3",
                                                                    "plan.store_commit.after:4",
                                                                    "plan.publish.before:2", "copy.write.after:2"}));

// The controller stops at a point, another one takes over and ends the plan, then the first wakes up.
class ControllerStops : public Faults, public ::testing::WithParamInterface<const char*> {};

TEST_P(ControllerStops, AndWakesAfterAnotherHasTakenOver) {
  ClusterOptions options;
  options.controllers = 2;
  make(options);
  Load load(*cluster_, 1);
  cluster_->controller_process().kill();
  cluster_->start_controller(1, GetParam(), true);
  ASSERT_TRUE(eventually(30, [&] { return cluster_->leads(1); }));
  cluster_->start_controller(2);
  const uint64_t plan = cluster_->start(join(), no_grace());
  ASSERT_TRUE(eventually(30, [&] { return cluster_->leads(2); }));
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
  wait_until_copying();
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
  const auto decide_all = [&] {
    for (const auto& m : cluster_->detail(plan).moves) {
      if (m.stage != control::MoveStage::kNeedsDecision) continue;
      EXPECT_TRUE(cluster_->controller().decide(plan, m.index, control::Choice::kMerge));
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

// A byte changed behind the mover's back, at three moments; the controller is stopped there meanwhile.
class Tripwire : public Faults, public ::testing::WithParamInterface<const char*> {};

TEST_P(Tripwire, AnAlteredByteIsNamedAndNeverServed) {
  make();
  cluster_->controller_process().kill();
  cluster_->start_controller(1, GetParam(), true);
  const uint64_t plan = cluster_->start(join());
  const pid_t pid = cluster_->controller_process().pid();
  ASSERT_TRUE(eventually(60, [&] {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.find(") T ") != std::string::npos;
  }));
  // A key that n4 holds a copy of; which one does not matter.
  redis::Client target = cluster_->admin(4);
  const std::string key = target.call({"RANDOMKEY"})->text;
  ASSERT_THAT(key, HasSubstr("fill:"));
  const std::string before = target.call({"GET", key})->text;
  ASSERT_TRUE(target.call({"SETRANGE", key, "0", "V"}));
  cluster_->controller_process().resume();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 60));
  EXPECT_EQ(cluster_->client().call({"GET", key})->text, before);
  std::string told;
  for (const auto& event : cluster_->controller().plan_events(plan, 0, 10'000).value()) told += event.text + "\n";
  EXPECT_THAT(told, HasSubstr(key));
  expect_whole();
}

INSTANTIATE_TEST_SUITE_P(At, Tripwire,
                         ::testing::Values("copy.compare.before", "copy.ready.after", "copy.sealed.before"));

}  // namespace
}  // namespace slipring::testing
