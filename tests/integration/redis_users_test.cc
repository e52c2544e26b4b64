// Users as fences, against a real redis-server: names, rights, removal that kills, durability over a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "slipring/store/redis/connections.h"
#include "slipring/store/redis/inspect.h"
#include "slipring/store/redis/users.h"
#include "tests/support/redis_server.h"

namespace slipring::redis {
namespace {

using ::testing::Contains;
using ::testing::Not;
using testing::RedisServer;

Client admin_of(const RedisServer& server) {
  return Client::connect({server.address(), server.admin_user(), server.admin_password(), "slipring/test"}).value();
}

TEST(Users, NamesCarryClusterRouterAndGeneration) {
  const std::string user = router_user("c1", "r-g7-x", 12);
  EXPECT_EQ(user, "slipring-r-c1-r-g7-x-g12");
  EXPECT_EQ(router_generation_of("c1", user), 12u);
  EXPECT_EQ(router_generation_of("c2", user), std::nullopt);
  EXPECT_EQ(router_generation_of("c1", "slipring-r-c1-r1"), std::nullopt);
  EXPECT_EQ(term_of("c1", mover_user("c1", 3)), 3u);
  EXPECT_EQ(term_of("c1", controller_user("c1", 4)), 4u);
  EXPECT_EQ(term_of("c1", user), std::nullopt);
  EXPECT_EQ(term_of("c1", "slipring-admin"), std::nullopt);
}

TEST(Users, ARouterMayServeItsPrefixAndNothingElse) {
  RedisServer server;
  server.start();
  Client admin = admin_of(server);
  ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r1-g1", "secret", "app*:"));
  auto router = Client::connect({server.address(), "slipring-r-c1-r1-g1", "secret", "slipring/r1/1"});
  ASSERT_TRUE(router);
  EXPECT_TRUE(router->call({"SET", "app*:k", "v"}));
  EXPECT_TRUE(router->call({"SORT", "app*:list"}));
  EXPECT_TRUE(router->call({"INFO", "server"}));
  EXPECT_EQ(router->call({"SET", "appx:k", "v"}).error().code, Code::kPermissionDenied);
  EXPECT_EQ(router->call({"GET", "other"}).error().code, Code::kPermissionDenied);
  EXPECT_EQ(router->call({"FLUSHALL"}).error().code, Code::kPermissionDenied);
  EXPECT_EQ(router->call({"CONFIG", "GET", "*"}).error().code, Code::kPermissionDenied);
  EXPECT_EQ(router->call({"ACL", "LIST"}).error().code, Code::kPermissionDenied);
}

TEST(Users, ARemovedUserIsGoneForConnectionsLoginsAndAfterARestart) {
  RedisServer server;
  server.start();
  Client admin = admin_of(server);
  ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r1-g1", "secret", ""));
  ASSERT_TRUE(make_users_durable(admin));
  auto router = Client::connect({server.address(), "slipring-r-c1-r1-g1", "secret", ""});
  ASSERT_TRUE(router);
  const std::vector<std::string> gone = {"slipring-r-c1-r1-g1", "slipring-r-c1-never-g9"};
  ASSERT_TRUE(delete_users(admin, gone));
  ASSERT_TRUE(make_users_durable(admin));
  EXPECT_FALSE(router->call({"GET", "k"}));
  server.restart();
  admin = admin_of(server);
  EXPECT_THAT(list_users(admin).value(), Not(Contains("slipring-r-c1-r1-g1")));
  EXPECT_FALSE(Client::connect({server.address(), "slipring-r-c1-r1-g1", "secret", ""}));
}

// What a restarted server reads from its files lets no router in: first somebody has to see that it holds what it should.
TEST(Users, ASavedRouterUserStaysConnectedAndLetsNobodyInAfterARestart) {
  for (const bool in_config : {false, true}) {
    RedisServer server({.users_in_config = in_config});
    server.start();
    Client admin = admin_of(server);
    ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r1-g1", "secret", ""));
    ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r2-g2", "other", ""));
    const redis::Endpoint login{server.address(), "slipring-r-c1-r1-g1", "secret", ""};
    auto router = Client::connect(login);
    ASSERT_TRUE(router);
    ASSERT_TRUE(make_users_durable(admin));
    EXPECT_TRUE(router->call({"SET", "k", "v"}));
    EXPECT_TRUE(Client::connect(login));
    EXPECT_TRUE(Client::connect({server.address(), "slipring-r-c1-r2-g2", "other", ""}));
    server.restart();
    admin = admin_of(server);
    EXPECT_FALSE(Client::connect(login));
    const auto logins = list_router_logins(admin);
    ASSERT_TRUE(logins);
    ASSERT_EQ(logins->size(), 2u);
    EXPECT_TRUE(logins->front().password_hashes.empty());
    ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r1-g1", "secret", ""));
    EXPECT_TRUE(Client::connect(login));
  }
}

TEST(Users, AFileThatCannotBeWrittenIsAnErrorAndLeavesThePasswords) {
  RedisServer server;
  server.start();
  Client admin = admin_of(server);
  ASSERT_TRUE(create_router_user(admin, "slipring-r-c1-r1-g1", "secret", ""));
  const std::string aclfile = server.directory() + "/users.acl";
  std::filesystem::remove(aclfile);
  std::filesystem::create_directories(aclfile + "/in-the-way");
  const Status saved = make_users_durable(admin);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(saved.error().message, ::testing::HasSubstr("aclfile writable"));
  EXPECT_TRUE(Client::connect({server.address(), "slipring-r-c1-r1-g1", "secret", ""}));
}

TEST(Users, AMoverMayCopyAndReadTheFeedButNotManageUsers) {
  RedisServer server;
  server.start();
  Client admin = admin_of(server);
  ASSERT_TRUE(create_mover_user(admin, "slipring-mover-c1-1", "secret"));
  auto mover = Client::connect({server.address(), "slipring-mover-c1-1", "secret", "slipring/mover/1"});
  ASSERT_TRUE(mover);
  ASSERT_TRUE(mover->call({"SET", "k", "v"}));
  auto dump = mover->call({"DUMP", "k"});
  ASSERT_TRUE(dump);
  EXPECT_TRUE(mover->call({"RESTORE", "k", "0", dump->text, "REPLACE"}));
  EXPECT_TRUE(mover->call({"SCAN", "0"}));
  EXPECT_TRUE(mover->call({"CONFIG", "GET", "maxmemory"}));
  EXPECT_FALSE(mover->call({"ACL", "USERS"}));
  EXPECT_FALSE(mover->call({"FLUSHALL"}));
}

TEST(Inspect, SeesSettingsKeysAndForeignClients) {
  RedisServer server;
  server.start();
  Client admin = admin_of(server);
  auto foreign = Client::connect({server.address(), server.admin_user(), server.admin_password(), "app"});
  ASSERT_TRUE(foreign);
  ASSERT_TRUE(foreign->call({"SET", "k", "v"}));
  ASSERT_TRUE(foreign->call({"SELECT", "3"}));
  ASSERT_TRUE(foreign->call({"SET", "k", "v"}));
  SystemClock clock;
  auto facts = inspect(admin, clock);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->identity.role, "master");
  EXPECT_EQ(facts->identity.run_id.size(), 40u);
  EXPECT_TRUE(facts->append_only);
  EXPECT_EQ(facts->append_fsync, "always");
  EXPECT_TRUE(facts->diskless_sync);
  EXPECT_EQ(facts->diskless_sync_delay_s, 5u);
  EXPECT_TRUE(facts->users_persisted);
  EXPECT_EQ(facts->max_memory_policy, "noeviction");
  EXPECT_EQ(facts->keys_by_database, (std::map<uint32_t, uint64_t>{{0, 1}, {3, 1}}));
  EXPECT_LT(std::abs(facts->clock_ahead_ms), 5000);
  ASSERT_EQ(facts->foreign_clients.size(), 1u);  // the administrator's user under an application's name
  EXPECT_EQ(facts->foreign_clients[0].name, "app");
  EXPECT_EQ(live_state(admin)->identity, facts->identity);
}

TEST(Inspect, NamesClientsThatAreNotOurs) {
  RedisServer server({.acl = false});
  server.start();
  auto own = Client::connect({server.address(), "", "", "slipring/ctl/1"});
  auto foreign = Client::connect({server.address(), "", "", "nutcracker"});
  ASSERT_TRUE(own && foreign);
  SystemClock clock;
  auto facts = inspect(*own, clock);
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->foreign_clients.size(), 1u);
  EXPECT_EQ(facts->foreign_clients[0].name, "nutcracker");
  EXPECT_FALSE(facts->foreign_clients[0].blocked);
}

