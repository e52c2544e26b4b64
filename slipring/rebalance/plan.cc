#include "slipring/rebalance/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "slipring/base/bytes.h"
#include "slipring/topology/codec.h"

namespace slipring::rebalance {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kPlanned:
      return "planned";
    case Stage::kStreaming:
      return "streaming";
    case Stage::kVerifying:
      return "verifying";
    case Stage::kReady:
      return "ready";
    case Stage::kCutover:
      return "cutover";
    case Stage::kGrace:
      return "grace";
    case Stage::kRollingBack:
      return "rolling_back";
    case Stage::kCleanup:
      return "cleanup";
    case Stage::kDone:
      return "done";
    case Stage::kNeedsDecision:
      return "needs_decision";
    case Stage::kStopped:
      return "stopped";
    case Stage::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view plan_state_name(PlanState state) {
  switch (state) {
    case PlanState::kOpen:
      return "open";
    case PlanState::kCompleted:
      return "completed";
    case PlanState::kRolledBack:
      return "rolled_back";
    case PlanState::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string open_plan_key(std::string_view pool) {
  return fmt::format("open-plan/{}", pool);
}
Result<uint64_t> decode_open_plan(std::string_view bytes) {
  ByteReader in(bytes);
  const uint64_t id = in.u64();
  if (!in.done() || id == 0) return fail(Code::kDataLoss, "record of the open plan: damaged");
  return id;
}
std::string plan_key(uint64_t id) {
  return fmt::format("plan/{:016x}", id);
}
std::string group_prefix(uint64_t id) {
  return fmt::format("group/{:016x}/", id);
}
std::string group_key(uint64_t id, uint32_t group) {
  return fmt::format("{}{:08x}", group_prefix(id), group);
}

std::vector<GroupRecord> make_groups(uint64_t plan, const std::vector<MoveOwner>& moves) {
  std::vector<size_t> order(moves.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Slice first: with serial slices, the groups of a slice stand together.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(moves[a].slice, moves[a].source, moves[a].target) <
           std::tie(moves[b].slice, moves[b].source, moves[b].target);
  });
  std::vector<GroupRecord> groups;
  for (const size_t i : order) {
    const MoveOwner& move = moves[i];
    if (groups.empty() || groups.back().source != move.source || groups.back().slice != move.slice) {
      GroupRecord group;
      group.plan = plan;
      group.index = static_cast<uint32_t>(groups.size());
      group.slice = move.slice;
      group.source = move.source;
      groups.push_back(std::move(group));
    }
    GroupMove in_group;
    in_group.move = static_cast<uint32_t>(i);
    in_group.target = move.target;
    groups.back().moves.push_back(std::move(in_group));
  }
  for (GroupRecord& group : groups) group.identities.resize(group.moves.size() + 1);
  return groups;
}

namespace {

Result<Pool*> pool_of(Snapshot& snapshot, const PlanRecord& plan) {
  for (Pool& pool : snapshot.pools) {
    if (pool.name == plan.pool) return &pool;
  }
  return fail(Code::kNotFound, fmt::format("pool {}: not in epoch {}", plan.pool, to_u64(snapshot.epoch)));
}

Result<Pool*> pool_with_plan(Snapshot& snapshot, const PlanRecord& plan) {
  SLIPRING_ASSIGN(Pool * pool, pool_of(snapshot, plan));
  if (!pool->plan || pool->plan->id != plan.id) {
    return fail(Code::kFailedPrecondition,
                fmt::format("pool {}: plan {} is not open in epoch {}", plan.pool, plan.id, to_u64(snapshot.epoch)));
  }
  return pool;
}

}  // namespace

Result<Snapshot> snapshot_with_plan(const Snapshot& now, const PlanRecord& plan, std::vector<MoveOwner> moves) {
  Snapshot out = now;
  SLIPRING_ASSIGN(Pool * pool, pool_of(out, plan));
  if (pool->plan) {
    return fail(Code::kFailedPrecondition, fmt::format("pool {}: plan {} is open", plan.pool, pool->plan->id));
  }
  for (MoveOwner& move : moves) move.target_owns = false;
  pool->plan = OpenPlan{plan.id, plan.next_layout, plan.slices, std::move(moves)};
  out.epoch = next(now.epoch);
  return out;
}

Result<Snapshot> snapshot_with_owner(const Snapshot& now, const PlanRecord& plan, const GroupRecord& group,
                                     bool target_owns) {
  Snapshot out = now;
  SLIPRING_ASSIGN(Pool * pool, pool_with_plan(out, plan));
  for (const GroupMove& m : group.moves) {
    std::vector<MoveOwner>& moves = pool->plan->moves;
    if (m.move >= moves.size() || moves[m.move].source != group.source || moves[m.move].target != m.target ||
        moves[m.move].slice != group.slice) {
      return fail(Code::kFailedPrecondition,
                  fmt::format("plan {}: move {} is another one in epoch {}", plan.id, m.move, to_u64(now.epoch)));
    }
    moves[m.move].target_owns = target_owns;
  }
  out.epoch = next(now.epoch);
  return out;
}

Result<Snapshot> snapshot_without_plan(const Snapshot& now, const PlanRecord& plan, bool forward) {
  Snapshot out = now;
  SLIPRING_ASSIGN(Pool * pool, pool_with_plan(out, plan));
  for (const MoveOwner& move : pool->plan->moves) {
    if (move.target_owns != forward) {
      return fail(Code::kFailedPrecondition,
                  fmt::format("plan {}: slice {} from {} to {} is owned by its {}", plan.id, move.slice,
                              move.source.address, move.target.address, move.target_owns ? "target" : "source"));
    }
  }
  if (forward) pool->layout = pool->plan->next;
  pool->plan.reset();
  out.epoch = next(now.epoch);
  return out;
}

Transaction with_lease(Transaction transaction, std::string_view lease_name, const Lease& lease) {
  transaction.expects.push_back({lease_record_key(lease_name), lease.revision});
  return transaction;
}

Transaction open_plan_transaction(const Revised<Snapshot>& epoch, const PlanRecord& plan,
                                  const std::vector<GroupRecord>& groups, const Snapshot& next) {
  ByteWriter id;
  id.u64(plan.id);
  Transaction t;
  t.expects = {{std::string(kEpochKey), epoch.revision}, {open_plan_key(plan.pool), 0}, {plan_key(plan.id), 0}};
  t.writes = {{std::string(kEpochKey), encode_snapshot(next)},
              {open_plan_key(plan.pool), id.take()},
              {plan_key(plan.id), encode(plan)}};
  for (const GroupRecord& group : groups) t.writes.push_back({group_key(plan.id, group.index), encode(group)});
  return t;
}

Transaction open_attempt_transaction(const Revised<AttemptRecord>& newest, uint64_t epoch_revision,
                                     const AttemptRecord& attempt, uint64_t group_revision, const GroupRecord& group) {
  const std::string group_at = group_key(group.plan, group.index);
  Transaction t;
  t.expects = {{std::string(kAttemptKey), newest.revision},
               {std::string(kEpochKey), epoch_revision},
               {group_at, group_revision}};
  t.writes = {{std::string(kAttemptKey), encode(attempt)}, {group_at, encode(group)}};
  return t;
}

namespace {

AttemptRecord closed_as(AttemptRecord attempt, AttemptState state) {
  attempt.state = state;
  return attempt;
}

}  // namespace

Transaction commit_transaction(const Revised<AttemptRecord>& open, const Revised<GroupRecord>& group,
                               uint64_t epoch_revision, const Snapshot& next, const GroupRecord& flipped) {
  const std::string group_at = group_key(flipped.plan, flipped.index);
  Transaction t;
  t.expects = {
      {std::string(kAttemptKey), open.revision}, {std::string(kEpochKey), epoch_revision}, {group_at, group.revision}};
  t.writes = {{std::string(kAttemptKey), encode(closed_as(open.value, AttemptState::kCommitted))},
              {std::string(kEpochKey), encode_snapshot(next)},
              {group_at, encode(flipped)}};
  return t;
}

Transaction withdraw_transaction(const Revised<AttemptRecord>& open, uint64_t group_revision,
                                 const GroupRecord& group) {
  const std::string group_at = group_key(group.plan, group.index);
  Transaction t;
  t.expects = {{std::string(kAttemptKey), open.revision}, {group_at, group_revision}};
  t.writes = {{std::string(kAttemptKey), encode(closed_as(open.value, AttemptState::kWithdrawn))},
              {group_at, encode(group)}};
  return t;
}

Transaction close_plan_transaction(const Revised<PlanRecord>& plan, uint64_t epoch_revision, const Snapshot& next,
                                   const PlanRecord& closed) {
  Transaction t;
  t.expects = {{plan_key(closed.id), plan.revision}, {std::string(kEpochKey), epoch_revision}};
  t.writes = {{plan_key(closed.id), encode(closed)},
              {std::string(kEpochKey), encode_snapshot(next)},
              {open_plan_key(closed.pool), std::nullopt}};
  return t;
}

}  // namespace slipring::rebalance
