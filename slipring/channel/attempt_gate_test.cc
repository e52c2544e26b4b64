#include "slipring/channel/attempt_gate.h"

#include <gtest/gtest.h>

namespace slipring::channel {
namespace {

constexpr MonoTime at_ms(int64_t ms) {
  return MonoTime(Millis(ms));
}

AttemptOpen open_of(uint64_t attempt, uint64_t epoch) {
  AttemptOpen open;
  open.attempt = attempt;
  open.epoch = Epoch{epoch};
  open.pool = "p";
  open.moves = {0, 2};
  return open;
}

AttemptClosed withdrawn(uint64_t attempt) {
  return {attempt, AttemptOutcome::kWithdrawn, Epoch{0}};
}
AttemptClosed committed(uint64_t attempt, uint64_t epoch) {
  return {attempt, AttemptOutcome::kCommitted, Epoch{epoch}};
}

// A router with generation 7 that serves by epoch 5 and is connected to a leader of term 3.
class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    welcome(3, 7);
    gate.on_snapshot_received(Epoch{5});
    gate.on_snapshot_applied(Epoch{5}, at_ms(0));
    gate.on_synced(at_ms(0));
  }
  GateActions welcome(uint64_t term, uint64_t generation) {
    Welcome w;
    w.term = term;
    w.active.generation = generation;
    return gate.on_welcome(w, at_ms(0));
  }
  GateActions hold(uint64_t attempt) {
    GateActions out = gate.on_attempt_open(open_of(attempt, 5), at_ms(10));
    gate.on_drained(attempt);
    return out;
  }
  static GateActions only(GateAction action) {
    GateActions out;
    out.push_back(std::move(action));
    return out;
  }
  AttemptGate gate;
};

TEST_F(GateTest, AnOpenAttemptStartsAHoldAndItsDrainingAcknowledgesIt) {
  EXPECT_EQ(gate.on_attempt_open(open_of(1, 5), at_ms(1)), only(StartHold{1, Epoch{5}, "p", {0, 2}}));
  EXPECT_EQ(gate.held(), 1u);
  EXPECT_EQ(gate.on_drained(1), only(SendAck{1, 7}));
  EXPECT_TRUE(gate.on_drained(1).empty());
}

TEST_F(GateTest, AnAttemptOfALaterEpochWaitsForItsSnapshot) {
  EXPECT_TRUE(gate.on_attempt_open(open_of(1, 6), at_ms(1)).empty());
  EXPECT_EQ(gate.on_snapshot_applied(Epoch{6}, at_ms(2)), only(StartHold{1, Epoch{6}, "p", {0, 2}}));
}

TEST_F(GateTest, AnAttemptOfAnEarlierEpochIsIgnored) {
  EXPECT_TRUE(gate.on_attempt_open(open_of(1, 4), at_ms(1)).empty());
  EXPECT_FALSE(gate.held());
}

TEST_F(GateTest, WithdrawnReleasesAtOnce) {
  hold(1);
  EXPECT_EQ(gate.on_attempt_closed(withdrawn(1), at_ms(20)), only(Release{1}));
  EXPECT_FALSE(gate.held());
}

TEST_F(GateTest, CommittedReleasesOnlyWhenItsSnapshotIsApplied) {
  hold(1);
  EXPECT_TRUE(gate.on_attempt_closed(committed(1, 6), at_ms(20)).empty());
  EXPECT_EQ(gate.held(), 1u);
  EXPECT_EQ(gate.on_snapshot_applied(Epoch{6}, at_ms(21)), only(Release{1}));
}

TEST_F(GateTest, ALaterSnapshotAloneProvesThatTheAttemptIsClosed) {
  hold(1);
  EXPECT_EQ(gate.on_snapshot_applied(Epoch{6}, at_ms(21)), only(Release{1}));
}

TEST_F(GateTest, NoTimeReleasesAHold) {
  hold(1);
  GateActions seen;
  for (int64_t ms = 10; ms < 3'600'000; ms += 100) {
    for (GateAction& action : gate.on_tick(at_ms(ms))) seen.push_back(std::move(action));
  }
  EXPECT_EQ(gate.held(), 1u);
  for (const GateAction& action : seen) EXPECT_FALSE(std::holds_alternative<Release>(action));
}

TEST_F(GateTest, PastItsBoundItAsksToWithdrawAgainAndAgain) {
  hold(1);
  EXPECT_TRUE(gate.on_tick(at_ms(209)).empty());
  EXPECT_EQ(gate.next_tick(), at_ms(210));
  EXPECT_EQ(gate.on_tick(at_ms(210)), only(SendWithdraw{1}));
  EXPECT_TRUE(gate.on_tick(at_ms(211)).empty());
  EXPECT_EQ(gate.on_tick(at_ms(410)), only(SendWithdraw{1}));
}