// ---- connections by name

TEST(Connections, ThoseThatAreChosenEndAndOthersStay) {
  RedisServer server({.acl = false, .config = {"rename-command ACL \"\""}});
  server.start();
  const auto connect = [&](const std::string& name) { return Client::connect({server.address(), "", "", name}).value(); };
  Client own = connect("slipring-ctl-c1-2");
  Client old = connect("slipring-r-c1-r1-g1");
  Client kept = connect("slipring-r-c1-r1-g2");
  ASSERT_TRUE(old.call({"MULTI"}));
  ASSERT_TRUE(old.call({"SET", "k", "late"}));
  ASSERT_TRUE(end_connections(own, [](std::string_view name) { return name == "slipring-r-c1-r1-g1"; }));
  EXPECT_FALSE(old.command({"EXEC"}));
  EXPECT_TRUE(kept.call({"PING"}));
  EXPECT_TRUE(own.call({"GET", "k"})->is_null());
  std::vector<std::string> names;
  const std::vector<Connection> left = list_connections(own).value();
  for (const Connection& c : left) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"slipring-ctl-c1-2", "slipring-r-c1-r1-g2"}));
  EXPECT_FALSE(*has_acl(own));
}

TEST(Connections, OneIsUsedOnlyIfItIsConfirmedAfterItsNameIsKnown) {
  RedisServer server({.acl = false});
  server.start();
  Client own = Client::connect({server.address(), "", "", ""}).value();
  Endpoint endpoint{server.address(), "", "", "slipring-mover-c1-1"};
  bool known = false;
  endpoint.confirm = [&]() -> Status {
    const std::vector<Connection> all = list_connections(own).value();
    for (const Connection& c : all) known = known || c.name == endpoint.name;
    return fail(Code::kAborted, "the lease is lost");
  };
  const auto refused = Client::connect(endpoint);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the lease is lost");
  EXPECT_TRUE(known);
  EXPECT_TRUE(*has_acl(own));
}

}  // namespace
}  // namespace slipring::redis
