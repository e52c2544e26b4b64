// validate() is total, and what it lets through the rest of the module can live with.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "slipring/topology/codec.h"
#include "slipring/topology/diff.h"
#include "slipring/topology/routing.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

// One thing about a valid snapshot made wrong, or at least other.
void disturb(Snapshot& snapshot, Random& random) {
  Pool& pool = snapshot.pools[random.below(snapshot.pools.size())];
  Layout& layout = pool.plan && random.chance(0.5) ? pool.plan->next : pool.layout;
  Node& node = layout.nodes[random.below(layout.nodes.size())];
  const std::function<void()> disturbances[] = {
      [&] { node.name = testing::random_bytes(random, 70); },
      [&] { node.zone = testing::random_bytes(random, 70); },
      [&] { node.label = testing::random_bytes(random, 300); },
      [&] { node.weight_milli = static_cast<int64_t>(random.next()); },
      [&] { node.weight_milli = static_cast<int64_t>(random.below(3)) - 1; },
      [&] { node.instance.address = testing::random_bytes(random, 30); },
      [&] { node.instance.generation = random.below(3); },
      [&] { node.attributes = testing::random_map(random); },
      [&] { layout.nodes.push_back(node); },
      [&] { layout.nodes.clear(); },
      [&] { layout.replicas = static_cast<uint32_t>(random.below(20)); },
      [&] { layout.scheme.name = testing::random_bytes(random, 10); },
      [&] { layout.scheme.options = testing::random_map(random); },
      [&] { pool.name = testing::random_bytes(random, 70); },
      [&] { pool.key_prefix = testing::random_bytes(random, 300); },
      [&] { pool.plan = testing::random_plan(random); },
      [&] { snapshot.cluster_id = testing::random_bytes(random, 20); },
      [&] { snapshot.epoch = Epoch{random.below(2)}; },
      [&] { snapshot.pools.push_back(pool); },
      [&] {
        if (pool.plan) pool.plan->slices = static_cast<uint32_t>(random.below(5000));
      },
      [&] {
        if (pool.plan && !pool.plan->moves.empty()) pool.plan->moves.pop_back();
      },
      [&] {
        if (pool.plan && !pool.plan->moves.empty()) pool.plan->moves.push_back(pool.plan->moves[0]);
      },
  };
  disturbances[random.below(std::size(disturbances))]();
}

TEST(SnapshotProperty, ValidateIsTotalAndWhatItAcceptsWorks) {
  int accepted = 0;
  int refused = 0;
  EXPECT_TRUE(rc::check([&](uint64_t seed) {
    Random random(seed);
    Snapshot snapshot = testing::valid_snapshot(seed);
    for (uint64_t n = random.below(3); n > 0; --n) {
      disturb(snapshot, random);
      if (!validate(snapshot)) break;
    }
    if (const Status status = validate(snapshot); !status) {
      ++refused;
      RC_ASSERT(status.error().code == Code::kInvalidArgument);
      RC_ASSERT(!status.error().message.empty());
      return;
    }
    ++accepted;
    RC_ASSERT(*decode_snapshot(encode_snapshot(snapshot)) == snapshot);
    for (const Pool& pool : snapshot.pools) {
      const auto routing = PoolRouting::compile(pool);
      RC_ASSERT(routing.has_value());
      RC_ASSERT((*routing)->decide(std::to_string(seed)).owner < (*routing)->instances().size());
    }
  }));
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

TEST(SnapshotProperty, RandomBytesInEveryFieldAreRefusedWithAReason) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const Status status = validate(testing::random_snapshot(seed));
    RC_ASSERT(!status);
    RC_ASSERT(status.error().code == Code::kInvalidArgument);
  }));
}

TEST(SnapshotProperty, EveryFieldIsPartOfTheEncoding) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    const Snapshot before = testing::valid_snapshot(seed);
    Snapshot after = before;
    disturb(after, random);
    RC_ASSERT((encode_snapshot(before) == encode_snapshot(after)) == (before == after));
  }));
}

TEST(SnapshotProperty, SlicesSpreadKeysEvenly) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    std::vector<int> counts(16);
    for (int i = 0; i < 1600; ++i) ++counts[slice_of(std::to_string(seed + static_cast<uint64_t>(i)), 16)];
    // 100 expected, deviation 10: beyond six deviations is no chance.
    for (const int count : counts) RC_ASSERT(count > 40 && count < 160);
  }));
}

TEST(DiffProperty, ADifferenceFitsItsOwnBaseOnly) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    const Snapshot before = testing::valid_snapshot(seed);
    Snapshot after = before;
    after.epoch = next(after.epoch);
    testing::mutate(after, random);
    Snapshot other = before;
    other.epoch = Epoch{to_u64(before.epoch) + 7};
    auto applied = apply_edits(diff(before, after), other);
    RC_ASSERT(!applied);
    RC_ASSERT(applied.error().code == Code::kFailedPrecondition);
  }));
}

TEST(DiffProperty, ThereAndBackIsWhereItBegan) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    const Snapshot before = testing::valid_snapshot(seed);
    Snapshot after = before;
    for (uint64_t n = 1 + random.below(4); n > 0; --n) testing::mutate(after, random);
    auto there = apply_edits(diff(before, after), before);
    RC_ASSERT(there.has_value());
    auto back = apply_edits(diff(after, before), *there);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == before);
  }));
}

}  // namespace
}  // namespace slipring
