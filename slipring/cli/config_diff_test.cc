#include "slipring/cli/config_diff.h"

#include <gtest/gtest.h>

namespace slipring::cli {
namespace {

Node node(const std::string& name, int port, int64_t weight = 1000) {
  return {name, "", "", weight, {}, {"127.0.0.1:" + std::to_string(port), 1}};
}
Pool file_pool(std::vector<Node> nodes) {
  Pool pool;
  pool.name = "main";
  pool.layout.nodes = std::move(nodes);
  return pool;
}
control::ClusterStatus running(std::vector<Node> nodes) {
  control::PoolStatus pool{"main", "store", "ring", "", {}, {}};
  for (const Node& n : nodes) pool.nodes.push_back({n.name, n.instance.address, 1, n.zone, n.weight_milli});
  control::ClusterStatus status;
  status.pools = {pool};
  return status;
}

TEST(ConfigDiff, TheSameTopologyHasNone) {
  EXPECT_TRUE(
      compare_config({file_pool({node("n1", 1), node("n2", 2)})}, running({node("n2", 2), node("n1", 1)})).empty());
}

TEST(ConfigDiff, ANodeOnOneSideOnlyIsNamedWithTheCommand) {
  Node heavy = node("n2", 2, 2500);
  heavy.zone = "b";
  const auto found = compare_config({file_pool({node("n1", 1), heavy})}, running({node("n1", 1), node("n3", 3)}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Difference{"pool main node n2", "node", "present", "absent",
                                  "slipring node add n2 127.0.0.1:2 --pool main --weight 2.5 --zone b"}));
  EXPECT_EQ(found[1],
            (Difference{"pool main node n3", "node", "absent", "present", "slipring node remove n3 --pool main"}));
}

TEST(ConfigDiff, EveryFieldThatDiffersIsNamed) {
  Pool file = file_pool({node("n1", 1, 500)});
  file.kind = PoolKind::kCache;
  file.fence = PoolFence::kNames;
  file.key_prefix = "app:";
  file.layout.scheme.options = {{"vnodes", "64"}};
  Node other = node("n1", 9);
  other.zone = "z";
  const auto found = compare_config({file}, running({other}));
  std::vector<std::string> fields;
  for (const Difference& d : found) fields.push_back(d.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"kind", "fence", "scheme", "key_prefix", "address", "weight", "zone"}));
  EXPECT_EQ(found[5].command, "slipring node weight n1 0.5 --pool main");
}

TEST(ConfigDiff, PoolsOnOneSideOnlyAreNamed) {
  Pool other = file_pool({node("n1", 1)});
  other.name = "other";
  const auto found = compare_config({other}, running({node("n1", 1)}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].subject, "pool other");
  EXPECT_EQ(found[0].running, "absent");
  EXPECT_EQ(found[1].subject, "pool main");
  EXPECT_EQ(found[1].file, "absent");
}

}  // namespace
}  // namespace slipring::cli
