// The fence by named connections, on servers without ACL and on servers that have it: what holds with users holds here
// too. Nothing acknowledged is lost or stale, and neither a router nor a controller that slept reaches a server as what
// it was before.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "slipring/store/redis/connections.h"
#include "tests/support/faults.h"

namespace slipring::testing {
namespace {

using control::PlanState;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClusterOptions named(bool without_acl) {
  ClusterOptions options;
  options.fence = "names";
  options.server.acl = false;
  options.server.password = true;
  if (without_acl) options.server.config = {"rename-command ACL \"\""};
  return options;
}

class NamesFence : public Faults {
 protected:
  // The names of the routers' connections that server n shows.
  std::set<std::string> router_names(int n) {
    std::set<std::string> names;
    redis::Client admin = cluster_->admin(n);
    const std::vector<redis::Connection> all = redis::list_connections(admin).value();
    for (const redis::Connection& c : all) {
      if (c.name.starts_with("slipring-r-")) names.insert(c.name);
    }
    return names;
  }
};

class NamesFenceOnBoth : public NamesFence, public ::testing::WithParamInterface<bool> {};

TEST_P(NamesFenceOnBoth, ANodeJoinsUnderLoadGoesBackAndJoinsAgain) {
  ClusterOptions options = named(GetParam());
  options.routers = 2;
  make(options);
  Load load(*cluster_, 2, 4);
  uint64_t plan = cluster_->start(join());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace)) << cluster_->log("c1");
  ASSERT_TRUE(cluster_->controller().act(plan, control::PlanAction::kRollback, false));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kRolledBack)) << cluster_->log("c1");
  plan = cluster_->start(join(), no_grace());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted)) << cluster_->log("c1");
  EXPECT_EQ(load.errors(), 0u) << load.last_error();
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  EXPECT_EQ(router_names(4).size(), 2u);
  EXPECT_EQ(cluster_->controller().status()->pools[0].fence, "names");
  expect_whole();
  expect_no_copies(*cluster_);
}

INSTANTIATE_TEST_SUITE_P(Servers, NamesFenceOnBoth, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "WithoutAcl" : "WithAcl"; });

TEST_F(NamesFence, ARouterSleepsThroughTheCutoverAndNeverWritesToTheOldOwner) {
  ClusterOptions options = named(true);
  options.routers = 2;
  make(options);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  Load load(*cluster_, 2, 4);
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > 500; }));
  const std::set<std::string> before = router_names(1);
  cluster_->router_process(2).stop();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace, 90)) << cluster_->log("c1");
  EXPECT_EQ(router_names(1).size(), 1u) << "the sleeper's connections are ended";
  cluster_->router_process(2).resume();
  ASSERT_TRUE(eventually(30, [&] { return cluster_->routers_ready() && router_names(1).size() == 2; }))
      << cluster_->log("c1") << cluster_->log("r2");
  EXPECT_NE(router_names(1), before) << "it goes on as another generation";
  const uint64_t acknowledged = load.acknowledged();
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > acknowledged + 500; })) << load.last_error();
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error() << cluster_->log("c1") << cluster_->log("r2");
  expect_whole();
}

// Its connections to the servers are as they were, and it opens new ones again and again; it hears of nothing.
TEST_F(NamesFence, ARouterThatAsksInVainForPermitsKeepsNoCutoverBack) {
  ClusterOptions options = named(true);
  options.routers = 2;
  make(options);
  const uint64_t plan = cluster_->start(join(), slow());
  wait_until_copying();
  Load load(*cluster_, 1);
  // What the router would do that is cut off from the controller: named by its generation, never permitted.
  std::string name;
  for (const std::string& n : router_names(1)) {
    if (n.find("-r2-") != std::string::npos) name = n;
  }
  ASSERT_NE(name, "");
  cluster_->router_process(2).stop();
  std::atomic<bool> ends{false};
  std::thread lost([&] {
    RedisServer& server = cluster_->server(1);
    while (!ends) {
      auto c = redis::Client::connect({server.address(), server.admin_user(), server.admin_password(), name});
    }
  });
  const bool reached = cluster_->reaches(plan, PlanState::kGrace, 90);
  ends = true;
  lost.join();
  EXPECT_TRUE(reached) << cluster_->log("c1");
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
}

