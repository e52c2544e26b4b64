// Moves over real servers: a node joins, leaves and changes its weight while the fleet is in use; what was acknowledged
// is there, what moved is where it belongs, and a rollback keeps the new writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/cluster.h"

namespace slipring::testing {
namespace {

using control::PlanState;

// Keys of every type, written through a client.
void load(redis::Client& client, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    switch (i % 7) {
      case 0:
        client.append({"SET", "string:" + n, "value " + n});
        break;
      case 1:
        client.append({"RPUSH", "list:" + n, "a", n, "c"});
        break;
      case 2:
        client.append({"HSET", "hash:" + n, "f", n, "g", "2"});
        break;
      case 3:
        client.append({"SADD", "set:" + n, "x", n});
        break;
      case 4:
        client.append({"ZADD", "zset:" + n, "1.5", "m", n, "o"});
        break;
      case 5:
        client.append({"XADD", "stream:" + n, "1-1", "f", n});
        break;
      case 6:
        client.append({"SET", "ttl:" + n, n, "PX", "3600000"});
        break;
    }
  }
  ASSERT_TRUE(client.flush());
  for (int i = 0; i < count; ++i) {
    auto reply = client.read_reply();
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_FALSE(reply->is_error()) << reply->text;
  }
}

// No key on two servers, each where the controller says.
void expect_all_at_home(Cluster& cluster, size_t count) {
  const auto found = cluster.keys_by_server();
  EXPECT_EQ(found.size(), count);
  std::vector<std::string> keys;
  for (const auto& [key, holders] : found) {
    EXPECT_EQ(holders.size(), 1u) << key;
    keys.push_back(key);
  }
  for (size_t from = 0; from < keys.size(); from += 5000) {
    const std::vector<std::string> page(keys.begin() + static_cast<long>(from),
                                        keys.begin() + static_cast<long>(std::min(keys.size(), from + 5000)));
    const auto where = cluster.controller().locate("", page).value();
    for (size_t i = 0; i < page.size(); ++i) {
      EXPECT_EQ(where[i].owner, cluster.node_name(found.at(page[i]).front())) << page[i];
    }
  }
}

TEST(Move, ANodeJoinsAndTakesExactlyItsKeys) {
  Cluster cluster;
  redis::Client client = cluster.client();
  load(client, 7000);
  control::PlanOptions options;
  options.grace_ms = 0;
  const uint64_t plan = cluster.start(control::NodeAdd{"n4", cluster.server(4).address()}, options);
  ASSERT_TRUE(cluster.reaches(plan, PlanState::kCompleted));
  expect_all_at_home(cluster, 7000);
  EXPECT_GT(cluster.admin(4).call({"DBSIZE"})->integer, 1000);
  EXPECT_EQ(client.call({"GET", "string:0"})->text, "value 0");
}

TEST(Move, RollbackKeepsWhatWasWrittenAfterTheCutover) {
  Cluster cluster;
  redis::Client client = cluster.client();
  load(client, 3500);
  const uint64_t plan = cluster.start(control::NodeAdd{"n4", cluster.server(4).address()});
  ASSERT_TRUE(cluster.reaches(plan, PlanState::kGrace));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(client.call({"SET", "new:" + std::to_string(i), std::to_string(i)}));
  for (int i = 1; i < 3500; i += 7) ASSERT_EQ(client.call({"RPUSH", "list:" + std::to_string(i), "later"})->integer, 4);
  const uint64_t epoch = cluster.controller().status()->epoch;
  ASSERT_TRUE(cluster.controller().act(plan, control::PlanAction::kRollback, false));
  ASSERT_TRUE(cluster.reaches(plan, PlanState::kRolledBack));
  EXPECT_GT(cluster.controller().status()->epoch, epoch);
  EXPECT_EQ(cluster.admin(4).call({"DBSIZE"})->integer, 0);
  expect_all_at_home(cluster, 4000);
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(client.call({"GET", "new:" + std::to_string(i)})->text, std::to_string(i));
  }
  for (int i = 1; i < 3500; i += 7) EXPECT_EQ(client.call({"LLEN", "list:" + std::to_string(i)})->integer, 4);
}

