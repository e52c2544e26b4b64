// A fault point does nothing unless the environment names it, and then exactly at its time.
#include "slipring/base/fault_point.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace slipring {
namespace {

TEST(FaultPoint, WithoutTheEnvironmentNothingHappens) {
  fault_point("plan", "commit", "before");
  EXPECT_FALSE(internal::fault_points_armed);
}

TEST(FaultPointDeathTest, TheNamedPointEndsTheProcessAtItsTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    ::setenv("SLIPRING_FAULT_POINT", "plan.commit.before:2", 1);
    internal::reach_fault_point("plan", "commit", "after");
    internal::reach_fault_point("plan", "commit", "before");
    std::fprintf(stderr, "once\n");
    internal::reach_fault_point("plan", "commit", "before");
    std::fprintf(stderr, "twice\n");
  };
  EXPECT_EXIT(run(), ::testing::KilledBySignal(SIGKILL), "once\n$");
}

}  // namespace
}  // namespace slipring
