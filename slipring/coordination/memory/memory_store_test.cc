// The contract, and the faults that only this store has.
#include "slipring/coordination/memory/memory_store.h"

#include <gtest/gtest.h>

#include "slipring/coordination/store_contract.h"

namespace slipring {

namespace testing {
INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         ::testing::Values(StoreUnderTest{
                             "memory", [](const Clock& clock) { return std::make_unique<MemoryStore>(clock); }}),
                         store_name);
}  // namespace testing

namespace {

class MemoryFaults : public ::testing::Test {
 protected:
  Code put(const std::string& value) {
    auto result = store_.commit({{}, {{"a", value}}});
    return result ? Code::kUnknown : result.error().code;
  }
  std::string value() {
    auto record = store_.get("a");
    return record && *record ? (*record)->value : "(absent)";
  }

  ManualClock clock_{1000};
  MemoryStore store_{clock_};
};

TEST_F(MemoryFaults, AnUnknownOutcomeMayHaveBeenWrittenOrNot) {
  store_.fail_next_commit(MemoryStore::CommitFault::kUnknownNotApplied);
  store_.fail_next_commit(MemoryStore::CommitFault::kUnknownApplied);
  EXPECT_EQ(put("1"), Code::kDeadlineExceeded);
  EXPECT_EQ(value(), "(absent)");
  EXPECT_EQ(put("2"), Code::kDeadlineExceeded);
  EXPECT_EQ(value(), "2");
  EXPECT_EQ(put("3"), Code::kUnknown) << "a fault happens once";
  EXPECT_EQ(value(), "3");
}

TEST_F(MemoryFaults, AnUnknownOutcomeStillCompares) {
  put("1");
  store_.fail_next_commit(MemoryStore::CommitFault::kUnknownApplied);
  EXPECT_EQ(store_.commit({{{"a", 99}}, {{"a", "2"}}}).error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(value(), "1");
}

TEST_F(MemoryFaults, UnavailableWritesNothing) {
  store_.fail_next_commit(MemoryStore::CommitFault::kUnavailable);
  EXPECT_EQ(put("1"), Code::kUnavailable);
  EXPECT_EQ(value(), "(absent)");
}

TEST_F(MemoryFaults, AStoreThatIsAwayAnswersNothing) {
  put("1");
  auto lease = store_.acquire_lease("leader", "x", Millis(100));
  store_.set_available(false);
  EXPECT_EQ(put("2"), Code::kUnavailable);
  EXPECT_EQ(store_.get("a").error().code, Code::kUnavailable);
  EXPECT_EQ(store_.list("").error().code, Code::kUnavailable);
  EXPECT_EQ(store_.acquire_lease("leader", "x", Millis(100)).error().code, Code::kUnavailable);
  EXPECT_EQ(store_.renew_lease("leader", *lease, Millis(100)).error().code, Code::kUnavailable);
  EXPECT_EQ(store_.release_lease("leader", *lease).error().code, Code::kUnavailable);
  EXPECT_EQ(store_.read_lease("leader").error().code, Code::kUnavailable);
  store_.set_available(true);
  EXPECT_EQ(value(), "1");
}

TEST_F(MemoryFaults, ALeaseOfUnknownOutcomeIsReadBackByTakingItAgain) {
  store_.fail_next_commit(MemoryStore::CommitFault::kUnknownApplied);
  EXPECT_EQ(store_.acquire_lease("leader", "x", Millis(100)).error().code, Code::kDeadlineExceeded);
  EXPECT_EQ((*store_.read_lease("leader"))->holder, "x");
  EXPECT_EQ(store_.acquire_lease("leader", "x", Millis(100))->term, 1u) << "it was ours already";
}

}  // namespace
}  // namespace slipring
