#include "slipring/rebalance/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "slipring/topology/codec.h"

namespace slipring::rebalance {
namespace {

Node plain_node(const std::string& name) {
  Node n;
  n.name = name;
  n.instance.address = name + ":6379";
  return n;
}

PlanRecord plan_record() {
  PlanRecord plan;
  plan.id = 9;
  plan.pool = "p";
  plan.title = "add node c";
  plan.base_epoch = Epoch{4};
  plan.old_layout.nodes = {plain_node("a"), plain_node("b")};
  plan.next_layout.nodes = {plain_node("a"), plain_node("b"), plain_node("c")};
  plan.slices = 16;
  plan.options.grace_ms = 0;
  plan.options.serial_slices = true;
  plan.goal = Goal::kRollBack;
  plan.paused = true;
  plan.group_count = 2;
  plan.created_at_ms = 123;
  return plan;
}

std::vector<MoveOwner> moves() {
  const Instance a{"a:6379", 1};
  const Instance b{"b:6379", 1};
  const Instance c{"c:6379", 1};
  return {{a, c, 0, false}, {a, c, 1, false}, {b, c, 0, false}};
}

GroupRecord group_record() {
  GroupRecord group = make_groups(9, moves())[0];
  group.stage = Stage::kNeedsDecision;
  group.from = Stage::kGrace;
  group.target_owns = true;
  group.attempts = 3;
  group.reason = "why";
  group.strays = 2;
  group.merge = true;
  group.changed_server = 1;
  group.committed_at_ms = 77;
  group.identities[1] = {"run", "master", "repl"};
  group.moves[0].totals = {5, 50, {1, 2}, {3, 4}};
  return group;
}

Snapshot snapshot() {
  Snapshot s;
  s.epoch = Epoch{4};
  s.cluster_id = "0123456789abcdef";
  Pool pool;
  pool.name = "p";
  pool.layout = plan_record().old_layout;
  s.pools.push_back(pool);
  return s;
}

TEST(PlanCodec, RecordsComeBackAsTheyWere) {
  EXPECT_EQ(decode_plan(encode(plan_record())), plan_record());
  EXPECT_EQ(decode_group(encode(group_record())), group_record());
  const AttemptRecord attempt{3, 9, 1, Epoch{5}, true, AttemptState::kOpen, {4, 6, 8}};
  EXPECT_EQ(decode_attempt(encode(attempt)), attempt);
}

template <typename Decode>
void expect_every_prefix_refused(const std::string& bytes, Decode decode) {
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode(bytes.substr(0, n))) << n << " bytes";
  EXPECT_FALSE(decode(bytes + "x"));
}

TEST(PlanCodec, TruncatedOrLongerBytesAreRefused) {
  expect_every_prefix_refused(encode(plan_record()), decode_plan);
  expect_every_prefix_refused(encode(group_record()), decode_group);
  expect_every_prefix_refused(encode(AttemptRecord{3, 9, 1, Epoch{5}, true, AttemptState::kOpen, {4, 6, 8}}),
                              decode_attempt);
}

TEST(PlanCodec, AnotherFormatOrKindIsRefused) {
  std::string bytes = encode(group_record());
  EXPECT_FALSE(decode_plan(bytes));
  EXPECT_FALSE(decode_attempt(bytes));
  bytes[4] = 2;
  ASSERT_FALSE(decode_group(bytes));
  EXPECT_EQ(decode_group(bytes).error().code, Code::kUnimplemented);
}

TEST(PlanCodec, AFlippedByteNeverCrashes) {
  const std::string bytes = encode(group_record());
  size_t accepted = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
    accepted += decode_group(damaged) ? 1 : 0;
  }
  EXPECT_LT(accepted, bytes.size());
}

