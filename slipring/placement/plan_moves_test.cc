// A plan says who gives what to whom: exactly for ranges, closely from a sample, never a node to itself.
#include "slipring/placement/plan_moves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "slipring/base/random.h"

namespace slipring {
namespace {

std::vector<Member> fleet(size_t n) {
  std::vector<Member> members;
  for (size_t i = 0; i < n; ++i) members.push_back({.name = "n" + std::to_string(i)});
  return members;
}

struct Side {
  std::vector<Member> members;
  std::unique_ptr<const Scheme> scheme;
  Placement placement() const { return {*scheme, members}; }
};

Side side(const SchemeSpec& spec, std::vector<Member> members) {
  Side made{std::move(members), nullptr};
  made.scheme = *make_scheme(spec, made.members);
  return made;
}

TEST(PlanMoves, AnAddedNodeTakesFromAllAndNothingElseMoves) {
  const Side before = side({}, fleet(4));
  const Side after = side({}, fleet(5));
  const MovePlan plan = plan_moves(before.placement(), after.placement());
  EXPECT_TRUE(plan.exact);
  ASSERT_EQ(plan.moves.size(), 4u);
  for (const MoveShare& move : plan.moves) {
    EXPECT_EQ(move.target, 4u);
    EXPECT_GT(move.ranges, 0u);
  }
  EXPECT_NEAR(plan.moved_share, plan_shares(*after.scheme)[4], 1e-12);
  EXPECT_NEAR(plan.least_share, 0.2, 1e-12);
  EXPECT_NEAR(plan.moved_share, 0.2, 0.05);
}

TEST(PlanMoves, SharesOfAPlacementAddUpToOne) {
  for (const char* name : {"ring", "slots", "maglev", "rendezvous", "jump"}) {
    const Side made = side({.name = name}, fleet(7));
    const std::vector<double> shares = plan_shares(*made.scheme);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9) << name;
  }
}

TEST(PlanMoves, TheSamePlacementMovesNothing) {
  for (const char* name : {"ring", "slots", "maglev", "rendezvous", "jump", "modulo"}) {
    const Side made = side({.name = name}, fleet(5));
    const MovePlan plan = plan_moves(made.placement(), made.placement());
    EXPECT_TRUE(plan.moves.empty()) << name;
    EXPECT_EQ(plan.moved_share, 0) << name;
    EXPECT_EQ(plan.least_share, 0) << name;
  }
}

TEST(PlanMoves, NodesAreMatchedByNameNotByPosition) {
  auto turned = fleet(5);
  std::reverse(turned.begin(), turned.end());
  const Side before = side({}, fleet(5));
  const Side after = side({}, turned);
  EXPECT_TRUE(plan_moves(before.placement(), after.placement()).moves.empty());
}

TEST(PlanMoves, TheExactPlanAgreesWithCountedKeys) {
  auto heavier = fleet(6);
  heavier[2].weight_milli = 2500;
  heavier.erase(heavier.begin());
  const Side before = side({.options = {{"vnodes", "40"}}}, fleet(6));
  const Side after = side({.options = {{"vnodes", "40"}}}, heavier);
  const MovePlan plan = plan_moves(before.placement(), after.placement());
  ASSERT_TRUE(plan.exact);
  Random random(1);
  std::map<std::pair<NodeIndex, NodeIndex>, double> counted;
  constexpr int kKeys = 200'000;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(random.next());
    const NodeIndex source = before.scheme->owner(key);
    const NodeIndex target = after.scheme->owner(key);
    if (before.members[source].name != after.members[target].name) counted[{source, target}] += 1.0 / kKeys;
  }
  EXPECT_EQ(counted.size(), plan.moves.size());
  for (const MoveShare& move : plan.moves) {
    const double seen = counted[std::pair(move.source, move.target)];
    EXPECT_NEAR(seen, move.share, 6 * std::sqrt(move.share / kKeys)) << move.source << "->" << move.target;
  }
}

TEST(PlanMoves, SlotsOfDifferentNumbersCompareExactly) {
  const Side whole = side({.name = "slots", .options = {{"slots", "100"}}}, fleet(3));
  const Side split = side({.name = "slots", .options = {{"slots", "100"}, {"split", "2"}}}, fleet(3));
  const MovePlan plan = plan_moves(whole.placement(), split.placement());
  EXPECT_TRUE(plan.exact);
  EXPECT_LT(plan.moved_share, 1e-15);
}

TEST(PlanMoves, OtherSchemesAreSampled) {
  const Side before = side({.name = "modulo"}, fleet(4));
  const Side after = side({}, fleet(4));
  const MovePlan plan = plan_moves(before.placement(), after.placement());
  EXPECT_FALSE(plan.exact);
  EXPECT_EQ(plan.sampled_keys, kPlanSampleKeys);
  EXPECT_NEAR(plan.moved_share, 0.75, 0.05);
  EXPECT_EQ(plan.least_share, 0);
}

TEST(PlanMoves, ModuloMovesNearlyAllOfThemWhenANodeIsAdded) {
  const Side before = side({.name = "modulo"}, fleet(4));
  const Side after = side({.name = "modulo"}, fleet(5));
  EXPECT_NEAR(plan_moves(before.placement(), after.placement()).moved_share, 0.8, 0.01);
}

}  // namespace
}  // namespace slipring
