// A connection is permitted only while its generation is the router's own, nobody has barred it, no attempt is open
// without it, and the process behind it was admitted.
#include "slipring/channel/permits.h"

#include <gtest/gtest.h>

namespace slipring::channel {
namespace {

struct PermitsTest : ::testing::Test {
  PermitsTest() { permits.admit("10.0.0.1:6379", "run1"); }
  PermitAnswer ask(uint64_t generation, const std::string& run_id = "run1") const {
    return permits.judge({1, generation, "10.0.0.1:6379", run_id}, generation, nullptr);
  }
  Permits permits;
};

TEST_F(PermitsTest, TheRoutersOwnGenerationOnAnAdmittedProcessIsPermitted) {
  EXPECT_EQ(ask(5), PermitAnswer::kGranted);
}

TEST_F(PermitsTest, AnotherGenerationThanTheRouterWasGivenIsFenced) {
  EXPECT_EQ(permits.judge({1, 5, "10.0.0.1:6379", "run1"}, 6, nullptr), PermitAnswer::kFenced);
  EXPECT_EQ(permits.judge({1, 0, "10.0.0.1:6379", "run1"}, 0, nullptr), PermitAnswer::kFenced) << "0 is none";
}

TEST_F(PermitsTest, OnlyTheProcessThatWasAdmittedIsUsed) {
  EXPECT_EQ(ask(5, "run2"), PermitAnswer::kWait);
  EXPECT_EQ(permits.judge({1, 5, "10.0.0.2:6379", "run1"}, 5, nullptr), PermitAnswer::kWait);
  permits.admit("10.0.0.1:6379", "run2");
  EXPECT_EQ(ask(5, "run2"), PermitAnswer::kGranted);
  EXPECT_EQ(ask(5, "run1"), PermitAnswer::kWait);
}

TEST_F(PermitsTest, WhoIsNotAskedToAcknowledgeTheOpenAttemptWaits) {
  const std::vector<uint64_t> attempt = {3, 5};
  EXPECT_EQ(permits.judge({1, 5, "10.0.0.1:6379", "run1"}, 5, &attempt), PermitAnswer::kGranted);
  EXPECT_EQ(permits.judge({1, 4, "10.0.0.1:6379", "run1"}, 4, &attempt), PermitAnswer::kWait);
}

TEST_F(PermitsTest, ABarKeepsOutEveryOtherGenerationGivenOutSoFarAndNoLaterOne) {
  permits.bar(std::vector<uint64_t>{3, 5}, 6);
  EXPECT_EQ(ask(3), PermitAnswer::kGranted);
  EXPECT_EQ(ask(5), PermitAnswer::kGranted);
  for (const uint64_t barred : {1, 2, 4, 6}) EXPECT_EQ(ask(barred), PermitAnswer::kFenced) << barred;
  EXPECT_EQ(ask(7), PermitAnswer::kGranted);
}

TEST_F(PermitsTest, WhatWasBarredOnceIsNeverPermittedAgain) {
  permits.bar(std::vector<uint64_t>{3}, 6);
  permits.bar(std::vector<uint64_t>{3, 4, 7}, 8);
  EXPECT_EQ(ask(3), PermitAnswer::kGranted);
  EXPECT_EQ(ask(4), PermitAnswer::kFenced);
  EXPECT_EQ(ask(7), PermitAnswer::kGranted);
  EXPECT_EQ(ask(8), PermitAnswer::kFenced);
  permits.bar(std::vector<uint64_t>{}, 2);
  EXPECT_EQ(ask(3), PermitAnswer::kFenced) << "a bar keeps only what it names";
  EXPECT_EQ(ask(9), PermitAnswer::kGranted);
}

}  // namespace
}  // namespace slipring::channel
