#include "slipring/rebalance/key_set.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "slipring/rebalance/token_bucket.h"

namespace slipring::rebalance {
namespace {

TEST(KeyList, GivesBackWhatWasPushedInOrder) {
  KeyList list;
  for (const char* key : {"a", "", "long key"}) list.push(key);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], "a");
  EXPECT_EQ(list[1], "");
  EXPECT_EQ(list[2], "long key");
}

TEST(KeySet, HoldsEachKeyOnce) {
  KeySet set(100, 1 << 20);
  EXPECT_TRUE(set.insert("a"));
  EXPECT_FALSE(set.insert("a"));
  EXPECT_TRUE(set.contains("a"));
  EXPECT_FALSE(set.contains("b"));
  EXPECT_EQ(set.size(), 1u);
}

TEST(KeySet, TakeEmptiesIt) {
  KeySet set(100, 1 << 20);
  set.insert("a");
  set.insert("b");
  const KeyList taken = set.take();
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.contains("a"));
  EXPECT_TRUE(set.insert("a"));
}

TEST(KeySet, AgreesWithAnOrderedSet) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& keys) {
    KeySet set(1 << 20, 1 << 24);
    std::set<std::string> model;
    for (const std::string& key : keys) RC_ASSERT(set.insert(key) == model.insert(key).second);
    RC_ASSERT(set.size() == model.size());
    for (const std::string& key : keys) RC_ASSERT(set.contains(key));
  }));
}

TEST(KeySet, AboveItsBoundItForgetsKeysButNeverSaysNoToOneThatIsIn) {
  KeySet set(10, 1 << 20);
  for (int i = 0; i < 1'000; ++i) set.insert(fmt::format("key{}", i));
  EXPECT_TRUE(set.overflowed());
  EXPECT_FALSE(set.empty());
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(set.contains(fmt::format("key{}", i)));
  int wrongly = 0;
  for (int i = 0; i < 1'000; ++i) wrongly += set.contains(fmt::format("other{}", i)) ? 1 : 0;
  EXPECT_LT(wrongly, 20) << "a bucket in a thousand is marked";
  set.clear();
  EXPECT_TRUE(set.empty());
}

TEST(KeySet, BytesAreBoundedToo) {
  KeySet set(1'000, 10);
  set.insert("12345");
  set.insert("6789012");
  EXPECT_TRUE(set.overflowed());
  EXPECT_TRUE(set.contains("12345"));
}

TEST(HashCounter, CountsAndForgets) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<bool, uint8_t>>& steps) {
    HashCounter counter;
    std::multiset<uint64_t> model;
    for (const auto& step : steps) {
      // Few different values in few slots: many collisions.
      const uint64_t hash = step.second % 24 * 16;
      if (step.first) {
        counter.add(hash);
        model.insert(hash);
      } else {
        const auto at = model.find(hash);
        RC_ASSERT(counter.remove(hash) == (at != model.end()));
        if (at != model.end()) model.erase(at);
      }
      RC_ASSERT(counter.contains(hash) == (model.count(hash) > 0));
    }
    for (uint64_t h = 0; h < 24; ++h) RC_ASSERT(counter.contains(h * 16) == (model.count(h * 16) > 0));
  }));
}

constexpr MonoTime at_ms(int64_t ms) {
  return MonoTime(Millis(ms));
}

TEST(TokenBucket, WithoutALimitItIsAlwaysReady) {
  TokenBucket bucket(0);
  bucket.spend(1'000'000'000);
  EXPECT_TRUE(bucket.ready(at_ms(1)));
}

TEST(TokenBucket, AllowsItsRateOnAverage) {
  TokenBucket bucket(1'000);
  uint64_t done = 0;
  for (int64_t ms = 1; ms <= 10'000; ++ms) {
    while (bucket.ready(at_ms(ms))) {
      bucket.spend(10);
      done += 10;
    }
  }
  EXPECT_GE(done, 9'900u);
  EXPECT_LE(done, 10'200u);
}

TEST(TokenBucket, ADebtIsPaidBeforeTheNextStep) {
  TokenBucket bucket(1'000);
  ASSERT_TRUE(bucket.ready(at_ms(1'000)));
  bucket.spend(600);
  EXPECT_FALSE(bucket.ready(at_ms(1'001)));
  EXPECT_FALSE(bucket.ready(at_ms(1'490)));
  EXPECT_TRUE(bucket.ready(bucket.ready_at()));
}

}  // namespace
}  // namespace slipring::rebalance
