// One attempt at a time: open, acknowledgements, fence, last round, last check, commit or withdraw, flip.
//
//   read > open > acks > fence > seal > list > commit > flip > (published)
//            \_____\_______\______\______\_______\> withdraw > (announced, back-off)
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/rebalance/plan_state.h"
#include "slipring/topology/codec.h"

namespace slipring::rebalance {

using State = PlanMachine::State;

namespace {

constexpr int64_t kRoutersLateMs = 10'000;

// The newest attempt of the cluster; none yet is a closed one with number 0. An error is the message.
Result<Revised<AttemptRecord>> attempt_of(const Record& record) {
  if (record.revision == 0) return Revised<AttemptRecord>{};
  SLIPRING_ASSIGN(AttemptRecord attempt, decode_attempt(record.value));
  return Revised<AttemptRecord>{std::move(attempt), record.revision};
}

}  // namespace

std::vector<Peer> State::side(const GroupRecord& r, bool owner) const {
  if (owner != r.target_owns) return {kSource};
  std::vector<Peer> targets;
  for (Peer p = 1; p <= r.moves.size(); ++p) targets.push_back(p);
  return targets;
}

// Nobody who is alive is left out: whoever is a little behind is waited for, and only the dead are fenced.
std::optional<std::vector<uint64_t>> State::generations_on(Epoch epoch, std::string& late) const {
  std::vector<uint64_t> generations;
  for (const RouterView& router : routers) {
    if (!router.alive) continue;
    if (router.epoch >= epoch) {
      generations.push_back(router.generation);
    } else {
      late = fmt::format("router {} is on epoch {}, not {}", router.router, to_u64(router.epoch), to_u64(epoch));
    }
  }
  if (!late.empty()) return std::nullopt;
  std::sort(generations.begin(), generations.end());
  return generations;
}

// The first thing a machine does: an attempt that an earlier controller left open is withdrawn, or turns out committed.
void State::recover() {
  Operation op;
  op.read = {std::string(kAttemptKey), std::string(kEpochKey)};
  op.done = [this](const std::vector<Record>& records) { on_recovered(records); };
  enqueue(std::move(op));
}

void State::on_recovered(const std::vector<Record>& records) {
  const Result<Revised<AttemptRecord>> newest = attempt_of(records[0]);
  const Result<Snapshot> snapshot = decode_snapshot(records[1].value);
  if (!newest || !snapshot) {
    note(kNoGroup, (newest ? snapshot.error() : newest.error()).to_string());
    operation_at = now.mono + Millis(limits.retry_ms);
    return recover();
  }
  recovered = true;
  known_epoch = std::max(known_epoch, snapshot->epoch);
  const AttemptRecord& attempt = newest->value;
  if (attempt.state != AttemptState::kOpen || attempt.plan != plan.value.id || attempt.group >= groups.size()) return;
  run = Run{};
  run->group = attempt.group;
  run->attempt = *newest;
  run->epoch_revision = records[1].revision;
  withdraw("the controller was restarted", false);
}

void State::try_attempt() {
  if (run || closing || plan.value.paused) return;
  for (uint32_t g = 0; g < groups.size(); ++g) {
    const GroupRecord& r = rec(g);
    const bool wanted =
        r.target_owns ? r.stage == Stage::kRollingBack && goes_back() : r.stage == Stage::kReady && !goes_back();
    const bool forced = r.force && (r.stage == Stage::kReady || r.stage == Stage::kRollingBack);
    if ((!wanted || !groups[g].ready) && !forced) continue;
    if (now.mono < groups[g].attempt_at) continue;
    return begin_attempt(g);
  }
}

void State::begin_attempt(uint32_t g) {
  run = Run{};
  run->group = g;
  Operation op;
  op.read = {std::string(kAttemptKey), std::string(kEpochKey)};
  op.done = [this](const std::vector<Record>& records) { on_attempt_read(records); };
  enqueue(std::move(op));
}

void State::on_attempt_read(const std::vector<Record>& records) {
  if (!run->withdraw_reason.empty()) return give_up_before_open(run->withdraw_reason, false);
  const Result<Revised<AttemptRecord>> newest = attempt_of(records[0]);
  if (!newest) return give_up_before_open(newest.error().to_string(), false);
  const Result<Snapshot> snapshot = decode_snapshot(records[1].value);
  if (!snapshot) return give_up_before_open(snapshot.error().to_string(), false);
  const uint32_t g = run->group;
  if (newest->value.state == AttemptState::kOpen) {
    if (newest->value.plan != plan.value.id) return give_up_before_open("another plan's attempt is open", false);
    // One of ours whose opening had an unknown outcome.
    run->group = std::min<uint32_t>(newest->value.group, static_cast<uint32_t>(groups.size() - 1));
    run->attempt = *newest;
    run->epoch_revision = records[1].revision;
    return withdraw("left open", false);
  }
  const bool back = rec(g).target_owns;
  Result<Snapshot> next = snapshot_with_owner(*snapshot, plan.value, rec(g), !back);
  if (!next) return give_up_before_open(next.error().to_string(), true);
  known_epoch = std::max(known_epoch, snapshot->epoch);
  auto generations = routers_ready(g, snapshot->epoch);
  if (!generations) return;
  run->newest = *newest;
  run->epoch_revision = records[1].revision;
  run->next = std::make_shared<const Snapshot>(std::move(*next));
  run->attempt.value = AttemptRecord{newest->value.number + 1, plan.value.id,         g, snapshot->epoch, back,
                                     AttemptState::kOpen,      std::move(*generations)};
  open_attempt();
}

// nullopt: a router that lives does not serve by the current epoch, and the attempt is given up for now.
std::optional<std::vector<uint64_t>> State::routers_ready(uint32_t g, Epoch epoch) {
  Group& group = groups[g];
  std::string late;
  auto generations = generations_on(epoch, late);
  if (generations) {
    group.routers_late_since.reset();
    return generations;
  }
  if (!group.routers_late_since) group.routers_late_since = now.mono;
  const bool too_long = now.mono >= *group.routers_late_since + Millis(kRoutersLateMs);
  if (too_long) group.routers_late_since.reset();
  give_up_before_open(late, too_long);
  return std::nullopt;
}

void State::give_up_before_open(const std::string& reason, bool counts) {
  const uint32_t g = run->group;
  run.reset();
  groups[g].attempt_at = now.mono + Millis(limits.retry_ms);
  if (!counts) return;
  const uint32_t max = plan.value.options.attempts_max;
  save_group(g, [reason, max](GroupRecord& r) {
    r.reason = reason;
    if (++r.attempts < max) return;
    r.from = r.stage;
    r.stage = Stage::kStopped;
  });
}

void State::open_attempt() {
  const uint32_t g = run->group;
  run->step = RunStep::kOpen;
  const auto next = std::make_shared<GroupRecord>();
  Operation op;
  op.build = [this, g, next] {
    *next = rec(g);
    next->stage = Stage::kCutover;
    return open_attempt_transaction(run->newest, run->epoch_revision, run->attempt.value, groups[g].record.revision,
                                    *next);
  };
  op.done = [this, g, next](const std::vector<Record>& records) {
    run->attempt.revision = records.front().revision;
    groups[g].record = {*next, records.back().revision};
    on_opened();
  };
  op.failed = [this] { give_up_before_open("the topology changed meanwhile", false); };
  enqueue(std::move(op));
}

// What was too short on a busy machine is doubled with each failed attempt, well below the time at which clients get an
// error.
uint32_t State::hold_bound_ms(uint32_t g) const {
  const PlanOptions& o = plan.value.options;
  const uint32_t doublings = std::min<uint32_t>(groups[g].failures_in_a_row, 8);
  const uint64_t longer = uint64_t{o.hold_bound_ms} << doublings;
  return static_cast<uint32_t>(std::max<uint64_t>(o.hold_bound_ms, std::min<uint64_t>(longer, o.hold_max_ms / 2)));
}

void State::on_opened() {
  if (!run->withdraw_reason.empty()) return withdraw(run->withdraw_reason, false);
  AnnounceOpen open;
  open.attempt = run->attempt.value;
  open.pool = plan.value.pool;
  for (const GroupMove& m : rec(run->group).moves) open.moves.push_back(m.move);
  open.hold_bound_ms = hold_bound_ms(run->group);
  open.hold_max_ms = plan.value.options.hold_max_ms;
  run->announced = true;
  out->push_back(std::move(open));
  run->step = RunStep::kAcks;
  const int64_t wait = limits.ack_wait_ms > 0 ? limits.ack_wait_ms : open.hold_bound_ms;
  run->deadline = now.mono + Millis(wait);
  check_acks();
}

void State::check_acks() {
  for (const uint64_t generation : run->attempt.value.generations) {
    if (run->acked.count(generation) == 0) return;
  }
  fence();
}

void State::fence() {
  const std::vector<uint64_t>& acknowledged = run->attempt.value.generations;
  for (const RouterView& router : routers) {
    const bool asked = std::binary_search(acknowledged.begin(), acknowledged.end(), router.generation);
    if (router.alive && !asked) return withdraw(fmt::format("router {} came back meanwhile", router.router), true);
  }
  run->step = RunStep::kFence;
  run->deadline = now.mono + Millis(plan.value.options.hold_max_ms);
  for (const Peer p : side(rec(run->group), true)) {
    run->waiting.insert(++last_id);
    out->push_back(FenceRouters{last_id, instance(rec(run->group), p), acknowledged});
  }
}

void State::seal() {
  if (rec(run->group).force) return list_users();
  run->step = RunStep::kSeal;
  groups[run->group].ready = false;
  out->push_back(TellCopy{run->group, CopyCommand::kSeal, run->attempt.value.number});
}

void State::on_sealed(const Sealed& e) {
  if (!run || run->step != RunStep::kSeal || e.attempt != run->attempt.value.number) return;
  run->sealed = e.identities;
  run->totals = e.totals;
  const GroupRecord& r = rec(run->group);
  if (e.identities != r.identities) return withdraw("a server was restarted or replaced", true);
  list_users();
}

// The last check: who could still write?
void State::list_users() {
  run->step = RunStep::kList;
  for (const Peer p : side(rec(run->group), true)) {
    run->listing.emplace(++last_id, p);
    out->push_back(ListRouterUsers{last_id, instance(rec(run->group), p)});
  }
}

void State::on_users(const RouterUsers& e) {
  if (!run || run->step != RunStep::kList) return;
  const auto at = run->listing.find(e.id);
  if (at == run->listing.end()) return;
  const Peer peer = at->second;
  run->listing.erase(at);
  const std::vector<uint64_t>& allowed = run->attempt.value.generations;
  if (!std::includes(allowed.begin(), allowed.end(), e.generations.begin(), e.generations.end())) {
    return withdraw("a router user outside the acknowledged set exists", true);
  }
  if (!rec(run->group).force && e.identity != run->sealed[peer]) {
    return withdraw("a server was restarted or replaced", true);
  }
  if (run->listing.empty()) commit();
}

GroupRecord State::flipped(GroupRecord r) const {
  r.target_owns = !r.target_owns;
  // Going back, a sealed copy is known to be whole and can be removed; after a forced flip nothing says that the copies
  // agree.
  r.stage = r.target_owns ? Stage::kGrace : r.force ? Stage::kStreaming : Stage::kRollingBack;
  r.attempts = 0;
  r.reason.clear();
  r.committed_at_ms = now.wall_ms;
  r.grace_ends_at_ms = 0;
  for (size_t i = 0; i < run->totals.size() && i < r.moves.size(); ++i) r.moves[i].totals = run->totals[i];
  r.force = false;
  r.merge = false;
  return r;
}

void State::commit() {
  const uint32_t g = run->group;
  run->step = RunStep::kCommit;
  run->deadline.reset();
  Operation op;
  op.build = [this, g] {
    run->flipped = flipped(rec(g));
    return commit_transaction(run->attempt, groups[g].record, run->epoch_revision, *run->next, run->flipped);
  };
  op.done = [this, g](const std::vector<Record>& records) {
    groups[g].record = {run->flipped, records.back().revision};
    on_committed_attempt();
  };
  op.failed = [this] {
    const std::string reason = run->withdraw_reason.empty() ? "the topology changed meanwhile" : run->withdraw_reason;
    settle_unknown([this, reason] { withdraw(reason, true); });
  };
  enqueue(std::move(op));
}

// Committed. Routers hear of it when the copy machine has turned round: from then on the new owner changes.
void State::on_committed_attempt() {
  run->step = RunStep::kFlip;
  known_epoch = std::max(known_epoch, run->next->epoch);
  Group& group = groups[run->group];
  group.ready = false;
  group.sweeping = false;
  if (group.copy != Copy::kRunning) return publish();
  group.flipping = true;
  run->deadline = now.mono + Millis(hold_bound_ms(run->group));
  out->push_back(TellCopy{run->group, CopyCommand::kFlip});
}

void State::publish() {
  groups[run->group].flipping = false;
  out->push_back(Publish{run->next});
  out->push_back(AnnounceClosed{run->attempt.value.number, true, run->next->epoch});
  groups[run->group].failures_in_a_row = 0;
  note(run->group, fmt::format("attempt {} committed as epoch {}: keys of {} are served by their {} owners",
                               run->attempt.value.number, to_u64(run->next->epoch), rec(run->group).source.address,
                               rec(run->group).target_owns ? "new" : "old"));
  run.reset();
}

void State::withdraw(const std::string& reason, bool counts) {
  switch (run->step) {
    case RunStep::kFlip:
    case RunStep::kWithdraw:
      return;
    case RunStep::kOpen:
    case RunStep::kCommit:  // its outcome decides
      run->withdraw_reason = reason;
      return;
    case RunStep::kRead:
      if (run->attempt.revision == 0) {
        run->withdraw_reason = reason;
        return;
      }
      break;
    default:
      break;
  }
  run->withdraw_reason = reason;
  run->counts = counts;
  run->step = RunStep::kWithdraw;
  run->deadline.reset();
  run->waiting.clear();
  run->listing.clear();
  send_withdraw();
}

void State::send_withdraw() {
  const uint32_t g = run->group;
  const auto next = std::make_shared<GroupRecord>();
  Operation op;
  op.build = [this, g, next] {
    *next = rec(g);
    next->reason = run->withdraw_reason;
    next->stage = next->target_owns ? Stage::kRollingBack : Stage::kReady;
    next->attempts += run->counts ? 1 : 0;
    if (next->attempts >= plan.value.options.attempts_max) {
      next->from = next->stage;
      next->stage = Stage::kStopped;
      next->reason = fmt::format("{} attempts failed, the last one because: {}", next->attempts, run->withdraw_reason);
    }
    return withdraw_transaction(run->attempt, groups[g].record.revision, *next);
  };
  op.done = [this, g, next](const std::vector<Record>& records) {
    groups[g].record = {*next, records.back().revision};
    on_withdrawn(run->withdraw_reason);
  };
  op.failed = [this] { settle_unknown([this] { send_withdraw(); }); };
  enqueue(std::move(op));
}

void State::on_withdrawn(const std::string& reason) {
  const uint32_t g = run->group;
  Group& group = groups[g];
  note(g, fmt::format("attempt {} withdrawn: {}", run->attempt.value.number, reason));
  out->push_back(AnnounceClosed{run->attempt.value.number, false, run->attempt.value.epoch});
  if (group.copy == Copy::kRunning) out->push_back(TellCopy{g, CopyCommand::kUnseal});
  const uint32_t doublings = std::min<uint32_t>(group.failures_in_a_row++, 16);
  group.attempt_at = now.mono + Millis(std::min(limits.backoff_ms << doublings, limits.backoff_max_ms));
  run.reset();
}

// What became of our attempt? The records say: committed and withdrawn are adopted, an open one goes on with
// still_open.
void State::settle_unknown(std::function<void()> still_open) {
  Operation op;
  const uint32_t g = run->group;
  op.read = {std::string(kAttemptKey), std::string(kEpochKey), group_key(plan.value.id, g)};
  op.done = [this, g, still_open](const std::vector<Record>& records) {
    const Result<Revised<AttemptRecord>> newest = attempt_of(records[0]);
    const Result<Snapshot> snapshot = decode_snapshot(records[1].value);
    const Result<GroupRecord> group = decode_group(records[2].value);
    if (!newest || !snapshot || !group) {
      note(g, "the metadata store holds damaged records");
      operation_at = now.mono + Millis(limits.retry_ms);
      return settle_unknown(still_open);
    }
    groups[g].record = {*group, records[2].revision};
    const bool ours_is_open =
        newest->value.number == run->attempt.value.number && newest->value.state == AttemptState::kOpen;
    if (ours_is_open) {
      if (run->step == RunStep::kCommit) run->step = RunStep::kList;  // which withdraw() leaves
      run->attempt.revision = newest->revision;
      return still_open();
    }
    if (group->target_owns == run->attempt.value.back) return on_withdrawn(run->withdraw_reason);
    run->next = std::make_shared<const Snapshot>(*snapshot);
    on_committed_attempt();
  };
  enqueue(std::move(op));
}

void State::on_run_done(const Done& e) {
  if (!run) return;
  if (run->listing.erase(e.id) > 0) {
    if (!e.ok && rec(run->group).force) {
      if (run->listing.empty()) commit();
      return;
    }
    return withdraw(fmt::format("router users could not be listed: {}", e.message), true);
  }
  if (run->waiting.erase(e.id) == 0) return;
  if (!e.ok && !rec(run->group).force) return withdraw(fmt::format("routers could not be fenced: {}", e.message), true);
  if (run->waiting.empty() && run->step == RunStep::kFence) seal();
}

void State::tick_run() {
  if (!run || !run->deadline || now.mono < *run->deadline) return;
  run->deadline.reset();
  if (run->step == RunStep::kFlip) {
    out->push_back(TellCopy{run->group, CopyCommand::kFlipNow});
    return;
  }
  if (run->step != RunStep::kAcks) return withdraw("the last round took too long", true);
  std::string missing;
  for (const uint64_t generation : run->attempt.value.generations) {
    if (run->acked.count(generation) > 0) continue;
    for (const RouterView& router : routers) {
      if (router.generation == generation) missing = router.router;
    }
  }
  withdraw(fmt::format("router {} did not acknowledge in time", missing), true);
}

}  // namespace slipring::rebalance
