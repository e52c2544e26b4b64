// The contract of MetadataStore as tests: every implementation includes this once in its test program and instantiates
// the suite with a maker of empty stores. What a store promises is what stands here.
//
// Thread-safety: tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "slipring/coordination/metadata_store.h"

namespace slipring::testing {

struct StoreUnderTest {
  const char* name;
  // An empty store whose leases expire by `clock`.
  std::function<std::unique_ptr<MetadataStore>(const Clock& clock)> make;
};

class StoreContract : public ::testing::TestWithParam<StoreUnderTest> {
 protected:
  StoreContract() : store_(GetParam().make(clock_)) {}

  uint64_t put(const std::string& key, const std::string& value) {
    auto revision = store_->commit({{}, {{key, value}}});
    EXPECT_TRUE(revision) << revision.error().to_string();
    return revision ? *revision : 0;
  }
  std::string value(const std::string& key) {
    auto record = store_->get(key);
    return record && *record ? (*record)->value : "(absent)";
  }
  uint64_t revision(const std::string& key) {
    auto record = store_->get(key);
    return record && *record ? (*record)->revision : 0;
  }
  std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> out;
    auto records = store_->list(prefix);
    for (const Record& record : *records) out.push_back(record.key);
    return out;
  }
  Code commit_error(const Transaction& transaction) {
    auto result = store_->commit(transaction);
    return result ? Code::kUnknown : result.error().code;
  }

  ManualClock clock_{1'000'000};
  std::unique_ptr<MetadataStore> store_;
};

using Keys = std::vector<std::string>;

TEST_P(StoreContract, AbsentRecordsAreAbsent) {
  auto record = store_->get("nosuch");
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->has_value());
  EXPECT_TRUE(store_->list("")->empty());
}

TEST_P(StoreContract, WhatWasCommittedIsRead) {
  const std::string bytes("\0\xff\n'\"", 5);
  const uint64_t revision = put(bytes, bytes);
  auto record = store_->get(bytes);
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->key, bytes);
  EXPECT_EQ((*record)->value, bytes);
  EXPECT_EQ((*record)->revision, revision);
  put("empty", "");
  EXPECT_EQ(value("empty"), "");
}

TEST_P(StoreContract, RevisionsRiseWithEveryWriteAlsoOverADelete) {
  const uint64_t first = put("a", "1");
  EXPECT_GT(first, 0u);
  const uint64_t second = put("a", "1");
  EXPECT_GT(second, first);
  ASSERT_TRUE(store_->commit({{}, {{"a", std::nullopt}}}));
  EXPECT_EQ(revision("a"), 0u);
  EXPECT_GT(put("a", "1"), second + 1);
}

TEST_P(StoreContract, RecordsOfOneTransactionShareItsRevision) {
  put("other", "x");
  auto committed = store_->commit({{}, {{"a", "1"}, {"b", "2"}}});
  ASSERT_TRUE(committed);
  EXPECT_EQ(revision("a"), *committed);
  EXPECT_EQ(revision("b"), *committed);
  EXPECT_LT(revision("other"), *committed);
}

TEST_P(StoreContract, ListsByPrefixInOrderOfBytes) {
  for (const char* key : {"b", "a/2", "a/10", "a", "a0", "a/", "\xff", "a/\xff\xff"}) put(key, key);
  EXPECT_EQ(keys("a/"), (Keys{"a/", "a/10", "a/2", "a/\xff\xff"}));
  EXPECT_EQ(keys(""), (Keys{"a", "a/", "a/10", "a/2", "a/\xff\xff", "a0", "b", "\xff"}));
  EXPECT_EQ(keys("\xff"), Keys{"\xff"});
  EXPECT_EQ(keys("c"), Keys{});
}

