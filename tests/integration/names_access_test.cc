// The controller's access to a server that is fenced by names: what it ends, what it counts, and when it may connect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/control/node_access.h"
#include "slipring/store/redis/connections.h"
#include "slipring/store/redis/users.h"
#include "tests/support/redis_server.h"

namespace slipring::control {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kCluster = "c1";

struct NamesAccess : ::testing::Test {
  NamesAccess() : server({.acl = false, .password = true, .config = {"rename-command ACL \"\""}}) {
    server.start();
    address = server.address();
  }
  std::unique_ptr<NodeAccess> access(uint64_t term) {
    auto made = std::make_unique<NodeAccess>(
        [this](const std::string&) {
          return NodeCredential{address, server.admin_user(), server.admin_password()};
        },
        [this, term]() -> Status {
          if (term == leader) return {};
          return fail(Code::kAborted, "the lease is another's");
        },
        clock, kCluster, term);
    made->set_fence(address, PoolFence::kNames);
    return made;
  }
  redis::Client connect(const std::string& name) {
    return redis::Client::connect({address, server.admin_user(), server.admin_password(), name}).value();
  }
  redis::Client router(uint64_t generation) { return connect(redis::router_user(kCluster, "r1", generation)); }

  testing::RedisServer server;
  std::string address;
  SystemClock clock;
  uint64_t leader = 2;
};

TEST_F(NamesAccess, AFenceEndsEveryGenerationThatIsNotKept) {
  const auto controller = access(2);
  redis::Client kept = router(3);
  redis::Client gone = router(4);
  redis::Client other = connect(redis::router_user("c2", "r1", 4));
  EXPECT_THAT(controller->router_users(address)->generations, ElementsAre(3, 4));
  ASSERT_TRUE(controller->fence_routers(address, {{3}, 5}));
  EXPECT_TRUE(kept.call({"PING"}));
  EXPECT_FALSE(gone.command({"SET", "k", "late"}));
  EXPECT_TRUE(other.call({"PING"})) << "of another cluster";
  EXPECT_THAT(controller->router_users(address)->generations, ElementsAre(3));
}

TEST_F(NamesAccess, WhatAFencedGenerationConnectsLaterIsNotCountedAndWhatIsNewerIs) {
  const auto controller = access(2);
  ASSERT_TRUE(controller->fence_routers(address, {{3}, 5}));
  redis::Client powerless = router(4);
  EXPECT_THAT(controller->router_users(address)->generations, IsEmpty());
  redis::Client newer = router(6);
  EXPECT_THAT(controller->router_users(address)->generations, ElementsAre(6));
  // Another process: nothing is known of it.
  server.restart();
  redis::Client there = router(4);
  EXPECT_THAT(controller->router_users(address)->generations, ElementsAre(4));
}

TEST_F(NamesAccess, UsersAreMadeOnlyInTheProcessThatWasLookedAt) {
  const auto controller = access(2);
  const std::string run_id = controller->pulse(address)->identity.run_id;
  redis::Client stranger = router(4);
  redis::Client young = router(6);
  const std::vector<channel::Credentials> live = {{3, redis::router_user(kCluster, "r1", 3), "unused"}};
  ASSERT_TRUE(controller->sync_router_users(address, run_id, live, 5, ""));
  EXPECT_FALSE(stranger.command({"PING"}));
  EXPECT_TRUE(young.call({"PING"})) << "given out since";
  server.restart();
  const Status other = controller->sync_router_users(address, run_id, live, 5, "");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kAborted);
}

TEST_F(NamesAccess, ANewTermEndsOlderOnesAndTheseComeBackNoMore) {
  leader = 1;
  const auto old = access(1);
  redis::Client mover = redis::Client::connect(old->mover_endpoint(address).value()).value();
  redis::Client own = old->connect(address).value();
  leader = 2;
  const auto fresh = access(2);
  ASSERT_TRUE(fresh->fence_terms(address));
  EXPECT_FALSE(mover.command({"SET", "k", "late"}));
  EXPECT_FALSE(own.command({"PING"}));
  EXPECT_FALSE(redis::Client::connect(old->mover_endpoint(address).value()));
  const auto again = old->connect(address);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kAborted);
  EXPECT_TRUE(fresh->connect(address));
}

TEST_F(NamesAccess, AnOlderTermThatFindsANewerOneGivesWay) {
  const auto fresh = access(2);
  redis::Client own = fresh->connect(address).value();
  leader = 1;  // as it would be between the look at the lease and the look at the server
  const Status fenced = access(1)->fence_terms(address);
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().code, Code::kFailedPrecondition);
  EXPECT_TRUE(own.call({"PING"}));
}

TEST_F(NamesAccess, ByUsersAServerWithoutAclIsRefusedWithWhatToDo) {
  const auto controller = access(2);
  controller->set_fence(address, PoolFence::kAcl);
  const Status fenced = controller->fence_terms(address);
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().code, Code::kUnimplemented);
  EXPECT_THAT(fenced.error().message, ::testing::HasSubstr("fence = \"names\""));
}

}  // namespace
}  // namespace slipring::control