TEST_F(NamesFence, WithoutTheControllerConnectionsThatExistCarryOnAndNewOnesWait) {
  make(named(true));
  redis::Client client = cluster_->client();
  cluster_->controller_process().kill();
  expect_filled(client, 100);
  // Every connection of the router ends.
  for (int n = 1; n <= 3; ++n) {
    redis::Client admin = cluster_->admin(n);
    ASSERT_TRUE(redis::end_connections(admin, [](std::string_view c) { return c.starts_with("slipring-r-"); }));
  }
  for (int i = 0; i < 50; ++i) {
    auto reply = client.command({"GET", fmt::format("fill:{}", i)});
    ASSERT_TRUE(reply && reply->is_error()) << i;
    EXPECT_THAT(reply->text, HasSubstr("slipring: node")) << i;
  }
  cluster_->start_controller(1);
  expect_filled(client, 100);
}

TEST_F(NamesFence, ATargetThatComesBackEmptyInGraceServesNobodyUntilItIsDecided) {
  make(named(true));
  const uint64_t plan = cluster_->start(join());
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace)) << cluster_->log("c1");
  cluster_->server(4).restart_empty();
  redis::Client client = cluster_->client();
  bool errors = false;
  const auto no_key_is_missing = [&] {
    for (int i = 0; i < 200; ++i) {
      const auto reply = client.command({"GET", fmt::format("fill:{}", i)}).value();
      errors = errors || reply.is_error();
      EXPECT_TRUE(reply.is_error() || reply.text == fmt::format("value {}", i)) << i;
    }
  };
  ASSERT_TRUE(eventually(60, [&] {
    no_key_is_missing();
    return HasFailure() || cluster_->detail(plan).summary.state == PlanState::kNeedsDecision;
  }));
  // A controller that has just begun knows no better.
  cluster_->controller_process().kill();
  cluster_->start_controller(1);
  cluster_->controller();
  for (int round = 0; round < 5; ++round) no_key_is_missing();
  EXPECT_TRUE(errors);
  const auto decide_all = [&] {
    for (const auto& m : cluster_->detail(plan).moves) {
      if (m.stage != control::MoveStage::kNeedsDecision) continue;
      const auto decided = cluster_->controller().decide(plan, m.index, control::Choice::kMerge);
      EXPECT_TRUE(decided || decided.error().code == Code::kFailedPrecondition) << decided.error().message;
    }
    return cluster_->detail(plan).summary.state == PlanState::kGrace;
  };
  ASSERT_TRUE(eventually(60, decide_all)) << cluster_->log("c1");
  expect_whole();
}

class ControllerStops : public NamesFence, public ::testing::WithParamInterface<const char*> {};

TEST_P(ControllerStops, AndWakesAfterAnotherHasTakenOver) {
  ClusterOptions options = named(true);
  options.controllers = 2;
  options.answer_ms = 5'000;
  make(options);
  Load load(*cluster_, 1);
  cluster_->controller_process().kill();
  cluster_->start_controller(1, GetParam(), true);
  ASSERT_TRUE(eventually(30, [&] { return cluster_->leads(1); }));
  cluster_->start_controller(2);
  const uint64_t plan = cluster_->start(join(), no_grace());
  ASSERT_TRUE(second_takes_over()) << cluster_->log("c1") << cluster_->log("c2");
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted)) << cluster_->log("c2");
  cluster_->controller_process(1).resume();
  ASSERT_TRUE(eventually(30, [&] { return !cluster_->leads(1); }));
  const uint64_t acknowledged = load.acknowledged();
  ASSERT_TRUE(eventually(30, [&] { return load.acknowledged() > acknowledged + 200; })) << load.last_error();
  EXPECT_THAT(load.finish(), IsEmpty()) << load.last_error();
  expect_whole();
  expect_no_copies(*cluster_);
}

INSTANTIATE_TEST_SUITE_P(At, ControllerStops,
                         ::testing::Values("plan.fence_routers.before", "copy.write.before", "copy.delete.before"));

TEST_F(NamesFence, APoolThatIsFencedByUsersTakesNoServerWithoutAcl) {
  make();
  RedisServerOptions options;
  options.acl = false;
  options.config = {"rename-command ACL \"\""};
  RedisServer bare(options);
  bare.start();
  const auto preview = cluster_->controller().preview({"main", control::NodeAdd{"n4", bare.address()}, {}});
  ASSERT_TRUE(preview) << preview.error().message;
  ASSERT_EQ(preview->findings.size(), 1u);
  EXPECT_EQ(preview->findings[0].check, "fence");
  EXPECT_THAT(preview->findings[0].message, HasSubstr("fence = \"names\""));
}

}  // namespace
}  // namespace slipring::testing
