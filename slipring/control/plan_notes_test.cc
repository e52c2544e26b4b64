#include "slipring/control/plan_notes.h"

#include <gtest/gtest.h>

namespace slipring::control {
namespace {

std::deque<PlanNote> some() {
  return {{1, 1000, rebalance::kNoGroup, false, "opened"}, {2, 1001, 3, true, "key \"k\" differs"}, {9, 1002, 0, false, ""}};
}

TEST(PlanNotes, SurviveTheirEncoding) {
  EXPECT_EQ(decode_plan_notes(encode(some())).value(), some());
  EXPECT_TRUE(decode_plan_notes(encode(std::deque<PlanNote>())).value().empty());
}

TEST(PlanNotes, ALongTextIsCut) {
  const std::deque<PlanNote> notes = {{1, 1, 0, false, std::string(5000, 'x')}};
  EXPECT_EQ(decode_plan_notes(encode(notes)).value().front().text, std::string(4096, 'x'));
}

TEST(PlanNotes, DamagedBytesAreRefused) {
  const std::string good = encode(some());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_EQ(decode_plan_notes(good.substr(0, length)).error().code, Code::kDataLoss) << length;
  }
  EXPECT_EQ(decode_plan_notes(good + "x").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_plan_notes("\x02" + good.substr(1)).error().code, Code::kDataLoss);
}

TEST(PlanNotes, AreReadFromWhereOneStopped) {
  EXPECT_EQ(notes_after(some(), 1, 10).size(), 2u);
  EXPECT_EQ(notes_after(some(), 1, 1).front().sequence, 2u);
  EXPECT_TRUE(notes_after(some(), 9, 10).empty());
}

}  // namespace
}  // namespace slipring::control
