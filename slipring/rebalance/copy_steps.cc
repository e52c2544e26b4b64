// What the copy machine does next: steps, rounds, barriers and what is judged after them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/rebalance/copy_state.h"

namespace slipring::rebalance {

using CopyState = CopyMachine::State;

void CopyState::pump(Now now, CopyActions& out) {
  if (flip_now && phase != CopyPhase::kStopped) {
    interrupt();
    if (batches.empty()) flip(out);
  }
  open_feeds(now, out);
  while (!resting()) {
    if (paused && !in_hold()) return;
    if (step == Step::kNone) {
      if (!batches.empty() || !feeds_open() || now.mono < wait_until) return;
      choose_step(out);
      if (step == Step::kNone) return;
    }
    start_batches(now, out);
    if (resting() || !step_done()) return;
    finish_step(now, out);
  }
}

bool CopyState::step_done() const {
  if (step == Step::kBarrier) return barriers.empty();
  return queue.empty() && batches.empty() && scan_peers.empty();
}

void CopyState::choose_step(CopyActions& out) {
  if (in_hold()) return begin(Step::kBarrier, out);
  if (phase == CopyPhase::kSweeping || (sweep_wanted && (exact || spec.sweep_only))) {
    if (phase != CopyPhase::kSweeping) not_ready("cleaning up", out);
    phase = CopyPhase::kSweeping;
    return begin(Step::kScanSweep, out);
  }
  if (merge_pending) {
    phase = CopyPhase::kMerging;
    return begin(Step::kScanMerge, out);
  }
  if (!copied) {
    phase = CopyPhase::kCopying;
    return begin(Step::kScanCopy, out);
  }
  begin(Step::kBarrier, out);
}

void CopyState::begin(Step next, CopyActions& out) {
  step = next;
  switch (step) {
    case Step::kBarrier:
      fresh_barrier = in_hold();
      for (Peer p = 0; p < peers.size(); ++p) {
        out.push_back(Barrier{++last_id, p});
        barriers.insert(last_id);
        barrier_peer[last_id] = p;
      }
      break;
    case Step::kScanCopy:
    case Step::kScanCompare:
      if (step == Step::kScanCompare) {
        for (MoveState& move : moves) move.totals = MoveTotals{};
      }
      begin_scan(side(true));
      break;
    case Step::kScanSweep:
      deleted_in_pass = 0;
      strays = 0;
      sweep_again = false;
      begin_scan(side(false));
      break;
    case Step::kScanMerge:
      merge_again = false;
      [[fallthrough]];
    case Step::kScanExtras:
      begin_scan(side(false));
      break;
    case Step::kRoundCopy:
      begin_round_copy();
      break;
    case Step::kRoundCompare:
      begin_round_compare();
      break;
    case Step::kSweepDelete:
    case Step::kNone:
      break;
  }
}

void CopyState::begin_scan(const std::vector<Peer>& servers) {
  scan_peers.assign(servers.begin(), servers.end());
  scan_cursor = 0;
  scan_id = 0;
}

void CopyState::continue_scan(CopyActions& out) {
  if (scan_peers.empty() || scan_id != 0 || !queue.empty()) return;
  scan_id = ++last_id;
  out.push_back(Scan{scan_id, scan_peers.front(), scan_cursor});
}

void CopyState::begin_round_copy() {
  round_bytes = 0;
  stuck = 0;
  ++progress.rounds;
  for (MoveInGroup m = 0; m < moves.size(); ++m) {
    MoveState& move = moves[m];
    if (phase == CopyPhase::kFlipping) {
      if (!move.touched.empty()) queue.push_back(Work{BatchKind::kCopy, m, std::exchange(move.touched, KeyList()), 0});
      continue;
    }
    move.gone_before = std::exchange(move.gone, HashCounter());
    KeyList keys = move.dirty.take();
    if (phase == CopyPhase::kSealing) keys_in_hold += keys.size();
    if (!keys.empty()) queue.push_back(Work{BatchKind::kCopy, m, std::move(keys), 0});
  }
}

void CopyState::begin_round_compare() {
  for (MoveInGroup m = 0; m < moves.size(); ++m) {
    if (moves[m].unverified.overflowed()) {
      moves[m].unverified.clear();
      verified = false;
    }
    KeyList keys = moves[m].unverified.take();
    // Before the great comparison only what looked suspicious is here; it is compared again there.
    if (!keys.empty()) queue.push_back(Work{BatchKind::kCompare, m, std::move(keys), 0});
  }
}

void CopyState::finish_step(Now now, CopyActions& out) {
  switch (std::exchange(step, Step::kNone)) {
    case Step::kBarrier:
      barrier_peer.clear();
      return after_barrier(out);
    case Step::kScanCopy:
      return begin(Step::kScanExtras, out);
    case Step::kScanExtras:
      return finish_extras(out);
    case Step::kScanCompare:
      return begin(Step::kScanExtras, out);
    case Step::kScanMerge:
      merge_pending = merge_again;
      return;
    case Step::kScanSweep:
      return begin(Step::kBarrier, out);
    case Step::kRoundCopy:
      return begin(Step::kRoundCompare, out);
    case Step::kRoundCompare:
      return finish_round(now);
    case Step::kSweepDelete:
      return end_sweep_pass(out);
    case Step::kNone:
      return;
  }
}

void CopyState::finish_extras(CopyActions& out) {
  if (recheck && extras > 0) {
    return owner_changed(
        side(true).front(), peers[side(true).front()].identity,
        fmt::format("the owner was restarted and lacks {} keys that the other side holds, \"{}\" first", extras,
                    extra_key),
        out);
  }
  if (phase == CopyPhase::kVerifying) {
    verified = true;
    for (MoveInGroup m = 0; m < moves.size(); ++m) totals[m] = moves[m].totals;
    return;
  }
  copied = true;
  exact = true;
  filtered = false;
  for (MoveState& move : moves) move.rescan.clear();
  if (!std::exchange(copied_reported, true)) out.push_back(CopiedOnce{});
  phase = CopyPhase::kSettling;
  // The owner holds everything that was copied from the one before: it is adopted, once that is recorded.
  if (std::exchange(recheck, false)) report_feeds_open(out);
}

void CopyState::finish_round(Now now) {
  if (in_hold()) {
    // A round that was under way when the hold began may have missed what was changed just before it.
    hold_rounds += fresh_barrier ? 1 : 0;
    return;
  }
  if (small()) {
    wait_until = now.mono + Millis(spec.limits.idle_ms);
    best_round_bytes = UINT64_MAX;
    rounds_without_shrinking = 0;
    return;
  }
  if (stuck > 0) wait_until = now.mono + Millis(spec.limits.retry_ms);
  rounds_without_shrinking = round_bytes < best_round_bytes ? 0 : rounds_without_shrinking + 1;
  best_round_bytes = std::min(best_round_bytes, round_bytes);
}

void CopyState::after_barrier(CopyActions& out) {
  expected_restores.clear();
  expected_removes.clear();
  if (phase == CopyPhase::kSweeping) return judge_sweep(out);
  judge(out);
  if (phase == CopyPhase::kStopped) return;
  if (phase == CopyPhase::kFlipping) return after_flip_barrier(out);
  if (begin_rescan(out)) return;
  if (phase == CopyPhase::kSealing && fresh_barrier) return after_seal_barrier(out);
  if (phase != CopyPhase::kSealing) settle(out);
}

// Overflowed sets name only buckets of keys: they are found by a scan.
bool CopyState::begin_rescan(CopyActions& out) {
  const bool needed = std::any_of(moves.begin(), moves.end(), [](const MoveState& m) { return m.dirty.overflowed(); });
  if (!needed) return false;
  for (MoveState& move : moves) {
    std::swap(move.rescan, move.dirty);
    move.dirty.clear();
    if (move.rescan.overflowed()) continue;
    const KeyList keys = move.rescan.take();
    for (size_t i = 0; i < keys.size(); ++i) move.dirty.insert(keys[i]);
  }
  filtered = true;
  copied = false;
  exact = false;
  const std::string why = "more changes than can be remembered: scanning again";
  if (phase == CopyPhase::kSealing) break_seal(why, out);
  not_ready(why, out);
  return true;
}

void CopyState::after_seal_barrier(CopyActions& out) {
  bool clean = stuck == 0;
  for (const MoveState& move : moves) {
    // With every client held, what still goes is what expires; the other side's copy expires by itself, and the
    // comparison after the flip looks at it.
    const bool only_expired = hold_rounds > 0 && move.dirty.size() <= move.gone.size();
    clean = clean && (move.dirty.empty() || only_expired) && move.unverified.empty();
  }
  if (clean) {
    phase = CopyPhase::kSealed;
    Sealed sealed;
    sealed.attempt = sealing_for;
    for (const PeerState& p : peers) sealed.identities.push_back(p.identity);
    sealed.totals = totals;
    sealed.keys_in_hold = keys_in_hold;
    out.push_back(std::move(sealed));
    return;
  }
  if (hold_rounds >= spec.limits.seal_rounds_max)
    return break_seal("keys still change although all writers are held", out);
  begin(Step::kRoundCopy, out);
}

void CopyState::after_flip_barrier(CopyActions& out) {
  const bool suspicious = std::any_of(moves.begin(), moves.end(),
                                      [](const MoveState& m) { return !m.touched.empty() || !m.unverified.empty(); });
  if (!suspicious || hold_rounds >= spec.limits.seal_rounds_max) return flip(out);
  begin(Step::kRoundCopy, out);
}

void CopyState::settle(CopyActions& out) {
  if (!small()) {
    if (!target_owns && rounds_without_shrinking > spec.limits.rounds_without_shrinking_max) {
      return stop(fmt::format("changes come faster than they can be copied: {} rounds did not shrink; slow the writers "
                              "of these keys or raise the limits, then resume",
                              rounds_without_shrinking),
                  out);
    }
    not_ready("changes are being copied", out);
    phase = CopyPhase::kSettling;
    return begin(Step::kRoundCopy, out);
  }
  if (!verified) {
    phase = CopyPhase::kVerifying;
    return begin(Step::kScanCompare, out);
  }
  phase = CopyPhase::kSteady;
  if (!std::exchange(ready, true)) out.push_back(Ready{totals});
  begin(Step::kRoundCopy, out);
}

bool CopyState::small() const {
  uint64_t keys = 0;
  for (const MoveState& move : moves) {
    if (move.dirty.overflowed() || move.unverified.size() > spec.limits.ready_keys) return false;
    keys += move.dirty.size();
  }
  return stuck == 0 && keys <= spec.limits.ready_keys && keys * mean_bytes() <= spec.limits.ready_bytes;
}

uint64_t CopyState::mean_bytes() const {
  return progress.copied_keys == 0 ? 0 : progress.copied_bytes / progress.copied_keys;
}

// After the owner's barrier everything that it changed before the comparison is in `dirty`: what differs and is not
// there differs for no good reason.
void CopyState::judge(CopyActions& out) {
  for (MoveInGroup m = 0; m < moves.size(); ++m) {
    MoveState& move = moves[m];
    const KeyList keys = std::exchange(move.differing, KeyList());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (move.dirty.contains(keys[i])) continue;
      alarm(m, keys[i], "differs from the owner's although the owner did not change it", out);
      const uint64_t hash = key_hash(keys[i]);
      if (move.suspects.contains(hash) && !target_owns && !frozen()) {
        return stop(fmt::format("key \"{}\" differs again after it was copied again", keys[i]), out);
      }
      if (!move.suspects.contains(hash)) move.suspects.add(hash);
      if (frozen()) {
        move.touched.push(keys[i]);
      } else {
        move.dirty.insert(keys[i]);
      }
    }
  }
}

