// A fleet with keys in it and what the fault tests ask of it.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/cluster.h"
#include "tests/support/load.h"

namespace slipring::testing {

inline void fill(redis::Client& client, int count) {
  for (int i = 0; i < count; ++i) client.append({"SET", fmt::format("fill:{}", i), fmt::format("value {}", i)});
  ASSERT_TRUE(client.flush());
  for (int i = 0; i < count; ++i) ASSERT_FALSE(client.read_reply()->is_error());
}

inline void expect_filled(redis::Client& client, int count) {
  for (int i = 0; i < count; ++i) {
    Result<redis::Reply> reply = fail(Code::kUnavailable, "");
    ASSERT_TRUE(eventually(30, [&] {
      return (reply = client.call({"GET", fmt::format("fill:{}", i)})).has_value();
    })) << reply.error().message;
    ASSERT_EQ(reply->text, fmt::format("value {}", i));
  }
}

inline void expect_no_copies(Cluster& cluster) {
  for (const auto& [key, holders] : cluster.keys_by_server()) EXPECT_EQ(holders.size(), 1u) << key;
}

inline constexpr int kFill = 2000;

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
  // A process that stops inside a transaction keeps the store's file locked, and nobody leads: then it goes on for a
  // moment and is stopped again.
  bool second_takes_over() {
    for (int tries = 0; tries < 10; ++tries) {
      if (eventually(10, [&] { return cluster_->leads(2); })) return true;
      if (!cluster_->controller_process(1).stopped()) continue;
      cluster_->controller_process(1).resume();
      cluster_->controller_process(1).stop();
    }
    return false;
  }
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace slipring::testing
