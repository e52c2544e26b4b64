// A plan starts only between servers that can carry it, and every refusal says what to do.
#include "slipring/rebalance/preflight.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipring::rebalance {
namespace {

ServerFacts healthy(const std::string& address) {
  ServerFacts f;
  f.address = address;
  f.identity = {"run", "master", "repl"};
  f.version = "7.0.15";
  f.max_memory_policy = "noeviction";
  f.used_memory_bytes = 1000;
  f.max_memory_bytes = 1'000'000;
  f.append_only = true;
  f.append_fsync = "everysec";
  f.diskless_sync = true;
  f.diskless_sync_delay_s = 5;
  return f;
}

PreflightInput healthy_input() {
  PreflightInput input;
  input.servers.push_back({"n1", healthy("10.0.0.1:6379"), true, false, false});
  input.servers.push_back({"n4", healthy("10.0.0.4:6379"), false, true, true});
  input.probes.push_back({"n1", "n4", ""});
  return input;
}

using Disorder = std::function<void(PreflightInput&)>;

// The findings of a healthy input with one disorder.
std::vector<Finding> with(const Disorder& disorder) {
  PreflightInput input = healthy_input();
  disorder(input);
  return preflight(input);
}

TEST(Preflight, AHealthyPairHasNothingToSay) {
  EXPECT_TRUE(preflight(healthy_input()).empty());
}

TEST(Preflight, EachDisorderRefusesUnderItsOwnNameAndSaysWhatToDo) {
  const std::vector<std::pair<std::string, Disorder>> disorders = {
      {"role", [](PreflightInput& i) { i.servers[1].facts.identity.role = "slave"; }},
      {"loading", [](PreflightInput& i) { i.servers[0].facts.loading = true; }},
      {"cluster_mode", [](PreflightInput& i) { i.servers[0].facts.cluster_mode = true; }},
      {"clock", [](PreflightInput& i) { i.servers[1].facts.clock_ahead_ms = -2001; }},
      {"databases", [](PreflightInput& i) { i.servers[0].facts.keys_by_database[3] = 1; }},
      {"not_empty", [](PreflightInput& i) { i.servers[1].keys_of_ours = 1; }},
      {"big_key", [](PreflightInput& i) { i.servers[0].big_keys = {"\"huge\""}; }},
      {"maxmemory_policy", [](PreflightInput& i) { i.servers[0].facts.max_memory_policy = "allkeys-lru"; }},
      {"memory", [](PreflightInput& i) { i.servers[1].bytes_to_receive = 900'000; }},
      {"foreign_clients",
       [](PreflightInput& i) {
         i.servers[0].facts.foreign_clients = {{"10.0.0.9:1", "default", "app"}};
       }},
      {"persistence", [](PreflightInput& i) { i.servers[1].facts.append_only = false; }},
      {"replicas", [](PreflightInput& i) { i.servers[0].facts.connected_replicas = 1; }},
      {"payload_format", [](PreflightInput& i) { i.probes[0].error = "ERR DUMP payload version"; }},
      {"unreachable", [](PreflightInput& i) { i.unreachable = {"node n5 (10.0.0.5:1): connect: refused"}; }},
      {"version", [](PreflightInput& i) { i.servers[0].facts.version = "6.2.14"; }},
      {"fence", [](PreflightInput& i) { i.without_acl = {"node n5 (10.0.0.5:1): the server has no ACL"}; }},
      {"feed", [](PreflightInput& i) { i.servers[0].facts.min_replicas_to_write = 1; }},
  };
  for (const auto& [check, disorder] : disorders) {
    const std::vector<Finding> findings = with(disorder);
    ASSERT_EQ(findings.size(), 1u) << check;
    EXPECT_EQ(findings[0].check, check);
    EXPECT_EQ(findings[0].severity, Severity::kRefuse) << check;
    EXPECT_FALSE(findings[0].message.empty()) << check;
    EXPECT_FALSE(findings[0].todo.empty()) << check;
    EXPECT_TRUE(refuses(findings)) << check;
  }
}

TEST(Preflight, ForeignClientsAreNamed) {
  const auto findings = with([](PreflightInput& i) {
    i.servers[0].facts.foreign_clients = {{"10.0.0.9:1", "default", "app", false, "set"}};
  });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "1 client connection past the routers: 10.0.0.9:1 (user default, name \"app\", last command set)");
}

TEST(Preflight, ABlockedForeignClientIsRefusedEvenWhereForeignClientsAreAllowed) {
  const auto findings = with([](PreflightInput& i) {
    i.key_prefix = "app:";
    i.servers[0].facts.foreign_clients = {{"10.0.0.9:1", "default", "other", false},
                                          {"10.0.0.9:2", "default", "", true}};
  });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "blocked_clients");
}

TEST(Preflight, WeakerPersistenceIsAWarningOnceAccepted) {
  const auto findings = with([](PreflightInput& i) {
    i.accept_weaker = true;
    i.servers[1].facts.append_only = false;
  });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarn);
  EXPECT_FALSE(refuses(findings));
}

TEST(Preflight, StrongerPersistenceOnTheTargetIsFine) {
  EXPECT_TRUE(with([](PreflightInput& i) { i.servers[1].facts.append_fsync = "always"; }).empty());
}

TEST(Preflight, CachePoolsMayEvictAndPersistLess) {
  EXPECT_TRUE(with([](PreflightInput& i) {
                i.kind = PoolKind::kCache;
                i.servers[1].facts.append_only = false;
                i.servers[1].facts.max_memory_policy = "allkeys-lru";
              }).empty());
}

TEST(Preflight, MemoryFallsBackToTheMachinesWhereNoLimitIsSet) {
  const auto findings = with([](PreflightInput& i) {
    i.servers[1].facts.max_memory_bytes = 0;
    i.servers[1].facts.system_memory_bytes = 10'000;
    i.servers[1].bytes_to_receive = 8'000;
  });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "memory");
}

TEST(PsyncFeed, NeedsABacklogOrADelayedDisklessSync) {
  ServerFacts f = healthy("a:1");
  EXPECT_FALSE(check_psync_feed("s", f));
  f.diskless_sync_delay_s = 1;
  EXPECT_TRUE(check_psync_feed("s", f));
  f.backlog_active = true;
  EXPECT_FALSE(check_psync_feed("s", f));
  f = healthy("a:1");
  f.diskless_sync = false;
  EXPECT_TRUE(check_psync_feed("s", f));
  f = healthy("a:1");
  f.diskless_sync_max_replicas = 1;
  EXPECT_TRUE(check_psync_feed("s", f));
}

TEST(Preflight, AFenceByNamesOnServersWithAclIsNotedAsWeaker) {
  PreflightInput input = healthy_input();
  input.fence = PoolFence::kNames;
  input.servers[1].facts.has_acl = false;
  const std::vector<Finding> findings = preflight(input);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].check, "fence");
  EXPECT_EQ(findings[0].subject, "node n1 (10.0.0.1:6379)");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
}

}  // namespace
}  // namespace slipring::rebalance