void CopyState::judge_sweep(CopyActions& out) {
  step = Step::kSweepDelete;
  // A full set cannot tell any more what the owner changed.
  if (std::any_of(moves.begin(), moves.end(), [](const MoveState& m) { return m.dirty.overflowed(); })) exact = false;
  for (MoveInGroup m = 0; m < moves.size(); ++m) {
    MoveState& move = moves[m];
    const KeyList keys = std::exchange(move.differing, KeyList());
    Work work{BatchKind::kDelete, m, {}, 0};
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!exact || move.dirty.contains(keys[i])) {
        work.keys.push(keys[i]);
        continue;
      }
      ++strays;
      const uint64_t hash = key_hash(keys[i]);
      if (named_strays.contains(hash)) continue;
      named_strays.add(hash);
      alarm(m, keys[i], "is not the owner's and is left where it is", out);
    }
    if (!work.keys.empty()) queue.push_back(std::move(work));
  }
}

void CopyState::end_sweep_pass(CopyActions& out) {
  if (deleted_in_pass > 0 || sweep_again) return;
  phase = CopyPhase::kSwept;
  out.push_back(Swept{deleted, strays});
}

void CopyState::flip(CopyActions& out) {
  flip_now = false;
  target_owns = !target_owns;
  phase = copied && verified ? CopyPhase::kSteady : CopyPhase::kSettling;
  step = Step::kNone;
  ready = false;
  for (MoveState& move : moves) {
    // Changes of the one that owned before, since the last round: expiry. Compared in the new direction.
    KeyList late = move.dirty.take();
    move.dirty.clear();
    for (const KeyList* keys : {&late, &move.touched, &move.differing}) {
      for (size_t i = 0; i < keys->size(); ++i) move.unverified.insert((*keys)[i]);
    }
    move.touched.clear();
    move.differing.clear();
    move.suspects.clear();
    move.gone.clear();
    move.gone_before.clear();
  }
  best_round_bytes = UINT64_MAX;
  rounds_without_shrinking = 0;
  stuck = 0;
  out.push_back(Flipped{});
}

