// A snapshot that passes validate() can be published: what it refuses, and with which words.
#include "slipring/topology/snapshot.h"

#include <gtest/gtest.h>

#include <functional>

#include "slipring/hash/xx.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::make_layout;
using testing::make_planned_snapshot;
using testing::make_snapshot;

struct Fault {
  const char* words;  // must stand in the message
  std::function<void(Snapshot&)> make;
};

void expect_refused(const Snapshot& good, const std::vector<Fault>& faults) {
  ASSERT_TRUE(validate(good)) << validate(good).error().message;
  for (const Fault& fault : faults) {
    Snapshot bad = good;
    fault.make(bad);
    const Status status = validate(bad);
    ASSERT_FALSE(status) << fault.words;
    EXPECT_EQ(status.error().code, Code::kInvalidArgument) << fault.words;
    EXPECT_NE(status.error().message.find(fault.words), std::string::npos)
        << "wanted: " << fault.words << "\nis: " << status.error().message;
  }
}

Pool& pool(Snapshot& s) {
  return s.pools[0];
}
Node& node(Snapshot& s, size_t i) {
  return s.pools[0].layout.nodes[i];
}
OpenPlan& plan(Snapshot& s) {
  return *s.pools[0].plan;
}

TEST(Validate, ClusterAndPoolsAreChecked) {
  expect_refused(make_snapshot(3),
                 {
                     {"epoch 0", [](Snapshot& s) { s.epoch = Epoch{0}; }},
                     {"cluster id", [](Snapshot& s) { s.cluster_id = "xyz"; }},
                     {"cluster id", [](Snapshot& s) { s.cluster_id = "0123456789ABCDEF"; }},
                     {"pool name", [](Snapshot& s) { pool(s).name = ""; }},
                     {"pool name", [](Snapshot& s) { pool(s).name = "a b"; }},
                     {"pool main: the name occurs twice", [](Snapshot& s) { s.pools.push_back(s.pools[0]); }},
                     {"more than 64 pools", [](Snapshot& s) { s.pools.resize(65, s.pools[0]); }},
                     {"pool main: key_prefix", [](Snapshot& s) { pool(s).key_prefix = "app:*"; }},
                     {"pool main: key_prefix", [](Snapshot& s) { pool(s).key_prefix = "a b"; }},
                     {"pool main: key_prefix", [](Snapshot& s) { pool(s).key_prefix = std::string(257, 'a'); }},
                 });
}

TEST(Validate, NodesAreChecked) {
  expect_refused(make_snapshot(3),
                 {
                     {"pool main: no nodes", [](Snapshot& s) { pool(s).layout.nodes.clear(); }},
                     {"n1", [](Snapshot& s) { node(s, 1).name = "n1"; }},
                     {"occurs twice", [](Snapshot& s) { node(s, 1).name = "n1"; }},
                     {"name", [](Snapshot& s) { node(s, 0).name = "n/1"; }},
                     {"name", [](Snapshot& s) { node(s, 0).name = std::string(65, 'n'); }},
                     {"node n2: weight -0.001", [](Snapshot& s) { node(s, 1).weight_milli = -1; }},
                     {"node n2: weight 1000.001", [](Snapshot& s) { node(s, 1).weight_milli = 1'000'001; }},
                     {"node n2: weight 1000000000", [](Snapshot& s) { node(s, 1).weight_milli = 1'000'000'000'000; }},
                     {"node n2: zone", [](Snapshot& s) { node(s, 1).zone = std::string(65, 'z'); }},
                     {"node n2: zone", [](Snapshot& s) { node(s, 1).zone = "a\nb"; }},
                     {"node n2: label", [](Snapshot& s) { node(s, 1).label = std::string(256, 'z'); }},
                     {"node n2: instance generation", [](Snapshot& s) { node(s, 1).instance.generation = 0; }},
                     {"node n2: address", [](Snapshot& s) { node(s, 1).instance.address = "nowhere"; }},
                     {"node n2: address", [](Snapshot& s) { node(s, 1).instance.address = ""; }},
                     {"write it as 127.0.0.1:7", [](Snapshot& s) { node(s, 1).instance.address = "127.0.0.1:007"; }},
                     {"node n2: address 127.0.0.1:7001 is that of node n1",
                      [](Snapshot& s) { node(s, 1).instance.address = "127.0.0.1:7001"; }},
                     {"is that of node n1",
                      [](Snapshot& s) {
                        node(s, 0).instance.address = "HOST:1";
                        node(s, 1).instance.address = "host:1";
                      }},
                     {"replicas 0", [](Snapshot& s) { pool(s).layout.replicas = 0; }},
                     {"replicas 17", [](Snapshot& s) { pool(s).layout.replicas = 17; }},
                 });
}

