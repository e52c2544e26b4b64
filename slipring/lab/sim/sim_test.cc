#include "slipring/lab/sim/sim.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace slipring::lab {
namespace {

// SLIPRING_SIM_SEEDS: fewer, where a build is slow; then not every goal of coverage need be reached.
constexpr uint64_t kSeeds = 500;
constexpr uint64_t kSeedsUntilCaught = 1'500;

// One run after the other; every tenth is repeated and must be the same to the last event.
TEST(Sim, EverySeedKeepsEveryInvariantAndEnds) {
  const char* fewer = std::getenv("SLIPRING_SIM_SEEDS");
  const uint64_t seeds = fewer != nullptr ? std::strtoull(fewer, nullptr, 10) : kSeeds;
  ASSERT_GE(seeds, 10u) << "a run of every ten is repeated";
  std::map<std::string, uint64_t> coverage;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const SimResult result = run_sim({seed, Variant::kNone, false});
    ASSERT_TRUE(result.ok) << result.failure << "\n  " << result.scenario << "\n  again: " << result.replay
                           << " --trace";
    for (const auto& [what, count] : result.coverage) coverage[what] += count;
    if (seed % 10 != 0) continue;
    const SimResult again = run_sim({seed, Variant::kNone, false});
    ASSERT_EQ(again.digest, result.digest) << "seed " << seed << " gives another run";
    ASSERT_EQ(again.events, result.events);
  }
  for (const auto& [what, count] : coverage) {
    std::printf("reached %-32s %10llu\n", what.c_str(), static_cast<unsigned long long>(count));
  }
  if (seeds < kSeeds) return;
  for (const std::string& goal : coverage_goals()) EXPECT_GT(coverage[goal], 0u) << goal << " was never reached";
}

TEST(Sim, DifferentSeedsGiveDifferentRuns) {
  EXPECT_NE(run_sim({1, Variant::kNone, false}).digest, run_sim({2, Variant::kNone, false}).digest);
}

TEST(Sim, ATraceChangesNothing) {
  const SimResult traced = run_sim({3, Variant::kNone, true});
  EXPECT_EQ(traced.digest, run_sim({3, Variant::kNone, false}).digest);
  EXPECT_FALSE(traced.trace.empty());
}

class NaiveVariant : public ::testing::TestWithParam<Variant> {};

TEST_P(NaiveVariant, IsCaught) {
  for (uint64_t seed = 1; seed <= kSeedsUntilCaught; ++seed) {
    const SimResult result = run_sim({seed, GetParam(), false});
    // A wrong protocol that only gets stuck does no harm: caught is one that loses or gives what is wrong.
    if (result.ok || result.failure.find("did not end") != std::string::npos) continue;
    std::printf("%s: caught by seed %llu: %s\n", std::string(variant_name(GetParam())).c_str(),
                static_cast<unsigned long long>(seed), result.failure.c_str());
    EXPECT_NE(result.replay.find(variant_name(GetParam())), std::string::npos);
    return;
  }
  ADD_FAILURE() << variant_name(GetParam()) << " was not caught by " << kSeedsUntilCaught << " seeds";
}

INSTANTIATE_TEST_SUITE_P(All, NaiveVariant, ::testing::ValuesIn(naive_variants()));

TEST(Variants, HaveNamesThatAreReadBack) {
  for (const Variant variant : naive_variants()) EXPECT_EQ(parse_variant(variant_name(variant)), variant);
  EXPECT_EQ(parse_variant("none"), Variant::kNone);
  EXPECT_FALSE(parse_variant("clever"));
}

}  // namespace
}  // namespace slipring::lab