TEST_P(StoreContract, ALostComparisonWritesNothing) {
  const uint64_t a = put("a", "1");
  put("b", "1");
  EXPECT_EQ(commit_error({{{"a", a}, {"b", a}}, {{"a", "2"}, {"c", "2"}}}), Code::kAborted);
  EXPECT_EQ(commit_error({{{"a", 0}}, {{"a", "2"}}}), Code::kAborted) << "0 says that it must not exist";
  EXPECT_EQ(commit_error({{{"c", 1}}, {{"c", "2"}}}), Code::kAborted);
  EXPECT_EQ(value("a"), "1");
  EXPECT_EQ(value("c"), "(absent)");
  EXPECT_EQ(revision("a"), a);
}

TEST_P(StoreContract, AWonComparisonWritesAll) {
  const uint64_t a = put("a", "1");
  put("gone", "1");
  auto committed = store_->commit({{{"a", a}, {"new", 0}}, {{"a", "2"}, {"new", "3"}, {"gone", std::nullopt}}});
  ASSERT_TRUE(committed) << committed.error().to_string();
  EXPECT_EQ(value("a"), "2");
  EXPECT_EQ(value("new"), "3");
  EXPECT_EQ(value("gone"), "(absent)");
}

TEST_P(StoreContract, ATransactionWithoutWritesOnlyCompares) {
  const uint64_t a = put("a", "1");
  auto same = store_->commit({{{"a", a}}, {}});
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, a) << "nothing was written, so the store's revision stays";
  EXPECT_EQ(commit_error({{{"a", a + 1}}, {}}), Code::kAborted);
}

TEST_P(StoreContract, ARecordMayBeExpectedAndDeletedAtOnce) {
  const uint64_t a = put("a", "1");
  ASSERT_TRUE(store_->commit({{{"a", a}}, {{"a", std::nullopt}}}));
  EXPECT_EQ(commit_error({{{"a", a}}, {{"a", std::nullopt}}}), Code::kAborted);
  EXPECT_TRUE(store_->commit({{{"a", 0}}, {{"a", std::nullopt}}})) << "deleting what is absent is fine";
}

TEST_P(StoreContract, TransactionsOutsideTheLimitsAreRefusedWhole) {
  const std::string long_key(kRecordKeyBytesMax + 1, 'k');
  const Transaction bad[] = {
      {{}, {{"", "1"}}},
      {{}, {{long_key, "1"}}},
      {{{"", 0}}, {{"a", "1"}}},
      {{{long_key, 0}}, {{"a", "1"}}},
      {{}, {{"a", "1"}, {"a", "2"}}},
      {{}, {{"a", "1"}, {lease_record_key("leader"), "2"}}},
      {{}, {{"a", "1"}, {lease_record_key("leader"), std::nullopt}}},
      {std::vector<Transaction::Expect>(kTransactionRecordsMax, {"b", 0}), {{"a", "1"}}},
  };
  for (const Transaction& transaction : bad) EXPECT_EQ(commit_error(transaction), Code::kInvalidArgument);
  EXPECT_EQ(value("a"), "(absent)");
  EXPECT_EQ(store_->get("").error().code, Code::kInvalidArgument);
  EXPECT_EQ(store_->get(long_key).error().code, Code::kInvalidArgument);
}

TEST_P(StoreContract, TheLargestKeyAndAThousandRecordsFit) {
  put(std::string(kRecordKeyBytesMax, 'k'), std::string(1u << 20, 'v'));
  EXPECT_EQ(value(std::string(kRecordKeyBytesMax, 'k')), std::string(1u << 20, 'v'));
  Transaction many;
  for (int i = 0; i < 1000; ++i) many.writes.push_back({fmt::format("many/{:04}", i), fmt::format("{}", i)});
  ASSERT_TRUE(store_->commit(many));
  EXPECT_EQ(keys("many/").size(), 1000u);
}

