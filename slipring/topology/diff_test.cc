// The difference of two epochs reads as what an operator did, and fits only what it was made against.
#include "slipring/topology/diff.h"

#include <gtest/gtest.h>

#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::make_node;
using testing::make_planned_snapshot;
using testing::make_snapshot;

std::vector<std::string> lines(const Snapshot& a, const Snapshot& b) {
  std::vector<std::string> out;
  for (const Edit& edit : diff(a, b)) out.push_back(to_string(edit));
  auto applied = apply_edits(diff(a, b), a);
  EXPECT_TRUE(applied && *applied == b);
  return out;
}

using Lines = std::vector<std::string>;

TEST(Diff, EqualSnapshotsDoNotDiffer) {
  EXPECT_EQ(lines(make_snapshot(3), make_snapshot(3)), Lines{});
}

TEST(Diff, NodesComeGoAndChange) {
  const Snapshot a = make_snapshot(3, 1);
  Snapshot b = make_snapshot(3, 2);
  std::vector<Node>& nodes = b.pools[0].layout.nodes;
  nodes.erase(nodes.begin());
  nodes[0].weight_milli = 2500;
  nodes[0].zone = "b";
  nodes[0].label = "old-name";
  nodes[1].instance = {"10.0.0.1:6379", 2};
  nodes[1].attributes["rack"] = "r1";
  nodes.push_back(make_node("n4", 7004, "a"));
  EXPECT_EQ(lines(a, b), (Lines{
                             "epoch 1 -> 2",
                             "pool main: node n1: removed, 127.0.0.1:7001 weight 1 zone none",
                             "pool main: node n2: weight 1 -> 2.5, zone none -> b, label none -> old-name",
                             "pool main: node n3: address 127.0.0.1:7003 generation 1 -> 10.0.0.1:6379 generation 2, "
                             "attributes",
                             "pool main: node n4: added, 127.0.0.1:7004 weight 1 zone a",
                         }));
}

TEST(Diff, TheOrderOfNodesCounts) {
  Snapshot b = make_snapshot(3);
  std::swap(b.pools[0].layout.nodes[0], b.pools[0].layout.nodes[2]);
  EXPECT_EQ(lines(make_snapshot(3), b), Lines{"pool main: order of nodes changed"});
}

TEST(Diff, ANodeInTheMiddleIsOneEdit) {
  Snapshot b = make_snapshot(3);
  b.pools[0].layout.nodes.insert(b.pools[0].layout.nodes.begin() + 1, make_node("x", 9000));
  EXPECT_EQ(lines(make_snapshot(3), b), Lines{"pool main: node x: added, 127.0.0.1:9000 weight 1 zone none"});
}

TEST(Diff, PoolsComeGoAndChange) {
  const Snapshot a = make_snapshot(2);
  Snapshot b = a;
  b.pools[0].key_prefix = "app:";
  b.pools[0].layout.scheme.name = "ring";
  b.pools[0].layout.replicas = 2;
  EXPECT_EQ(lines(a, b), Lines{"pool main: kind, fence, prefix, scheme or replicas changed: scheme modulo -> ring, "
                               "replicas 1 -> 2"});
  b = a;
  b.pools.insert(b.pools.begin(), {"cache", PoolKind::kCache, "", testing::make_layout(4, 8001), std::nullopt});
  EXPECT_EQ(lines(a, b), Lines{"pool cache: added, 4 nodes"});
  EXPECT_EQ(lines(b, a), Lines{"pool cache: removed"});
  Snapshot c = b;
  std::swap(c.pools[0], c.pools[1]);
  EXPECT_EQ(lines(b, c), Lines{"pools: order changed"});
  c.cluster_id = "fedcba9876543210";
  EXPECT_EQ(lines(b, c)[0], "epoch 1 -> 1, cluster 0123456789abcdef -> fedcba9876543210");
}

TEST(Diff, PlansOpenSwitchAndClose) {
  const Snapshot closed = make_snapshot(2, 2);
  const Snapshot open = make_planned_snapshot(2, 16);
  Snapshot switched = open;
  switched.pools[0].plan->moves[3].target_owns = true;
  switched.pools[0].plan->moves[5].target_owns = true;
  Snapshot other = open;
  other.pools[0].plan->id = 2;
  EXPECT_EQ(lines(closed, open), Lines{"pool main: plan 1 opened, 64 moves"});
  EXPECT_EQ(lines(open, switched), Lines{"pool main: 2 moves switched their owner"});
  EXPECT_EQ(lines(switched, open), Lines{"pool main: 2 moves switched their owner"});
  EXPECT_EQ(lines(open, other), Lines{"pool main: plan 1 -> 2 changed"});
  EXPECT_EQ(lines(open, closed), Lines{"pool main: plan 1 closed"});
}

TEST(Apply, RefusesAnotherBase) {
  const Snapshot a = make_snapshot(3, 1);
  Snapshot b = make_snapshot(3, 2);
  b.pools[0].layout.nodes[1].weight_milli = 2000;
  EXPECT_EQ(apply_edits(diff(a, b), b).error().code, Code::kFailedPrecondition);
  Snapshot c = a;
  c.pools[0].layout.nodes[1].weight_milli = 3000;
  EXPECT_EQ(apply_edits(diff(a, b), c).error().message, "edit does not fit this snapshot: n2");
}

TEST(Apply, EveryKindOfEditNamesWhatDoesNotFit) {
  const Snapshot base = make_snapshot(2);
  const Node n1 = base.pools[0].layout.nodes[0];
  Node renamed = n1;
  renamed.name = "other";
  const std::vector<Edit> misfits = {
      ClusterEdit{Epoch{9}, Epoch{10}, base.cluster_id, base.cluster_id},
      PoolEdit{},
      PoolEdit{std::nullopt, base.pools[0], 0},
      PoolEdit{std::nullopt, make_snapshot(1).pools[0], 9},
      NodeEdit{"nosuch", n1, std::nullopt},
      NodeEdit{"main", renamed, std::nullopt},
      NodeEdit{"main", n1, renamed},
      NodeEdit{"main", std::nullopt, renamed, 3},
      PoolOrder{{"main", "main"}},
      PoolOrder{{"other"}},
      NodeOrder{"main", {"n1"}},
      NodeOrder{"main", {"n1", "n1"}},
      NodeOrder{"nosuch", {}},
      PlanEdit{"main", make_planned_snapshot(2).pools[0].plan, std::nullopt},
      PlanEdit{"nosuch", std::nullopt, std::nullopt},
      OwnerEdit{"main", {0}},
      OwnerEdit{"nosuch", {}},
  };
  for (size_t i = 0; i < misfits.size(); ++i) {
    auto applied = apply_edits({misfits[i]}, base);
    ASSERT_FALSE(applied) << i;
    EXPECT_EQ(applied.error().code, Code::kFailedPrecondition) << i;
  }
  EXPECT_FALSE(apply_edits({OwnerEdit{"main", {64}}}, make_planned_snapshot(2, 16)));
}

}  // namespace
}  // namespace slipring