void CopyState::interrupt() {
  for (Work& work : queue) {
    for (; work.next < work.keys.size(); ++work.next) put_back(work.kind, work.move, work.keys[work.next]);
  }
  queue.clear();
  scan_peers.clear();
  scan_id = 0;
  barriers.clear();
  barrier_peer.clear();
  step = Step::kNone;
}

// What was copied is no longer known to be complete (all), or only no longer known to be untouched.
void CopyState::restart(bool all, const std::string& why, CopyActions& out) {
  interrupt();
  if (all) {
    copied = false;
    exact = false;
    filtered = false;
    for (MoveState& move : moves) move.rescan.clear();
  }
  verified = false;
  best_round_bytes = UINT64_MAX;
  rounds_without_shrinking = 0;
  if (phase == CopyPhase::kSealing || phase == CopyPhase::kSealed) break_seal(why, out);
  not_ready(why, out);
  if (phase == CopyPhase::kFlipping) flip_now = true;
  if (phase == CopyPhase::kSweeping) sweep_again = true;
  if (!resting() && phase != CopyPhase::kFlipping && phase != CopyPhase::kSweeping) phase = CopyPhase::kSettling;
}

void CopyState::not_ready(const std::string& why, CopyActions& out) {
  if (std::exchange(ready, false)) out.push_back(NotReady{why});
}

