// Every key has one owner in an epoch: its source until its move is switched, its target afterwards.
#include "slipring/topology/routing.h"

#include <gtest/gtest.h>

#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::make_layout;
using testing::make_planned_snapshot;
using testing::make_snapshot;

std::shared_ptr<const PoolRouting> compile(const Pool& pool) {
  auto routing = PoolRouting::compile(pool);
  EXPECT_TRUE(routing) << routing.error().message;
  return *routing;
}

std::string key(int i) {
  return fmt::format("key:{}", i);
}

TEST(Routing, WithoutAPlanTheSchemeDecides) {
  const Snapshot snapshot = make_snapshot(5);
  const auto routing = compile(snapshot.pools[0]);
  EXPECT_EQ(routing->new_scheme(), nullptr);
  ASSERT_EQ(routing->instances().size(), 5u);
  for (int i = 0; i < 1000; ++i) {
    const Decision d = routing->decide(key(i));
    EXPECT_EQ(d.owner, routing->old_scheme().owner(key(i)));
    EXPECT_EQ(d.source, d.owner);
    EXPECT_EQ(d.target, d.owner);
    EXPECT_EQ(d.move, kNoMove);
  }
}

TEST(Routing, InstancesCarryTheirNodesNames) {
  const Snapshot snapshot = make_planned_snapshot(2);
  const auto routing = compile(snapshot.pools[0]);
  ASSERT_EQ(routing->instances().size(), 3u) << "the union of both sides";
  for (InstanceIndex i = 0; i < 3; ++i) {
    EXPECT_EQ(routing->instances()[i], snapshot.pools[0].plan->next.nodes[i].instance);
    EXPECT_EQ(routing->node_name(i), snapshot.pools[0].plan->next.nodes[i].name);
  }
  EXPECT_EQ(routing->pool(), snapshot.pools[0]);
}

TEST(Routing, AKeyBelongsToItsMoveBySourceTargetAndSlice) {
  for (const uint32_t slices : {1u, 16u, 256u, 4096u}) {
    const Snapshot snapshot = make_planned_snapshot(3, slices);
    const Pool& pool = snapshot.pools[0];
    const auto routing = compile(pool);
    int moved = 0;
    for (int i = 0; i < 2000; ++i) {
      const Decision d = routing->decide(key(i));
      EXPECT_EQ(d.owner, d.source) << "nothing is switched yet";
      EXPECT_EQ(routing->instances()[d.source], pool.layout.nodes[routing->old_scheme().owner(key(i))].instance);
      EXPECT_EQ(routing->instances()[d.target], pool.plan->next.nodes[routing->new_scheme()->owner(key(i))].instance);
      if (d.source == d.target) {
        EXPECT_EQ(d.move, kNoMove);
        continue;
      }
      ++moved;
      ASSERT_LT(d.move, pool.plan->moves.size());
      const MoveOwner& move = pool.plan->moves[d.move];
      EXPECT_EQ(move.source, routing->instances()[d.source]);
      EXPECT_EQ(move.target, routing->instances()[d.target]);
      EXPECT_EQ(move.slice, slice_of(routing->old_scheme().tag(key(i)), slices));
    }
    EXPECT_GT(moved, 1000) << "modulo moves three of four";
  }
}

TEST(Routing, SwitchingOneMoveChangesTheOwnerOfItsKeysOnly) {
  Snapshot snapshot = make_planned_snapshot(3, 16);
  const auto before = compile(snapshot.pools[0]);
  constexpr MoveIndex kSwitched = 20;
  snapshot.pools[0].plan->moves[kSwitched].target_owns = true;
  const auto after = compile(snapshot.pools[0]);
  int switched = 0;
  for (int i = 0; i < 5000; ++i) {
    const Decision a = before->decide(key(i));
    const Decision b = after->decide(key(i));
    EXPECT_EQ(a.move, b.move);
    EXPECT_EQ(b.owner, b.move == kSwitched ? a.target : a.owner);
    switched += b.move == kSwitched ? 1 : 0;
  }
  EXPECT_GT(switched, 0);
}