TEST_P(StoreContract, ThreadsThatIncrementByCompareAndSetLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  put("counter", "0");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int done = 0; done < kEach;) {
        const Record record = **store_->get("counter");
        const std::string more = std::to_string(std::stoi(record.value) + 1);
        auto committed = store_->commit({{{"counter", record.revision}}, {{"counter", more}}});
        if (committed) {
          ++done;
        } else {
          EXPECT_EQ(committed.error().code, Code::kAborted) << committed.error().message;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(value("counter"), std::to_string(kThreads * kEach));
}

// --- leases ---

TEST_P(StoreContract, AFreeLeaseIsTakenWithTermOne) {
  EXPECT_FALSE(store_->read_lease("leader")->has_value());
  auto lease = store_->acquire_lease("leader", "a", Millis(5000));
  ASSERT_TRUE(lease) << lease.error().to_string();
  EXPECT_EQ(lease->holder, "a");
  EXPECT_EQ(lease->term, 1u);
  EXPECT_EQ(lease->expires_at_ms, 1'005'000);
  EXPECT_EQ(lease->revision, revision(lease_record_key("leader")));
  auto read = store_->read_lease("leader");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->holder, "a");
  EXPECT_EQ((*read)->term, 1u);
  EXPECT_EQ((*read)->revision, lease->revision);
}

TEST_P(StoreContract, AHeldLeaseIsRefusedWithItsHoldersName) {
  ASSERT_TRUE(store_->acquire_lease("leader", "a", Millis(5000)));
  clock_.advance(Millis(1000));
  auto other = store_->acquire_lease("leader", "b", Millis(5000));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(other.error().message, "lease leader: held by a for 4000 ms more");
  EXPECT_TRUE(store_->acquire_lease("other", "b", Millis(5000))) << "names are apart";
}

TEST_P(StoreContract, TakingOnesOwnLeaseRenewsItAndKeepsTheTerm) {
  auto first = store_->acquire_lease("leader", "a", Millis(5000));
  clock_.advance(Millis(1000));
  auto again = store_->acquire_lease("leader", "a", Millis(5000));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->term, first->term);
  EXPECT_EQ(again->expires_at_ms, first->expires_at_ms + 1000);
  EXPECT_GT(again->revision, first->revision);
}

TEST_P(StoreContract, AnExpiredLeaseGoesToTheNextWithAHigherTerm) {
  auto a = store_->acquire_lease("leader", "a", Millis(5000));
  clock_.advance(Millis(4999));
  EXPECT_FALSE(store_->acquire_lease("leader", "b", Millis(5000)));
  clock_.advance(Millis(1));
  EXPECT_FALSE(store_->read_lease("leader")->has_value());
  auto b = store_->acquire_lease("leader", "b", Millis(5000));
  ASSERT_TRUE(b);
  EXPECT_EQ(b->term, a->term + 1);
  EXPECT_EQ(store_->renew_lease("leader", *a, Millis(5000)).error().code, Code::kAborted);
  EXPECT_EQ((*store_->read_lease("leader"))->holder, "b");
}

TEST_P(StoreContract, AnExpiredLeaseIsNotRenewedAndTakenAnewInANewTerm) {
  auto a = store_->acquire_lease("leader", "a", Millis(5000));
  clock_.advance(Millis(5000));
  EXPECT_EQ(store_->renew_lease("leader", *a, Millis(5000)).error().code, Code::kAborted);
  EXPECT_EQ(store_->acquire_lease("leader", "a", Millis(5000))->term, a->term + 1);
}

TEST_P(StoreContract, RenewingMovesTheEnd) {
  auto lease = store_->acquire_lease("leader", "a", Millis(5000));
  for (int i = 0; i < 5; ++i) {
    clock_.advance(Millis(3000));
    lease = store_->renew_lease("leader", *lease, Millis(5000));
    ASSERT_TRUE(lease) << lease.error().to_string();
  }
  EXPECT_EQ(lease->term, 1u);
  EXPECT_FALSE(store_->acquire_lease("leader", "b", Millis(5000)));
}

