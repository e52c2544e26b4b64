// What holds for the decision about any key, under any plan: held against the plain definition, slowly computed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/topology/codec.h"
#include "slipring/topology/routing.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::make_layout;

// A pool with a plan between two random layouts under `scheme`, some of whose moves are missing, some switched.
Pool random_planned_pool(Random& random, const std::string& scheme) {
  const auto layout = [&](int port) {
    Layout out = make_layout(1 + random.below(6), port, scheme);
    if (scheme != "ring") return out;  // modulo has no weights
    out.scheme.options["vnodes"] = "16";
    for (Node& node : out.nodes) node.weight_milli = static_cast<int64_t>(100 + random.below(3000));
    return out;
  };
  const uint32_t slices = random.chance(0.1) ? 256 : random.chance(0.5) ? 1 : 16;
  Pool pool{"main", PoolKind::kStore, "", layout(7001), std::nullopt};
  // Half of the plans share nodes with the layout before, as operators' plans do.
  OpenPlan plan{1, layout(random.chance(0.5) ? 7001 : 7004), slices, {}};
  plan.moves = testing::all_moves(pool.layout, plan.next, slices);
  const double missing = random.chance(0.5) ? 0 : 0.3;
  std::erase_if(plan.moves, [&](const MoveOwner&) { return random.chance(missing); });
  for (MoveOwner& move : plan.moves) move.target_owns = random.chance(0.5);
  pool.plan = std::move(plan);
  return pool;
}

// The definition: place the key on both sides, and look through all moves.
struct Expected {
  Instance owner;
  Instance source;
  Instance target;
  MoveIndex move = kNoMove;
};

Expected look_up(const Pool& pool, const PoolRouting& routing, std::string_view key) {
  Expected expected;
  expected.source = pool.layout.nodes[routing.old_scheme().owner(key)].instance;
  expected.target = pool.plan->next.nodes[routing.new_scheme()->owner(key)].instance;
  expected.owner = expected.source;
  const uint32_t slice = slice_of(routing.old_scheme().tag(key), pool.plan->slices);
  for (size_t i = 0; i < pool.plan->moves.size(); ++i) {
    const MoveOwner& move = pool.plan->moves[i];
    if (move.source != expected.source || move.target != expected.target || move.slice != slice) continue;
    expected.move = static_cast<MoveIndex>(i);
    if (move.target_owns) expected.owner = expected.target;
  }
  return expected;
}

void check_decisions(uint64_t seed, const std::string& scheme) {
  Random random(seed);
  const Pool pool = random_planned_pool(random, scheme);
  const auto routing = PoolRouting::compile(pool);
  RC_ASSERT(routing.has_value());
  for (int i = 0; i < 20; ++i) {
    const std::string key = testing::random_bytes(random, 20);
    const Decision decision = (*routing)->decide(key);
    const Expected expected = look_up(pool, **routing, key);
    const std::vector<Instance>& instances = (*routing)->instances();
    RC_ASSERT(instances.at(decision.owner) == expected.owner);
    RC_ASSERT(instances.at(decision.source) == expected.source);
    RC_ASSERT(instances.at(decision.target) == expected.target);
    RC_ASSERT(decision.move == expected.move);
    RC_ASSERT((decision.source == decision.target) == (expected.source == expected.target));
  }
}

TEST(RoutingProperty, DecisionsFollowTheDefinitionUnderModulo) {
  EXPECT_TRUE(rc::check([](uint64_t seed) { check_decisions(seed, "modulo"); }));
}

TEST(RoutingProperty, DecisionsFollowTheDefinitionUnderRing) {
  EXPECT_TRUE(rc::check([](uint64_t seed) { check_decisions(seed, "ring"); }));
}

TEST(RoutingProperty, KeysOfOneTagMoveTogether) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto routing = PoolRouting::compile(random_planned_pool(random, "ring"));
    RC_ASSERT(routing.has_value());
    const std::string tag = "{" + std::to_string(random.below(1000)) + "}";
    const Decision first = (*routing)->decide(tag + "a");
    const Decision second = (*routing)->decide("prefix:" + tag);
    RC_ASSERT(first.owner == second.owner);
    RC_ASSERT(first.move == second.move);
  }));
}

TEST(RoutingProperty, WhoeverReadsTheEncodedSnapshotDecidesTheSame) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    Snapshot snapshot = testing::make_snapshot(1);
    snapshot.pools[0] = random_planned_pool(random, "ring");
    const auto decoded = decode_snapshot(encode_snapshot(snapshot));
    RC_ASSERT(decoded.has_value());
    const auto here = PoolRouting::compile(snapshot.pools[0]);
    const auto there = PoolRouting::compile(decoded->pools[0]);
    for (int i = 0; i < 20; ++i) {
      const std::string key = std::to_string(random.next());
      RC_ASSERT((*here)->decide(key).owner == (*there)->decide(key).owner);
      RC_ASSERT((*here)->decide(key).move == (*there)->decide(key).move);
    }
  }));
}

}  // namespace
}  // namespace slipring
