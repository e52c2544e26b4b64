#include "slipring/cli/up_layout.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "slipring/base/secret_file.h"
#include "slipring/control/secret_file.h"

namespace slipring::cli {
namespace {

class Layout : public ::testing::Test {
 protected:
  Layout() {
    char name[] = "/tmp/slipring-up-XXXXXX";
    dir = std::string(mkdtemp(name)) + "/data";
  }
  ~Layout() override { std::filesystem::remove_all(std::filesystem::path(dir).parent_path()); }
  UpLayout open() { return UpLayout::open(dir).value(); }
  static std::string read(const std::string& path) { return read_secret_file(path).value(); }

  std::string dir;
  const UpNode n1{"n1", 21001, false};
  const UpNode n2{"n2", 21002, true};
};

TEST_F(Layout, StateComesBackAsItWasSaved) {
  const UpLayout layout = open();
  EXPECT_EQ(layout.load_state().value(), UpState());
  const UpState state{{n1}, {n1, n2}, 21000};
  ASSERT_TRUE(layout.save_state(state).has_value());
  EXPECT_EQ(layout.load_state().value(), state);
  EXPECT_EQ(decode_state(encode_state(state)).value(), state);
}

TEST_F(Layout, ADamagedStateIsRefusedWithTheFileAndTheLine) {
  const UpLayout layout = open();
  for (const char* text :
       {"channel 21000\nnode n1\n", "channel 21000\nnode n1 x new\n", "channel 21000\nnode n1 1 maybe\n",
        "channel 21000\nnode n/1 1 new\n", "channel 21000\nnode n1 70000 new\n", "channel 21000\n\n"}) {
    ASSERT_TRUE(write_secret_file(layout.path("up.state"), text).has_value());
    const auto state = layout.load_state();
    ASSERT_FALSE(state.has_value()) << text;
    EXPECT_EQ(state.error().message, layout.path("up.state") + ": line 2: cannot be read");
  }
  EXPECT_FALSE(decode_state("node n1 1 new\n").has_value()) << "without the channel's port";
}

TEST_F(Layout, TheDirectoryIsItsOwnersAlone) {
  const UpLayout layout = open();
  struct stat info {};
  ASSERT_EQ(::stat(dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ::chmod(dir.c_str(), 0755);
  const auto again = UpLayout::open(dir);
  ASSERT_FALSE(again.has_value());
  EXPECT_NE(again.error().message.find("chmod 700"), std::string::npos);
}

TEST_F(Layout, ANodeKeepsItsPasswordAndItsAccessListHoldsTheAdministratorAlone) {
  const UpLayout layout = open();
  ASSERT_TRUE(layout.write_node(n1, "always").has_value());
  const std::string users = read(layout.path("node/n1/users.acl"));
  ASSERT_TRUE(write_secret_file(layout.path("node/n1/users.acl"), users + "user slipring-r1 on\n").has_value());
  ASSERT_TRUE(layout.write_node(n1, "always").has_value());
  EXPECT_EQ(read(layout.path("node/n1/users.acl")), users);
  const auto credentials = control::NodeCredentials::read(layout.path("credentials")).value();
  ASSERT_EQ(credentials.all().size(), 1u);
  EXPECT_EQ(credentials.find("127.0.0.1:21001")->user, "slipring-admin");
  EXPECT_NE(users.find(">" + credentials.find("127.0.0.1:21001")->password + " "), std::string::npos);
  EXPECT_EQ(users.rfind("user default off\n", 0), 0u);
}

TEST_F(Layout, AServersConfigurationHasWhatAStoreNodeNeeds) {
  const UpLayout layout = open();
  ASSERT_TRUE(layout.write_node(n1, "everysec").has_value());
  const std::string conf = read(layout.path("node/n1/redis.conf"));
  for (const char* line : {"bind 127.0.0.1\n", "port 21001\n", "appendonly yes\n", "appendfsync everysec\n",
                           "maxmemory-policy noeviction\n", "repl-diskless-sync yes\n", "repl-diskless-sync-delay 5\n",
                           "enable-debug-command no\n"}) {
    EXPECT_NE(conf.find(line), std::string::npos) << line;
  }
}

TEST_F(Layout, WhatIsWrittenForControllerAndRouterReadsBack) {
  const UpLayout layout = open();
  Config config;
  config.up.listen = "127.0.0.1:6500";
  config.controller.plan.grace_ms = 5000;
  config.router.limits.clients_max = 77;
  ASSERT_TRUE(layout.write_controller(config, {{n1, n2}, {n1, n2}, 21000}).has_value());
  ASSERT_TRUE(layout.write_router(config, {{n1, n2}, {n1, n2}, 21000}, 2).has_value());
  const Config controller = load_config(layout.path("controller.toml")).value();
  EXPECT_EQ(controller.controller.channel, "127.0.0.1:21000");
  EXPECT_EQ(controller.controller.plan.grace_ms, 5000);
  EXPECT_EQ(controller.controller.supervisor, layout.path("up.sock"));
  ASSERT_EQ(controller.controller.seed.size(), 1u);
  EXPECT_EQ(controller.controller.seed[0].layout.nodes[1].instance.address, "127.0.0.1:21002");
  const Config router = load_config(layout.path("router-2.toml")).value();
  EXPECT_EQ(router.router.id, "r2");
  EXPECT_EQ(router.router.listen, "127.0.0.1:6501");
  EXPECT_EQ(router.router.controllers, (std::vector<std::string>{"127.0.0.1:21000"}));
  EXPECT_EQ(router.router.limits.clients_max, 77u);
}

TEST_F(Layout, PathsWithQuotesAndBackslashesSurviveTheFiles) {
  dir = std::filesystem::path(dir).parent_path().string() + "/a \"b\" \\c";
  const UpLayout layout = open();
  ASSERT_TRUE(layout.write_controller({}, {{n1}, {n1}, 21000}).has_value());
  EXPECT_EQ(load_config(layout.path("controller.toml")).value().controller.dir, layout.path("controller"));
}

TEST_F(Layout, TheTokenIsMadeOnce) {
  const UpLayout layout = open();
  ASSERT_TRUE(layout.ensure_token().has_value());
  const std::string token = read(layout.path("channel.token"));
  EXPECT_EQ(token.size(), 33u);
  ASSERT_TRUE(layout.ensure_token().has_value());
  EXPECT_EQ(read(layout.path("channel.token")), token);
}

TEST_F(Layout, ARetiredNodeKeepsItsFilesAndLosesItsPassword) {
  const UpLayout layout = open();
  ASSERT_TRUE(layout.write_node(n1, "no").has_value());
  ASSERT_TRUE(layout.write_node(n2, "no").has_value());
  ASSERT_TRUE(layout.retire_node(n1, 123).has_value());
  EXPECT_TRUE(std::filesystem::exists(layout.path("node/n1.removed-123/redis.conf")));
  ASSERT_TRUE(layout.remove_node(n2).has_value());
  EXPECT_FALSE(std::filesystem::exists(layout.path("node/n2")));
  EXPECT_TRUE(control::NodeCredentials::read(layout.path("credentials")).value().all().empty());
}

TEST(RouterListen, RouterIListensOnThePortPlusIMinusOne) {
  UpOptions up;
  up.listen = "127.0.0.1:65534";
  EXPECT_EQ(router_listen(up, 1).value(), "127.0.0.1:65534");
  EXPECT_EQ(router_listen(up, 2).value(), "127.0.0.1:65535");
  EXPECT_FALSE(router_listen(up, 3).has_value());
}

}  // namespace
}  // namespace slipring::cli
