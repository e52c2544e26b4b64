// Generations rise, are never given twice, and what was struck out never comes back, whichever controller asks.
#include "slipring/control/router_book.h"

#include <gtest/gtest.h>

#include <set>

#include "slipring/base/clock.h"
#include "slipring/coordination/memory/memory_store.h"

namespace slipring::control {
namespace {

class RouterBookTest : public ::testing::Test {
 protected:
  RouterBook book() {
    RouterBook b(store_, keeper_, "c1");
    EXPECT_TRUE(b.load());
    return b;
  }
  ManualClock clock_{1'000'000};
  MemoryStore store_{clock_};
  LeaseKeeper keeper_{store_, "leader", store_.acquire_lease("leader", "c1", Millis(60'000)).value()};
};

TEST_F(RouterBookTest, ANewRouterGetsAnActiveAndASpareGeneration) {
  RouterBook b = book();
  const RouterRecord r = b.enroll("r1", "127.0.0.1:6400", 0).value();
  EXPECT_EQ(r.active.generation, 1u);
  EXPECT_EQ(r.spare.generation, 2u);
  EXPECT_NE(r.active.password, r.spare.password);
  EXPECT_EQ(r.active.user, "slipring-r-c1-r1-g1");
  EXPECT_EQ(b.live().size(), 2u);
}

TEST_F(RouterBookTest, AReconnectKeepsWhatItRunsOn) {
  RouterBook b = book();
  const RouterRecord r = b.enroll("r1", "", 0).value();
  EXPECT_EQ(b.enroll("r1", "", r.active.generation).value(), r);
}

TEST_F(RouterBookTest, ANewProcessNeverGetsTheOldOnesGenerations) {
  RouterBook b = book();
  const RouterRecord before = b.enroll("r1", "", 0).value();
  const RouterRecord after = b.enroll("r1", "", 0).value();
  EXPECT_GT(after.active.generation, before.spare.generation);
  EXPECT_GT(after.spare.generation, before.spare.generation);
  EXPECT_EQ(b.live().size(), 2u);
}

TEST_F(RouterBookTest, ARouterThatStartedOnItsSpareRunsOnIt) {
  RouterBook b = book();
  const RouterRecord before = b.enroll("r1", "", 0).value();
  const RouterRecord after = b.enroll("r1", "", before.spare.generation).value();
  EXPECT_EQ(after.active, before.spare);
  EXPECT_GT(after.spare.generation, before.spare.generation);
}

TEST_F(RouterBookTest, WhatWasStruckOutIsReplacedNeverForgiven) {
  RouterBook b = book();
  const RouterRecord r1 = b.enroll("r1", "", 0).value();
  const RouterRecord r2 = b.enroll("r2", "", 0).value();
  const std::vector<uint64_t> keep = {r1.active.generation};
  EXPECT_EQ(b.strike_all_but(keep).value(),
            (std::vector<uint64_t>{r1.spare.generation, r2.active.generation, r2.spare.generation}));
  EXPECT_EQ(b.live().size(), 1u);
  const RouterRecord again = b.enroll("r2", "", r2.active.generation).value();
  EXPECT_GT(again.active.generation, r2.spare.generation);
  const RouterRecord spare = b.replenish("r1", false).value();
  EXPECT_EQ(spare.active, r1.active);
  EXPECT_GT(spare.spare.generation, again.active.generation);
  EXPECT_EQ(book().routers(), b.routers()) << "another controller reads the same";
}

TEST_F(RouterBookTest, NothingChangesWithoutTheLease) {
  RouterBook b = book();
  const RouterRecord r = b.enroll("r1", "", 0).value();
  clock_.advance(std::chrono::minutes(2));
  ASSERT_TRUE(store_.acquire_lease("leader", "c2", Millis(60'000)));
  EXPECT_EQ(b.enroll("r1", "", 0).error().code, Code::kAborted);
  EXPECT_FALSE(b.strike_all_but({}));
  EXPECT_FALSE(b.forget("r1"));
  EXPECT_EQ(b.routers().at("r1"), r);
  EXPECT_EQ(book().routers().at("r1"), r);
}

TEST_F(RouterBookTest, AForgottenRouterIsGoneAndItsNumbersStayUsed) {
  RouterBook b = book();
  const RouterRecord r = b.enroll("r1", "", 0).value();
  ASSERT_TRUE(b.forget("r1"));
  EXPECT_TRUE(b.live().empty());
  EXPECT_EQ(b.forget("r1").error().code, Code::kNotFound);
  EXPECT_GT(book().enroll("r1", "", 0).value().active.generation, r.spare.generation);
}

TEST_F(RouterBookTest, RouterNamesAreChecked) {
  RouterBook b = book();
  for (const char* bad : {"", "a b", "a/b", "\n"}) {
    EXPECT_EQ(b.enroll(bad, "", 0).error().code, Code::kInvalidArgument) << bad;
  }
}

TEST(RouterRecord, RoundTripsAndRefusesDamage) {
  const RouterRecord r{"r1", "127.0.0.1:1", {1, "u1", "p1"}, {2, "u2", "p2"}};
  const std::string bytes = encode(r);
  EXPECT_EQ(decode_router(bytes).value(), r);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_router(bytes.substr(0, n)));
  EXPECT_FALSE(decode_router(bytes + "x"));
}

}  // namespace
}  // namespace slipring::control