TEST(Groups, OneForEachSourceAndSlice) {
  const std::vector<GroupRecord> groups = make_groups(9, moves());
  ASSERT_EQ(groups.size(), 3u);
  std::set<uint32_t> seen;
  for (uint32_t g = 0; g < groups.size(); ++g) {
    EXPECT_EQ(groups[g].index, g);
    for (const GroupMove& m : groups[g].moves) {
      EXPECT_EQ(moves()[m.move].source, groups[g].source);
      EXPECT_EQ(moves()[m.move].slice, groups[g].slice);
      seen.insert(m.move);
    }
    EXPECT_EQ(groups[g].identities.size(), groups[g].moves.size() + 1);
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_LE(groups[0].slice, groups[2].slice) << "slices in order";
}

TEST(Snapshots, APlanOpensFlipsAndCloses) {
  const auto open = snapshot_with_plan(snapshot(), plan_record(), moves());
  ASSERT_TRUE(open);
  EXPECT_EQ(open->epoch, Epoch{5});
  EXPECT_FALSE(snapshot_without_plan(*open, plan_record(), true)) << "the sources own still";
  Snapshot now = *open;
  for (const GroupRecord& group : make_groups(9, moves())) {
    const auto next = snapshot_with_owner(now, plan_record(), group, true);
    ASSERT_TRUE(next);
    now = *next;
  }
  EXPECT_EQ(now.epoch, Epoch{8});
  EXPECT_FALSE(snapshot_without_plan(now, plan_record(), false));
  const auto closed = snapshot_without_plan(now, plan_record(), true);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->pools[0].layout, plan_record().next_layout);
  EXPECT_FALSE(closed->pools[0].plan);
}

TEST(Snapshots, ASecondPlanOrAForeignGroupIsRefused) {
  const auto open = snapshot_with_plan(snapshot(), plan_record(), moves());
  ASSERT_TRUE(open);
  EXPECT_EQ(snapshot_with_plan(*open, plan_record(), moves()).error().code, Code::kFailedPrecondition);
  GroupRecord foreign = group_record();
  foreign.source.address = "z:1";
  EXPECT_EQ(snapshot_with_owner(*open, plan_record(), foreign, true).error().code, Code::kFailedPrecondition);
  PlanRecord other = plan_record();
  other.pool = "q";
  EXPECT_EQ(snapshot_with_plan(snapshot(), other, moves()).error().code, Code::kNotFound);
}

bool expects(const Transaction& t, const std::string& key, uint64_t revision) {
  for (const auto& e : t.expects) {
    if (e.key == key && e.revision == revision) return true;
  }
  return false;
}

TEST(Transactions, ACommitComparesAttemptEpochAndGroup) {
  const Revised<AttemptRecord> attempt{{3, 9, 0, Epoch{5}, false, AttemptState::kOpen, {1}}, 11};
  const Revised<GroupRecord> group{group_record(), 12};
  Transaction t = commit_transaction(attempt, group, 13, snapshot(), group_record());
  EXPECT_TRUE(expects(t, "attempt", 11));
  EXPECT_TRUE(expects(t, "epoch", 13));
  EXPECT_TRUE(expects(t, group_key(9, 0), 12));
  Lease lease;
  lease.revision = 14;
  t = with_lease(t, "leader", lease);
  EXPECT_TRUE(expects(t, lease_record_key("leader"), 14));
  EXPECT_EQ(decode_attempt(*t.writes[0].value)->state, AttemptState::kCommitted);
}

TEST(Transactions, OpeningAPlanNeedsAPoolWithoutOne) {
  const Transaction t = open_plan_transaction({snapshot(), 3}, plan_record(), make_groups(9, moves()), snapshot());
  EXPECT_TRUE(expects(t, open_plan_key("p"), 0));
  for (const Transaction::Write& write : t.writes) {
    if (write.key == open_plan_key("p")) {
      EXPECT_EQ(decode_open_plan(*write.value).value(), 9u);
    }
  }
  EXPECT_EQ(decode_open_plan("9").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_open_plan(std::string(8, '\0')).error().code, Code::kDataLoss);
  EXPECT_TRUE(expects(t, "epoch", 3));
  EXPECT_EQ(t.writes.size(), 6u);
}

}  // namespace
}  // namespace slipring::rebalance