TEST(Move, ANodeLeavesAndChangesItsWeight) {
  Cluster cluster;
  redis::Client client = cluster.client();
  load(client, 3500);
  control::PlanOptions options;
  options.grace_ms = 0;
  uint64_t plan = cluster.start(control::NodeWeight{"n1", 3000}, options);
  ASSERT_TRUE(cluster.reaches(plan, PlanState::kCompleted));
  expect_all_at_home(cluster, 3500);
  plan = cluster.start(control::NodeRemove{"n2"}, options);
  ASSERT_TRUE(cluster.reaches(plan, PlanState::kCompleted));
  expect_all_at_home(cluster, 3500);
  EXPECT_EQ(cluster.admin(2).call({"DBSIZE"})->integer, 0);
}

// Counters that two threads raise through two routers while nodes come and go: every acknowledged INCR counts, and no
// answer is ever less than the one before.
TEST(Move, CountersKeepCountingThroughTwoRouters) {
  ClusterOptions options;
  options.routers = 2;
  Cluster cluster(options);
  redis::Client loader = cluster.client();
  load(loader, 3500);
  constexpr int kCounters = 200;
  std::atomic<bool> stop{false};
  std::atomic<int> errors{0};
  std::vector<std::vector<int64_t>> counts(2, std::vector<int64_t>(kCounters, 0));
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      redis::Client client = cluster.client(w + 1);
      for (int i = 0; !stop; i = (i + 1) % kCounters) {
        auto reply = client.call({"INCR", fmt::format("counter:{}:{}", w, i)});
        if (!reply || reply->integer != ++counts[static_cast<size_t>(w)][static_cast<size_t>(i)]) {
          std::fprintf(stderr, "counter:%d:%d: %s\n", w, i,
                       reply ? std::to_string(reply->integer).c_str() : reply.error().message.c_str());
          ++errors;
          return;
        }
      }
    });
  }
  control::PlanOptions plan_options;
  plan_options.grace_ms = 0;
  uint64_t plan = cluster.start(control::NodeAdd{"n4", cluster.server(4).address()}, plan_options);
  EXPECT_TRUE(cluster.reaches(plan, PlanState::kCompleted));
  plan = cluster.start(control::NodeRemove{"n1"}, plan_options);
  EXPECT_TRUE(cluster.reaches(plan, PlanState::kCompleted));
  stop = true;
  for (std::thread& t : writers) t.join();
  EXPECT_EQ(errors, 0);
  expect_all_at_home(cluster, 3500 + 2 * kCounters);
  for (int w = 0; w < 2; ++w) {
    for (int i = 0; i < kCounters; ++i) {
      EXPECT_EQ(loader.call({"GET", fmt::format("counter:{}:{}", w, i)})->text,
                std::to_string(counts[static_cast<size_t>(w)][static_cast<size_t>(i)]));
    }
  }
}

TEST(Move, WhatPreflightRefusesChangesNothing) {
  Cluster cluster;
  redis::Client client = cluster.client();
  load(client, 70);
  redis::Client foreign = cluster.admin(4);
  ASSERT_TRUE(foreign.call({"SET", "already", "here"}));
  const control::ChangeRequest request{"main", control::NodeAdd{"n4", cluster.server(4).address()}, {}};
  const auto preview = cluster.controller().preview(request).value();
  const auto started = cluster.controller().start(request, preview.epoch).value();
  EXPECT_EQ(started.plan, 0u);
  ASSERT_TRUE(control::refuses(started.findings));
  EXPECT_EQ(cluster.controller().status()->epoch, 1u);
  EXPECT_EQ(foreign.call({"DBSIZE"})->integer, 1);
}

}  // namespace
}  // namespace slipring::testing