// A sealed machine stays so until it is told whether the commit happened.
void CopyState::break_seal(const std::string& why, CopyActions& out) {
  if (phase == CopyPhase::kSealing) phase = CopyPhase::kSettling;
  ready = false;
  out.push_back(SealBroken{why});
}

void CopyState::stop(const std::string& why, CopyActions& out) {
  not_ready(why, out);
  interrupt();
  phase = CopyPhase::kStopped;
  out.push_back(CopyStopped{why});
}

void CopyState::owner_changed(Peer peer, const ServerIdentity& now, const std::string& why, CopyActions& out) {
  not_ready(why, out);
  interrupt();
  phase = CopyPhase::kStopped;
  out.push_back(OwnerChanged{peer, now, extras, why});
}

void CopyState::report_feeds_open(CopyActions& out) {
  phase = CopyPhase::kWaiting;
  FeedsOpen open;
  for (const PeerState& p : peers) open.identities.push_back(p.identity);
  out.push_back(std::move(open));
}

void CopyState::alarm(MoveInGroup move, std::string_view key, std::string_view what, CopyActions& out) {
  ++progress.alarms;
  out.push_back(Alarm{move, std::string(key), std::string(what)});
  if (phase == CopyPhase::kSealing || phase == CopyPhase::kSealed) {
    break_seal(fmt::format("key \"{}\" {}", key, what), out);
  }
}

}  // namespace slipring::rebalance