TEST_P(StoreContract, AReleasedLeaseIsFreeAndItsTermIsNotUsedAgain) {
  auto a = store_->acquire_lease("leader", "a", Millis(5000));
  ASSERT_TRUE(store_->release_lease("leader", *a));
  EXPECT_FALSE(store_->read_lease("leader")->has_value());
  EXPECT_EQ(store_->renew_lease("leader", *a, Millis(5000)).error().code, Code::kAborted);
  auto b = store_->acquire_lease("leader", "b", Millis(5000));
  EXPECT_EQ(b->term, a->term + 1);
  EXPECT_TRUE(store_->release_lease("leader", *a)) << "a second release by an old holder is nothing";
  EXPECT_EQ((*store_->read_lease("leader"))->holder, "b");
}

TEST_P(StoreContract, AnOldTermOfTheSameHolderHoldsNothing) {
  auto old = store_->acquire_lease("leader", "a", Millis(5000));
  ASSERT_TRUE(store_->release_lease("leader", *old));
  auto now = store_->acquire_lease("leader", "a", Millis(5000));
  EXPECT_EQ(store_->renew_lease("leader", *old, Millis(5000)).error().code, Code::kAborted);
  EXPECT_TRUE(store_->release_lease("leader", *old));
  EXPECT_EQ((*store_->read_lease("leader"))->term, now->term);
}

TEST_P(StoreContract, AWriteFencedByTheLeaseFailsOnceItWasTakenOver) {
  auto a = store_->acquire_lease("leader", "a", Millis(5000));
  const std::string lease_key = lease_record_key("leader");
  EXPECT_TRUE(store_->commit({{{lease_key, a->revision}}, {{"epoch", "1"}}}));
  clock_.advance(Millis(5000));
  ASSERT_TRUE(store_->acquire_lease("leader", "b", Millis(5000)));
  EXPECT_EQ(commit_error({{{lease_key, a->revision}}, {{"epoch", "2"}}}), Code::kAborted);
  EXPECT_EQ(value("epoch"), "1");
}

TEST_P(StoreContract, AWallClockThatJumpsBackOnlyLengthensALease) {
  auto a = store_->acquire_lease("leader", "a", Millis(5000));
  clock_.jump_wall(Millis(-60'000));
  EXPECT_FALSE(store_->acquire_lease("leader", "b", Millis(5000)));
  auto renewed = store_->renew_lease("leader", *a, Millis(5000));
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->term, a->term);
}

TEST_P(StoreContract, LeaseArgumentsAreBounded) {
  const auto code = [&](std::string_view name, std::string_view holder, Millis ttl) {
    return store_->acquire_lease(name, holder, ttl).error().code;
  };
  const std::string long_name(kLeaseNameBytesMax + 1, 'n');
  EXPECT_EQ(code("", "a", Millis(1)), Code::kInvalidArgument);
  EXPECT_EQ(code("leader", "", Millis(1)), Code::kInvalidArgument);
  EXPECT_EQ(code(long_name, "a", Millis(1)), Code::kInvalidArgument);
  EXPECT_EQ(code("leader", long_name, Millis(1)), Code::kInvalidArgument);
  EXPECT_EQ(code("leader", "a", Millis(0)), Code::kInvalidArgument);
  EXPECT_EQ(code("leader", "a", Millis(-5)), Code::kInvalidArgument);
  EXPECT_EQ(code("leader", "a", kLeaseTtlMax + Millis(1)), Code::kInvalidArgument);
  EXPECT_FALSE(store_->read_lease("leader")->has_value());
}

TEST_P(StoreContract, OfManyContendersOneHoldsALeaseAndTermsNeverRepeat) {
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto lease = store_->acquire_lease("leader", fmt::format("c{}", t), Millis(5000));
      if (lease) {
        ++winners;
      } else {
        EXPECT_EQ(lease.error().code, Code::kFailedPrecondition);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ((*store_->read_lease("leader"))->term, 1u);
}

inline std::string store_name(const ::testing::TestParamInfo<StoreUnderTest>& info) {
  return info.param.name;
}

}  // namespace slipring::testing
