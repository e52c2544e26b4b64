// The epochs of one plan as routers see them: a node is added, its moves switch one after another, some are taken back,
// the plan completes. At every epoch each key has one owner, and only keys of switched moves change theirs.
#include <gtest/gtest.h>

#include <set>

#include "slipring/topology/codec.h"
#include "slipring/topology/history.h"
#include "slipring/topology/routing.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

class LifeOfAPlan : public ::testing::Test {
 protected:
  LifeOfAPlan() { publish(testing::make_snapshot(3, 1, "ring")); }

  void publish(Snapshot snapshot) {
    ASSERT_TRUE(validate(snapshot)) << validate(snapshot).error().message;
    // Routers get it over the channel.
    auto decoded = decode_snapshot(encode_snapshot(snapshot));
    ASSERT_TRUE(decoded);
    ASSERT_TRUE(history_.push(std::make_shared<const Snapshot>(std::move(*decoded))));
    routing_ = *PoolRouting::compile(history_.latest()->pools[0]);
  }

  Snapshot next_epoch() const {
    Snapshot snapshot = *history_.latest();
    snapshot.epoch = next(snapshot.epoch);
    return snapshot;
  }

  void open_plan() {
    Snapshot snapshot = next_epoch();
    Pool& pool = snapshot.pools[0];
    OpenPlan plan{7, testing::make_layout(4, 7001, "ring"), 16, {}};
    // Adding a node moves keys to it only.
    for (const Node& source : pool.layout.nodes) {
      for (uint32_t slice = 0; slice < 16; ++slice) {
        plan.moves.push_back({source.instance, plan.next.nodes[3].instance, slice, false});
      }
    }
    pool.plan = std::move(plan);
    publish(std::move(snapshot));
  }

  void set_owner(const std::vector<MoveIndex>& moves, bool target) {
    Snapshot snapshot = next_epoch();
    for (const MoveIndex move : moves) snapshot.pools[0].plan->moves[move].target_owns = target;
    publish(std::move(snapshot));
  }

  void complete() {
    Snapshot snapshot = next_epoch();
    snapshot.pools[0].layout = snapshot.pools[0].plan->next;
    snapshot.pools[0].plan.reset();
    publish(std::move(snapshot));
  }

  void close_without_moving() {
    Snapshot snapshot = next_epoch();
    snapshot.pools[0].plan.reset();
    publish(std::move(snapshot));
  }

  static std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (int i = 0; i < 4000; ++i) keys.push_back(fmt::format("user:{}", i));
    return keys;
  }

  // The addresses that serve the keys now.
  std::vector<std::string> owners() const {
    std::vector<std::string> owners;
    for (const std::string& key : keys()) owners.push_back(routing_->instances()[routing_->decide(key).owner].address);
    return owners;
  }

  std::vector<std::string> changes() const {
    std::vector<std::string> lines;
    const Epoch latest = history_.latest()->epoch;
    const auto edits = history_.changes(Epoch{to_u64(latest) - 1}, latest);
    for (const Edit& edit : *edits) lines.push_back(to_string(edit));
    return lines;
  }

  static size_t differing(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    size_t n = 0;
    for (size_t i = 0; i < a.size(); ++i) n += a[i] != b[i] ? 1 : 0;
    return n;
  }

  static std::vector<MoveIndex> range(MoveIndex begin, MoveIndex end) {
    std::vector<MoveIndex> moves;
    for (MoveIndex move = begin; move < end; ++move) moves.push_back(move);
    return moves;
  }

  History history_{16};
  std::shared_ptr<const PoolRouting> routing_;
};

using Lines = std::vector<std::string>;

TEST_F(LifeOfAPlan, OpeningAPlanChangesNoOwner) {
  const auto before = owners();
  open_plan();
  EXPECT_EQ(owners(), before);
  EXPECT_EQ(changes(), (Lines{"epoch 1 -> 2", "pool main: plan 7 opened, 48 moves"}));
}

TEST_F(LifeOfAPlan, EveryKeyThatWillMoveHasAMove) {
  open_plan();
  size_t moving = 0;
  for (const std::string& key : keys()) {
    const Decision decision = routing_->decide(key);
    EXPECT_EQ(decision.move == kNoMove, decision.source == decision.target) << key;
    moving += decision.move == kNoMove ? 0 : 1;
  }
  EXPECT_NEAR(static_cast<double>(moving), 1000, 250) << "a quarter goes to the fourth node";
}

TEST_F(LifeOfAPlan, SwitchingTheMovesOfOneSourceMovesItsKeysAndNoOthers) {
  open_plan();
  const auto before = owners();
  set_owner(range(0, 16), true);
  EXPECT_EQ(changes(), (Lines{"epoch 2 -> 3", "pool main: 16 moves switched their owner"}));
  const auto after = owners();
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    EXPECT_EQ(before[i], "127.0.0.1:7001");
    EXPECT_EQ(after[i], "127.0.0.1:7004");
  }
  EXPECT_GT(differing(before, after), 100u);
}

TEST_F(LifeOfAPlan, CuttingOverInStepsEndsWhereTheNewPlacementIs) {
  open_plan();
  std::vector<std::string> last = owners();
  std::set<size_t> seen;
  for (MoveIndex begin = 0; begin < 48; begin += 12) {
    set_owner(range(begin, begin + 12), true);
    const auto now = owners();
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] == last[i]) continue;
      EXPECT_TRUE(seen.insert(i).second) << "a key moves once";
    }
    last = now;
  }
  complete();
  EXPECT_EQ(owners(), last) << "completing changes no owner";
  EXPECT_EQ(routing_->new_scheme(), nullptr);
  EXPECT_EQ(history_.latest()->epoch, Epoch{7});
  EXPECT_EQ(changes(), (Lines{"epoch 6 -> 7", "pool main: node n4: added, 127.0.0.1:7004 weight 1 zone none",
                              "pool main: plan 7 closed"}));
}

TEST_F(LifeOfAPlan, ARollbackIsANewEpochWithTheOldOwners) {
  const auto before = owners();
  open_plan();
  set_owner(range(0, 48), true);
  EXPECT_GT(differing(owners(), before), 500u);
  set_owner(range(0, 48), false);
  EXPECT_EQ(owners(), before);
  close_without_moving();
  EXPECT_EQ(owners(), before);
  EXPECT_EQ(history_.latest()->epoch, Epoch{5}) << "epochs only rise";
  Snapshot same = *history_.latest();
  same.epoch = Epoch{1};
  EXPECT_EQ(same, *history_.at(Epoch{1}));
}

TEST_F(LifeOfAPlan, ARollbackOfOneSliceLeavesTheOthersSwitched) {
  open_plan();
  set_owner(range(0, 48), true);
  const auto switched = owners();
  set_owner({5, 21, 37}, false);  // slice 5 of each source
  const auto now = owners();
  const std::vector<std::string> all = keys();
  for (size_t i = 0; i < now.size(); ++i) {
    const bool in_slice = slice_of(all[i], 16) == 5 && switched[i] == "127.0.0.1:7004";
    EXPECT_EQ(now[i] != switched[i], in_slice && routing_->decide(all[i]).move != kNoMove) << all[i];
  }
  EXPECT_GT(differing(now, switched), 20u);
}

TEST_F(LifeOfAPlan, TheDumpTellsHowFarItIs) {
  open_plan();
  set_owner(range(0, 16), true);
  const std::string text = dump(*history_.latest());
  EXPECT_NE(text.find("epoch 3 cluster 0123456789abcdef\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  plan 7 slices 16 moves 48, target owns 16\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace slipring
