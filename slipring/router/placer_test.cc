// Keys are placed together, and commands for keys of held moves wait, whatever their other keys are.
#include "slipring/router/placer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "slipring/topology/snapshot.h"

namespace slipring::router {
namespace {

Node node(const std::string& name, int port) {
  Node n;
  n.name = name;
  n.instance.address = "127.0.0.1:" + std::to_string(port);
  return n;
}

Pool two_nodes() {
  Pool pool;
  pool.name = "main";
  pool.layout.nodes = {node("n1", 7001), node("n2", 7002)};
  return pool;
}

// n3 joins; every move is still owned by its source, or by its target.
Pool with_plan(bool target_owns) {
  Pool pool = two_nodes();
  OpenPlan plan;
  plan.id = 1;
  plan.next = pool.layout;
  plan.next.nodes.push_back(node("n3", 7003));
  for (const Node& source : pool.layout.nodes) {
    plan.moves.push_back({source.instance, plan.next.nodes[2].instance, 0, target_owns});
  }
  pool.plan = plan;
  return pool;
}

std::shared_ptr<const PoolRouting> compile(const Pool& pool) {
  return *PoolRouting::compile(pool);
}

Placer placer_of(const Pool& pool) {
  Placer placer;
  placer.use(compile(pool));
  return placer;
}

std::string key_that(const Placer& placer, bool moves, InstanceIndex owner) {
  for (int i = 0;; ++i) {
    const std::string key = "k" + std::to_string(i);
    const Decision decision = placer.routing()->decide(key);
    if ((decision.move != kNoMove) == moves && decision.source == owner) return key;
  }
}

TEST(Placer, KnowsNoPlaceBeforeATopology) {
  const Placer placer;
  EXPECT_EQ(placer.place("k").place, Place::kNowhere);
  const std::string_view keys[] = {"a", "b"};
  EXPECT_EQ(placer.place(keys).place, Place::kNowhere);
}

TEST(Placer, PlacesOneKeyAtItsOwner) {
  const Placer placer = placer_of(two_nodes());
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    const Placement at = placer.place(key);
    EXPECT_EQ(at.place, Place::kOne);
    EXPECT_EQ(at.instance, placer.routing()->decide(key).owner);
  }
}

TEST(Placer, KeysOfOneTagLieTogetherAndOthersMayNot) {
  const Placer placer = placer_of(two_nodes());
  const std::string_view tagged[] = {"{t}a", "{t}b", "x{t}"};
  EXPECT_EQ(placer.place(tagged).place, Place::kOne);
  const std::string a = key_that(placer, false, 0);
  const std::string b = key_that(placer, false, 1);
  const std::string_view apart[] = {a, b};
  EXPECT_EQ(placer.place(apart).place, Place::kSeveral);
}

TEST(Placer, PlacesEachKeyAndSaysWhetherTheyAreTogether) {
  const Placer placer = placer_of(two_nodes());
  const std::string a = key_that(placer, false, 0);
  const std::string b = key_that(placer, false, 1);
  std::vector<InstanceIndex> at;
  const std::string_view apart[] = {a, b, a};
  EXPECT_EQ(placer.place_each(apart, at), Place::kSeveral);
  EXPECT_EQ(at, (std::vector<InstanceIndex>{0, 1, 0}));
  const std::string_view together[] = {a, a};
  EXPECT_EQ(placer.place_each(together, at), Place::kOne);
}

TEST(Placer, HoldsExactlyTheKeysOfHeldMoves) {
  Placer placer = placer_of(with_plan(false));
  const std::string moving = key_that(placer, true, 0);
  const std::string other_move = key_that(placer, true, 1);
  const std::string staying = key_that(placer, false, 0);
  const uint32_t first[] = {0};
  placer.hold(first);
  EXPECT_TRUE(placer.holding());
  EXPECT_EQ(placer.place(moving).place, Place::kHeld);
  EXPECT_EQ(placer.place(other_move).place, Place::kOne);
  EXPECT_EQ(placer.place(staying).place, Place::kOne);
  const std::string_view mixed[] = {staying, other_move, moving};
  EXPECT_EQ(placer.place(mixed).place, Place::kHeld);
  std::vector<InstanceIndex> at;
  EXPECT_EQ(placer.place_each(mixed, at), Place::kHeld);
  placer.release();
  EXPECT_EQ(placer.place(moving).place, Place::kOne);
}

TEST(Placer, TheOwnersOfHeldMovesAreTheSidesThatServeThem) {
  Placer source_side = placer_of(with_plan(false));
  const uint32_t both[] = {0, 1};
  source_side.hold(both);
  EXPECT_EQ(source_side.owners_of_held(), (std::vector<InstanceIndex>{0, 1}));
  Placer target_side = placer_of(with_plan(true));
  target_side.hold(both);
  EXPECT_EQ(target_side.owners_of_held(), (std::vector<InstanceIndex>{2}));
}

TEST(Placer, PassesOverMovesThatThePlanDoesNotHave) {
  Placer placer = placer_of(with_plan(false));
  const uint32_t odd[] = {1, 7, UINT32_MAX};
  placer.hold(odd);
  EXPECT_EQ(placer.place(key_that(placer, true, 0)).place, Place::kOne);
  EXPECT_EQ(placer.place(key_that(placer, true, 1)).place, Place::kHeld);
  Placer without = placer_of(two_nodes());
  without.hold(odd);
  EXPECT_FALSE(without.holding());
}

TEST(Placer, ANewTopologyHoldsNothing) {
  Placer placer = placer_of(with_plan(false));
  const uint32_t first[] = {0};
  placer.hold(first);
  placer.use(compile(with_plan(true)));
  EXPECT_FALSE(placer.holding());
}

}  // namespace
}  // namespace slipring::router