TEST_F(GateTest, PastTheLongestHoldCommandsAreAnsweredTryAgainOnce) {
  hold(1);
  gate.on_disconnected();
  EXPECT_EQ(gate.next_tick(), at_ms(2'010));
  EXPECT_EQ(gate.on_tick(at_ms(2'010)), only(StartTryAgain{1}));
  EXPECT_TRUE(gate.on_tick(at_ms(9'000)).empty());
  EXPECT_TRUE(gate.try_again());
  EXPECT_EQ(gate.held(), 1u);
}

TEST_F(GateTest, ADisconnectDoesNotRelease) {
  hold(1);
  EXPECT_TRUE(gate.on_disconnected().empty());
  EXPECT_EQ(gate.held(), 1u);
  EXPECT_TRUE(gate.on_attempt_closed(withdrawn(1), at_ms(20)).empty()) << "nothing comes over a closed connection";
  EXPECT_EQ(gate.held(), 1u);
}

TEST_F(GateTest, AnnouncedAgainAfterAReconnectItAcknowledgesAgain) {
  hold(1);
  gate.on_disconnected();
  welcome(4, 7);
  EXPECT_EQ(gate.on_attempt_open(open_of(1, 5), at_ms(50)), only(SendAck{1, 7}));
  EXPECT_TRUE(gate.on_synced(at_ms(51)).empty());
  EXPECT_EQ(gate.held(), 1u);
}

TEST_F(GateTest, SynchronisedWithoutTheAttemptTheSnapshotDecides) {
  hold(1);
  gate.on_disconnected();
  welcome(4, 7);
  gate.on_snapshot_received(Epoch{6});
  EXPECT_TRUE(gate.on_synced(at_ms(51)).empty()) << "epoch 6 is received but not applied";
  EXPECT_EQ(gate.on_snapshot_applied(Epoch{6}, at_ms(52)), only(Release{1}));
}

TEST_F(GateTest, SynchronisedWithoutTheAttemptAndInTheSameEpochItWasWithdrawn) {
  hold(1);
  gate.on_disconnected();
  welcome(4, 7);
  gate.on_snapshot_received(Epoch{5});
  EXPECT_EQ(gate.on_synced(at_ms(51)), only(Release{1}));
}

TEST_F(GateTest, AnOlderLeaderIsNotBelieved) {
  hold(1);
  gate.on_disconnected();
  EXPECT_EQ(welcome(2, 7), only(DropConnection{}));
  EXPECT_TRUE(gate.on_synced(at_ms(51)).empty());
  EXPECT_TRUE(gate.on_attempt_closed(withdrawn(1), at_ms(52)).empty());
  EXPECT_EQ(gate.held(), 1u);
}

TEST_F(GateTest, ANewerAttemptOfTheSameEpochProvesThatTheHeldOneWasWithdrawn) {
  hold(1);
  const GateActions out = gate.on_attempt_open(open_of(2, 5), at_ms(30));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0], GateAction(Release{1}));
  EXPECT_EQ(out[1], GateAction(StartHold{2, Epoch{5}, "p", {0, 2}}));
}

TEST_F(GateTest, ANewerAttemptOfALaterEpochKeepsTheHoldUntilThatEpochIsApplied) {
  hold(1);
  EXPECT_TRUE(gate.on_attempt_open(open_of(2, 6), at_ms(30)).empty());
  EXPECT_EQ(gate.held(), 1u);
  const GateActions out = gate.on_snapshot_applied(Epoch{6}, at_ms(31));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0], GateAction(Release{1}));
  EXPECT_EQ(gate.held(), 2u);
}

TEST_F(GateTest, OldNumbersAndRepeatsAreIgnored) {
  hold(2);
  gate.on_attempt_closed(withdrawn(2), at_ms(20));
  EXPECT_TRUE(gate.on_attempt_open(open_of(2, 5), at_ms(21)).empty());
  EXPECT_TRUE(gate.on_attempt_open(open_of(1, 5), at_ms(21)).empty());
  EXPECT_TRUE(gate.on_attempt_closed(withdrawn(2), at_ms(22)).empty());
  EXPECT_TRUE(gate.on_drained(2).empty());
}

TEST_F(GateTest, DrainedOfAnotherAttemptIsNoAcknowledgement) {
  gate.on_attempt_open(open_of(2, 5), at_ms(1));
  EXPECT_TRUE(gate.on_drained(1).empty());
  EXPECT_EQ(gate.on_drained(2), only(SendAck{2, 7}));
}

TEST_F(GateTest, ANewGenerationAcknowledgesWhatIsHeldAndDrained) {
  hold(1);
  EXPECT_EQ(gate.on_new_generation(8), only(SendAck{1, 8}));
  EXPECT_TRUE(gate.on_new_generation(8).empty());
}

TEST_F(GateTest, AClosedAttemptIsNotAcknowledged) {
  gate.on_attempt_open(open_of(1, 5), at_ms(1));
  gate.on_attempt_closed(committed(1, 6), at_ms(2));
  EXPECT_TRUE(gate.on_drained(1).empty());
  EXPECT_TRUE(gate.on_tick(at_ms(300)).empty()) << "nothing is left to withdraw";
}

}  // namespace
}  // namespace slipring::channel
