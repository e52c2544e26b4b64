// The history keeps the newest epochs without gaps.
#include "slipring/topology/history.h"

#include <gtest/gtest.h>

#include "slipring/topology/testing.h"

namespace slipring {
namespace {

std::shared_ptr<const Snapshot> epoch(uint64_t n) {
  return std::make_shared<const Snapshot>(testing::make_snapshot(1 + n % 3, n));
}

TEST(History, KeepsTheNewestAndDropsTheOldest) {
  History history(3);
  EXPECT_EQ(history.latest(), nullptr);
  for (uint64_t n = 5; n <= 9; ++n) ASSERT_TRUE(history.push(epoch(n)));
  EXPECT_EQ(history.all().size(), 3u);
  EXPECT_EQ(history.latest()->epoch, Epoch{9});
  EXPECT_EQ(history.at(Epoch{6}), nullptr);
  EXPECT_EQ(history.at(Epoch{7})->epoch, Epoch{7});
  EXPECT_EQ(history.at(Epoch{10}), nullptr);
}

TEST(History, EpochsRiseByOne) {
  History history(3);
  ASSERT_TRUE(history.push(epoch(5)));
  for (const uint64_t wrong : {0u, 4u, 5u, 7u}) {
    EXPECT_EQ(history.push(epoch(wrong)).error().code, Code::kFailedPrecondition) << wrong;
  }
  EXPECT_EQ(history.all().size(), 1u);
  EXPECT_TRUE(history.push(epoch(6)));
}

TEST(History, TellsWhatChangedBetweenTwoEpochs) {
  History history(2);
  EXPECT_EQ(history.changes(Epoch{1}, Epoch{2}).error().message, "no epoch was published yet");
  for (uint64_t n = 1; n <= 3; ++n) ASSERT_TRUE(history.push(epoch(n)));
  EXPECT_EQ(*history.changes(Epoch{2}, Epoch{3}), diff(*epoch(2), *epoch(3)));
  EXPECT_EQ(*history.changes(Epoch{3}, Epoch{2}), diff(*epoch(3), *epoch(2)));
  EXPECT_EQ(history.changes(Epoch{1}, Epoch{3}).error().message, "epoch 1: only epochs 2 to 3 are kept");
  EXPECT_EQ(history.changes(Epoch{3}, Epoch{4}).error().code, Code::kNotFound);
}

TEST(HistoryDeathTest, ABoundOfZeroIsAProgrammersError) {
  EXPECT_DEATH(History(0), "keeps the latest epoch");
}

}  // namespace
}  // namespace slipring