TEST(Routing, AKeyWithoutAMoveStaysWithItsSource) {
  Snapshot snapshot = make_planned_snapshot(3, 16);
  std::vector<MoveOwner>& moves = snapshot.pools[0].plan->moves;
  // Only odd slices, so no move stands at its slice's offset; and all of them switched.
  std::erase_if(moves, [](const MoveOwner& m) { return m.slice % 2 == 0; });
  for (MoveOwner& move : moves) move.target_owns = true;
  ASSERT_TRUE(validate(snapshot));
  const auto routing = compile(snapshot.pools[0]);
  for (int i = 0; i < 2000; ++i) {
    const Decision d = routing->decide(key(i));
    if (d.source == d.target) continue;
    const uint32_t slice = slice_of(routing->old_scheme().tag(key(i)), 16);
    ASSERT_EQ(d.move == kNoMove, slice % 2 == 0);
    EXPECT_EQ(d.owner, slice % 2 == 0 ? d.source : d.target);
    if (d.move != kNoMove) {
      EXPECT_EQ(moves[d.move].slice, slice);
    }
  }
}

TEST(Routing, ReplacingAnAddressMovesThatNodesKeysOnly) {
  Snapshot snapshot = make_snapshot(3);
  Pool& pool = snapshot.pools[0];
  Layout after = pool.layout;
  after.nodes[1].instance = {"127.0.0.1:9000", 2};
  pool.plan = OpenPlan{1, after, 1, {{pool.layout.nodes[1].instance, after.nodes[1].instance, 0, true}}};
  ASSERT_TRUE(validate(snapshot));
  const auto routing = compile(pool);
  ASSERT_EQ(routing->instances().size(), 4u);
  EXPECT_EQ(routing->node_name(3), "n2");
  for (int i = 0; i < 1000; ++i) {
    const Decision d = routing->decide(key(i));
    EXPECT_EQ(d.owner, d.source == 1 ? 3u : d.source);
  }
}

TEST(Routing, RenamingANodeMovesNothing) {
  Snapshot snapshot = make_snapshot(3);
  Pool& pool = snapshot.pools[0];
  Layout after = pool.layout;
  after.nodes[0].label = "n1";
  after.nodes[0].name = "renamed";
  pool.plan = OpenPlan{1, after, 1, {}};
  const auto routing = compile(pool);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(routing->decide(key(i)).move, kNoMove);
  EXPECT_EQ(routing->node_name(0), "n1") << "the old side's name";
}

TEST(Routing, AllKeysOnTheTargetsIsTheNextPlacement) {
  Snapshot snapshot = make_planned_snapshot(4, 256);
  for (MoveOwner& move : snapshot.pools[0].plan->moves) move.target_owns = true;
  const auto during = compile(snapshot.pools[0]);
  Pool done = snapshot.pools[0];
  done.layout = done.plan->next;
  done.plan.reset();
  const auto after = compile(done);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(during->instances()[during->decide(key(i)).owner], after->instances()[after->decide(key(i)).owner]);
  }
}

TEST(Routing, ASchemeThatCannotBeMadeIsRefused) {
  Pool pool = make_snapshot(2).pools[0];
  pool.layout.scheme.name = "nosuch";
  EXPECT_EQ(PoolRouting::compile(pool).error().code, Code::kInvalidArgument);
  pool = make_planned_snapshot(2).pools[0];
  pool.plan->next.scheme.name = "nosuch";
  EXPECT_EQ(PoolRouting::compile(pool).error().code, Code::kInvalidArgument);
  pool = make_planned_snapshot(2).pools[0];
  pool.plan->slices = 5;
  EXPECT_EQ(PoolRouting::compile(pool).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace slipring