TEST(Validate, SchemesMustBeMakeable) {
  expect_refused(make_snapshot(3),
                 {
                     {"pool main", [](Snapshot& s) { pool(s).layout.scheme.name = "nosuch"; }},
                     {"pool main", [](Snapshot& s) { pool(s).layout.scheme.options["nosuch"] = "1"; }},
                     {"pool main", [](Snapshot& s) { node(s, 0).attributes["nosuch"] = "1"; }},
                     {"pool main",
                      [](Snapshot& s) {
                        for (Node& n : pool(s).layout.nodes) n.weight_milli = 0;
                      }},
                     {"scheme options", [](Snapshot& s) { pool(s).layout.scheme.options[""] = "1"; }},
                     {"scheme options",
                      [](Snapshot& s) { pool(s).layout.scheme.options["x"] = std::string((1u << 20) + 1, '1'); }},
                     {"attributes",
                      [](Snapshot& s) {
                        for (int i = 0; i < 65; ++i) node(s, 0).attributes[std::to_string(i)] = "";
                      }},
                 });
}

TEST(Validate, PlansAreChecked) {
  expect_refused(
      make_planned_snapshot(2, 16),
      {
          {"pool main: plan 0", [](Snapshot& s) { plan(s).id = 0; }},
          {"pool main: plan 1: slices 3", [](Snapshot& s) { plan(s).slices = 3; }},
          {"slices 0", [](Snapshot& s) { plan(s).slices = 0; }},
          {"plan 1: no nodes", [](Snapshot& s) { plan(s).next.nodes.clear(); }},
          {"plan 1: node n1: weight", [](Snapshot& s) { plan(s).next.nodes[0].weight_milli = -1; }},
          {"with another generation", [](Snapshot& s) { plan(s).next.nodes[0].instance.generation = 2; }},
          {"slice must be below 16", [](Snapshot& s) { plan(s).moves.back().slice = 16; }},
          {"source is no instance", [](Snapshot& s) { plan(s).moves[0].source.generation = 9; }},
          {"target is no instance", [](Snapshot& s) { plan(s).moves[0].target.address = "127.0.0.1:9"; }},
          {"source and target are one", [](Snapshot& s) { plan(s).moves[0].target = plan(s).moves[0].source; }},
          {"not sorted, or one occurs twice", [](Snapshot& s) { std::swap(plan(s).moves[0], plan(s).moves[1]); }},
          {"not sorted, or one occurs twice", [](Snapshot& s) { plan(s).moves[1] = plan(s).moves[0]; }},
      });
}

TEST(Validate, AServerBelongsToOnePool) {
  Snapshot two = make_snapshot(2);
  two.pools.push_back({"other", PoolKind::kCache, "", make_layout(2, 8001), std::nullopt});
  expect_refused(two, {
                          {"pool other: node n1: address 127.0.0.1:7002 is used by pool main",
                           [](Snapshot& s) { s.pools[1].layout.nodes[0].instance.address = "127.0.0.1:7002"; }},
                          {"is used by pool main",
                           [](Snapshot& s) {
                             s.pools[1].plan = OpenPlan{1, make_layout(1, 7001), 1, {}};
                           }},
                      });
}

TEST(Validate, AnAddressMayChangeUnderAName) {
  Snapshot replace = make_snapshot(2);
  Layout after = replace.pools[0].layout;
  after.nodes[1].instance = {"127.0.0.1:9000", 2};
  replace.pools[0].plan = OpenPlan{1, after, 1, testing::all_moves(replace.pools[0].layout, after, 1)};
  EXPECT_TRUE(validate(replace)) << validate(replace).error().message;
}

TEST(Snapshot, PoolsAreFoundByName) {
  const Snapshot snapshot = make_snapshot(1);
  EXPECT_EQ(snapshot.find_pool("main"), &snapshot.pools[0]);
  EXPECT_EQ(snapshot.find_pool("Main"), nullptr);
  EXPECT_EQ(snapshot.find_pool(""), nullptr);
}

TEST(Slices, AreTheTopBitsOfTheTagsHash) {
  EXPECT_EQ(xxh3_64("user:1001"), 0x783864580ee66e90u);
  EXPECT_EQ(slice_of("user:1001", 1), 0u);
  EXPECT_EQ(slice_of("user:1001", 16), 0x7u);
  EXPECT_EQ(slice_of("user:1001", 256), 0x78u);
  EXPECT_EQ(slice_of("user:1001", 4096), 0x783u);
  EXPECT_EQ(slice_of("", 4096), 0x2d0u);
}

TEST(Slices, AFinerSliceLiesInTheCoarserOne) {
  for (int i = 0; i < 1000; ++i) {
    const std::string tag = std::to_string(i);
    EXPECT_EQ(slice_of(tag, 4096) >> 4, slice_of(tag, 256));
    EXPECT_EQ(slice_of(tag, 256) >> 4, slice_of(tag, 16));
    EXPECT_LT(slice_of(tag, 16), 16u);
  }
}

TEST(SlicesDeathTest, OtherCountsAreProgrammersErrors) {
  EXPECT_FALSE(is_slice_count(0));
  EXPECT_FALSE(is_slice_count(2));
  EXPECT_FALSE(is_slice_count(65536));
  EXPECT_DEATH(slice_of("k", 2), "1, 16, 256 or 4096");
}

}  // namespace
}  // namespace slipring
