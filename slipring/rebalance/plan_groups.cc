// The stages of groups: what each does while nothing happens, what a report of its copy machine changes, cleanup, the
// end of the plan.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/rebalance/plan_state.h"
#include "slipring/topology/codec.h"

namespace slipring::rebalance {

using State = PlanMachine::State;

void State::advance() {
  // Stages follow from records, so nothing is decided while one is being written.
  if (!recovered || halted || closing || !operations.empty()) return;
  for (uint32_t g = 0; g < groups.size() && operations.empty(); ++g) {
    if (run && run->group == g) continue;
    advance_group(g);
  }
  if (operations.empty()) close_plan();
  if (operations.empty()) try_attempt();
}

void State::advance_group(uint32_t g) {
  watch_trouble(g);
  switch (rec(g).stage) {
    case Stage::kPlanned:
      return advance_planned(g);
    case Stage::kStreaming:
    case Stage::kVerifying:
    case Stage::kReady:
    case Stage::kRollingBack:
      return advance_streaming(g);
    case Stage::kCutover:  // its attempt is closed: nothing else leaves a group here
      return save_group(g, [](GroupRecord& r) { r.stage = r.target_owns ? Stage::kRollingBack : Stage::kReady; });
    case Stage::kGrace:
      return advance_grace(g);
    case Stage::kCleanup:
      return advance_cleanup(g);
    case Stage::kDone:
    case Stage::kCancelled:
      return advance_final(g);
    case Stage::kNeedsDecision:
    case Stage::kStopped:
      return stop_copy(g);
  }
}

// With serial slices, the slices before are cleaned up first.
bool State::wave_may_start(uint32_t g) const {
  if (!plan.value.options.serial_slices) return true;
  return std::all_of(groups.begin(), groups.end(), [&](const Group& other) {
    return other.record.value.slice >= rec(g).slice || other.record.value.stage == Stage::kDone;
  });
}

bool State::wave_in_grace(uint32_t g) const {
  return std::all_of(groups.begin(), groups.end(), [&](const Group& other) {
    const GroupRecord& r = other.record.value;
    const bool same_wave = !plan.value.options.serial_slices || r.slice == rec(g).slice;
    return !same_wave || r.stage == Stage::kGrace || r.stage == Stage::kCleanup || r.stage == Stage::kDone;
  });
}

void State::advance_planned(uint32_t g) {
  if (goes_back()) return save_group(g, [](GroupRecord& r) { r.stage = Stage::kCancelled; });
  if (plan.value.paused || !wave_may_start(g)) return;
  save_group(g, [](GroupRecord& r) { r.stage = Stage::kStreaming; });
}

void State::advance_streaming(uint32_t g) {
  const GroupRecord& r = rec(g);
  Group& group = groups[g];
  if (r.force) return stop_copy(g);  // its attempt needs no copy
  if (r.stage == Stage::kRollingBack && r.target_owns && !goes_back()) {
    return save_group(g, [](GroupRecord& next) { next.stage = Stage::kGrace; });
  }
  ensure_copy(g);
  if (goes_back() && !r.target_owns) return enter_cleanup(g);
  if (!group.ready) return;
  const Stage next_stage = r.target_owns ? (goes_back() ? Stage::kRollingBack : Stage::kGrace) : Stage::kReady;
  if (r.stage != next_stage) save_group(g, [next_stage](GroupRecord& next) { next.stage = next_stage; });
}

void State::advance_grace(uint32_t g) {
  const GroupRecord& r = rec(g);
  if (goes_back()) {
    return save_group(g, [](GroupRecord& next) {
      next.stage = Stage::kRollingBack;
      next.attempts = 0;
    });
  }
  ensure_copy(g);
  if (plan.value.paused || !wave_in_grace(g)) return;
  if (r.grace_ends_at_ms == 0) {
    const int64_t ends = now.wall_ms + plan.value.options.grace_ms;
    return save_group(g, [ends](GroupRecord& next) { next.grace_ends_at_ms = ends; });
  }
  if (plan.value.goal != Goal::kComplete && now.wall_ms < r.grace_ends_at_ms) return;
  enter_cleanup(g);
}

void State::advance_cleanup(uint32_t g) {
  // Taking back what is being removed needs all of it again.
  if (rec(g).target_owns && goes_back()) {
    stop_copy(g);
    return save_group(g, [](GroupRecord& r) {
      r.stage = Stage::kStreaming;
      r.attempts = 0;
    });
  }
  ensure_copy(g);
  Group& group = groups[g];
  if (group.copy != Copy::kRunning || std::exchange(group.sweeping, true)) return;
  out->push_back(TellCopy{g, CopyCommand::kSweep});
}

void State::advance_final(uint32_t g) {
  stop_copy(g);
  const GroupRecord& r = rec(g);
  if (r.stage == Stage::kDone && goes_back()) {
    return save_group(g, [](GroupRecord& next) {
      next.stage = Stage::kStreaming;
      next.attempts = 0;
    });
  }
  if (r.stage == Stage::kCancelled && !goes_back()) {
    return save_group(g, [](GroupRecord& next) {
      next.stage = Stage::kPlanned;
      next.attempts = 0;
      next.identities.assign(next.identities.size(), ServerIdentity{});
    });
  }
}

// ---- copying

void State::ensure_copy(uint32_t g) {
  Group& group = groups[g];
  if (group.copy != Copy::kNone || now.mono < group.retry_at) return;
  group.copy = Copy::kFencing;
  group.waiting.clear();
  group.fencing_from = last_id + 1;
  for (Peer p = 0; p <= rec(g).moves.size(); ++p) {
    group.waiting.insert(++last_id);
    out->push_back(FenceTerms{last_id, instance(rec(g), p)});
  }
}

void State::on_fenced_terms(uint32_t g, const Done& e) {
  Group& group = groups[g];
  if (group.copy != Copy::kFencing || group.waiting.erase(e.id) == 0) return;
  if (!e.ok) {
    group.waiting.clear();
    group.copy = Copy::kNone;
    group.retry_at = now.mono + Millis(limits.retry_ms);
    if (group.trouble.empty()) group.trouble_since = now.mono;
    group.trouble[static_cast<Peer>(e.id - group.fencing_from)].message = e.message;
    return;
  }
  if (!group.waiting.empty()) return;
  group.trouble.clear();
  start_copy(g);
}

void State::start_copy(uint32_t g) {
  Group& group = groups[g];
  const GroupRecord& r = rec(g);
  group.copy = Copy::kRunning;
  group.ready = false;
  group.copied_once = false;
  group.sweeping = false;
  StartCopy start;
  start.group = g;
  start.spec.moves = r.moves.size();
  start.spec.target_owns = r.target_owns;
  start.spec.sweep_only = r.stage == Stage::kCleanup;
  start.spec.keys_per_second = plan.value.options.keys_per_second;
  start.spec.bytes_per_second = plan.value.options.bytes_per_second;
  start.spec.recorded = r.identities;
  start.spec.merge_first = r.merge;
  out->push_back(std::move(start));
  if (plan.value.paused) out->push_back(TellCopy{g, CopyCommand::kPause});
}

void State::stop_copy(uint32_t g) {
  Group& group = groups[g];
  if (group.copy == Copy::kRunning) out->push_back(StopCopy{g});
  group.copy = Copy::kNone;
  group.ready = false;
  group.copied_once = false;
  group.sweeping = false;
  group.cleanup = CleanupStep::kNone;
  group.waiting.clear();
  group.trouble.clear();
}

void State::on_report(const CopyReport& e) {
  const uint32_t g = e.group;
  if (g >= groups.size() || groups[g].copy != Copy::kRunning) return;
  Group& group = groups[g];
  if (const auto* open = std::get_if<FeedsOpen>(&e.report)) return on_feeds_open(g, *open);
  if (const auto* sealed = std::get_if<Sealed>(&e.report)) {
    if (run && run->group == g) on_sealed(*sealed);
  } else if (std::holds_alternative<CopiedOnce>(e.report)) {
    group.copied_once = true;
    // From now on the owner is right in everything: what was merged is not merged again after a restart, when a key
    // that was removed since would come back.
    if (rec(g).merge) save_group(g, [](GroupRecord& r) { r.merge = false; });
    note(g, fmt::format("keys of {} are copied once; comparing every one", rec(g).source.address));
    if (rec(g).stage == Stage::kStreaming && !rec(g).target_owns) {
      save_group(g, [](GroupRecord& r) {
        if (r.stage == Stage::kStreaming) r.stage = Stage::kVerifying;
      });
    }
  } else if (std::holds_alternative<Ready>(e.report)) {
    group.ready = true;
    group.copied_once = true;
    group.not_ready.clear();
  } else if (const auto* not_ready = std::get_if<NotReady>(&e.report)) {
    group.ready = false;
    group.not_ready = not_ready->reason;
  } else if (const auto* broken = std::get_if<SealBroken>(&e.report)) {
    if (run && run->group == g) withdraw(broken->reason, true);
  } else if (std::holds_alternative<Flipped>(e.report)) {
    if (run && run->group == g && run->step == RunStep::kFlip) publish();
  } else if (const auto* swept = std::get_if<Swept>(&e.report)) {
    on_swept(g, *swept);
  } else if (const auto* alarm = std::get_if<Alarm>(&e.report)) {
    note(g, fmt::format("key \"{}\" {}", alarm->key, alarm->what));
  } else if (const auto* stopped = std::get_if<CopyStopped>(&e.report)) {
    on_copy_stopped(g, stopped->reason);
  } else if (const auto* changed = std::get_if<OwnerChanged>(&e.report)) {
    on_owner_changed(g, changed->peer, fmt::format("{}: {}", instance(rec(g), changed->peer).address, changed->reason));
  } else if (const auto* trouble = std::get_if<PeerTrouble>(&e.report)) {
    on_trouble(g, *trouble);
  }
}

void State::on_feeds_open(uint32_t g, const FeedsOpen& e) {
  if (run && run->group == g) withdraw("a server was restarted or replaced", true);
  const auto proceed = [this, g] {
    if (groups[g].copy == Copy::kRunning) out->push_back(TellCopy{g, CopyCommand::kProceed});
  };
  save_group(
      g, [identities = e.identities](GroupRecord& r) { r.identities = identities; }, proceed);
}

void State::on_trouble(uint32_t g, const PeerTrouble& e) {
  Group& group = groups[g];
  if (e.message.empty()) {
    group.trouble.erase(e.peer);
    return;
  }
  if (group.trouble.empty()) group.trouble_since = now.mono;
  group.trouble[e.peer].message = e.message;
}

void State::on_refenced(uint32_t g, const Done& e) {
  for (auto& [peer, trouble] : groups[g].trouble) {
    if (trouble.fencing != e.id) continue;
    trouble.fencing = 0;
    trouble.fence_at = now.mono + Millis(limits.retry_ms);
  }
}

void State::watch_trouble(uint32_t g) {
  Group& group = groups[g];
  for (auto& [peer, trouble] : group.trouble) {
    if (group.copy != Copy::kRunning || trouble.fencing != 0 || now.mono < trouble.fence_at) continue;
    trouble.fencing = ++last_id;
    out->push_back(FenceTerms{last_id, instance(rec(g), peer)});
  }
  if (group.trouble.empty() || now.mono < group.trouble_since + Millis(plan.value.options.unreachable_ms)) return;
  give_up_waiting(g, fmt::format("a server does not answer: {}", group.trouble.begin()->second.message));
}

// Before the commit the plan waits for a server that does not answer. After it, and while copies are removed, somebody
// must decide.
void State::give_up_waiting(uint32_t g, const std::string& reason) {
  const GroupRecord& r = rec(g);
  if (r.stage == Stage::kNeedsDecision || r.stage == Stage::kStopped || is_final(r.stage)) return;
  const bool removing = r.stage == Stage::kCleanup || (goes_back() && !r.target_owns);
  if (!removing) {
    if (r.target_owns) on_owner_changed(g, kNoServer, reason);
    return;
  }
  const bool leaves_behind = plan.value.goal == Goal::kCancel || plan.value.goal == Goal::kForceBack;
  if (!leaves_behind) return on_copy_stopped(g, reason);
  stop_copy(g);
  save_group(g, [reason](GroupRecord& next) {
    next.stage = next.target_owns ? Stage::kDone : Stage::kCancelled;
    next.reason = reason + "; copies may be left there";
  });
}

void State::on_copy_stopped(uint32_t g, const std::string& reason) {
  if (run && run->group == g && run->step == RunStep::kFlip) publish();
  if (run && run->group == g) withdraw(reason, true);
  stop_copy(g);
  save_group(g, [reason](GroupRecord& r) {
    if (is_final(r.stage) || r.stage == Stage::kStopped || r.stage == Stage::kNeedsDecision) return;
    r.from = r.stage;
    r.stage = Stage::kStopped;
    r.reason = reason;
  });
}

void State::on_owner_changed(uint32_t g, uint32_t server, const std::string& reason) {
  if (run && run->group == g && run->step == RunStep::kFlip) publish();
  if (run && run->group == g) withdraw(reason, true);
  stop_copy(g);
  save_group(g, [server, reason](GroupRecord& r) {
    if (is_final(r.stage)) return;
    r.from = r.stage;
    r.stage = Stage::kNeedsDecision;
    r.changed_server = server;
    r.reason = reason;
  });
}

// ---- cleanup

// A key is removed from the side that does not own it only when what the owner holds survives a crash, and nobody who
// would still read or write there has a user. Entering is a compare-and-set; the copy machine judges each key.
void State::enter_cleanup(uint32_t g) {
  Group& group = groups[g];
  const GroupRecord& r = rec(g);
  if (group.copy != Copy::kRunning || group.cleanup != CleanupStep::kNone || now.mono < group.retry_at) return;
  const bool never_flipped = r.committed_at_ms == 0;
  if (!never_flipped && !group.ready) return;
  if (plan.value.paused) return;
  if (never_flipped) return fence_for_cleanup(g);
  group.waiting.clear();
  group.cleanup = CleanupStep::kPersisting;
  for (const Peer p : side(r, true)) {
    group.waiting.insert(++last_id);
    out->push_back(EnsurePersisted{last_id, instance(r, p), r.committed_at_ms});
  }
}

// Of the routers that are gone: one that comes back would read and write where keys are being removed.
void State::fence_for_cleanup(uint32_t g) {
  std::string late;
  const auto keep = generations_on(known_epoch, late);
  if (!keep) return put_off_cleanup(g, late);
  Group& group = groups[g];
  group.waiting.clear();
  group.cleanup = CleanupStep::kFencing;
  for (const Peer p : side(rec(g), false)) {
    group.waiting.insert(++last_id);
    out->push_back(FenceRouters{last_id, instance(rec(g), p), *keep});
  }
}

void State::put_off_cleanup(uint32_t g, const std::string& reason) {
  Group& group = groups[g];
  group.cleanup = CleanupStep::kNone;
  group.waiting.clear();
  group.retry_at = now.mono + Millis(limits.retry_ms);
  group.not_ready = reason;
}

void State::on_cleanup_step(uint32_t g, const Done& e) {
  Group& group = groups[g];
  if (group.cleanup == CleanupStep::kNone || group.copy != Copy::kRunning || group.waiting.erase(e.id) == 0) return;
  if (!e.ok) return put_off_cleanup(g, e.message);
  if (!group.waiting.empty()) return;
  if (group.cleanup == CleanupStep::kPersisting) return fence_for_cleanup(g);
  group.cleanup = CleanupStep::kSaving;
  const bool back = goes_back();
  save_group(
      g,
      [back](GroupRecord& r) {
        const bool still = back ? !r.target_owns && !is_final(r.stage) : r.stage == Stage::kGrace;
        if (still && r.stage != Stage::kStopped && r.stage != Stage::kNeedsDecision) r.stage = Stage::kCleanup;
      },
      [this, g] { groups[g].cleanup = CleanupStep::kNone; });
}

void State::on_swept(uint32_t g, const Swept& e) {
  if (rec(g).stage != Stage::kCleanup) return;
  stop_copy(g);
  note(g, fmt::format("{} old copies of keys of {} are removed", e.deleted, rec(g).source.address));
  const std::string reason = e.strays == 0 ? "" : fmt::format("{} keys are not the owner's and were left", e.strays);
  save_group(g, [strays = e.strays, reason](GroupRecord& r) {
    if (r.stage != Stage::kCleanup) return;
    r.stage = r.target_owns ? Stage::kDone : Stage::kCancelled;
    r.strays = strays;
    r.reason = reason;
  });
}

// ---- the end

void State::close_plan() {
  const bool forward = !goes_back();
  const Stage end = forward ? Stage::kDone : Stage::kCancelled;
  for (const Group& group : groups) {
    if (group.record.value.stage != end) return;
  }
  if (run || closing || finished()) return;
  closing = true;
  Operation read;
  read.read = {std::string(kEpochKey)};
  read.done = [this, forward](const std::vector<Record>& records) {
    const Result<Snapshot> snapshot = decode_snapshot(records[0].value);
    Result<Snapshot> next = snapshot ? snapshot_without_plan(*snapshot, plan.value, forward) : fail(snapshot.error());
    closing = false;
    if (!next) {
      note(kNoGroup, next.error().to_string());
      operation_at = now.mono + Millis(limits.retry_ms);
      return;
    }
    write_end(std::move(*next), records[0].revision);
  };
  enqueue(std::move(read));
}

void State::write_end(Snapshot snapshot, uint64_t epoch_revision) {
  closing = true;
  const auto next = std::make_shared<const Snapshot>(std::move(snapshot));
  const auto closed = std::make_shared<PlanRecord>();
  Operation op;
  op.build = [this, next, closed, epoch_revision] {
    *closed = plan.value;
    closed->state = plan.value.goal == Goal::kCancel        ? PlanState::kCancelled
                    : rebalance::goes_back(plan.value.goal) ? PlanState::kRolledBack
                                                            : PlanState::kCompleted;
    closed->finished_at_ms = now.wall_ms;
    return close_plan_transaction(plan, epoch_revision, *next, *closed);
  };
  op.done = [this, next, closed](const std::vector<Record>& records) {
    plan = {*closed, records.front().revision};
    closing = false;
    out->push_back(Publish{next});
  };
  op.failed = [this] { closing = false; };
  enqueue(std::move(op));
}

}  // namespace slipring::rebalance
