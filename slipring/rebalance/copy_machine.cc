#include "slipring/rebalance/copy_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/base/check.h"
#include "slipring/rebalance/copy_state.h"

namespace slipring::rebalance {

std::string_view copy_phase_name(CopyPhase phase) {
  switch (phase) {
    case CopyPhase::kOpening:
      return "opening";
    case CopyPhase::kWaiting:
      return "waiting";
    case CopyPhase::kCopying:
      return "copying";
    case CopyPhase::kSettling:
      return "settling";
    case CopyPhase::kVerifying:
      return "verifying";
    case CopyPhase::kSteady:
      return "steady";
    case CopyPhase::kSealing:
      return "sealing";
    case CopyPhase::kSealed:
      return "sealed";
    case CopyPhase::kFlipping:
      return "flipping";
    case CopyPhase::kMerging:
      return "merging";
    case CopyPhase::kSweeping:
      return "sweeping";
    case CopyPhase::kSwept:
      return "swept";
    case CopyPhase::kStopped:
      return "stopped";
  }
  return "unknown";
}

using CopyState = CopyMachine::State;

CopyState::State(CopySpec s)
    : spec(std::move(s)),
      target_owns(spec.target_owns),
      merge_pending(spec.merge_first),
      sweep_wanted(spec.sweep_only),
      keys_rate(spec.keys_per_second),
      bytes_rate(spec.bytes_per_second) {
  SLIPRING_CHECK(spec.moves > 0, "a group has moves");
  const CopyLimits& l = spec.limits;
  for (size_t i = 0; i < spec.moves; ++i) {
    const KeySet set(l.set_keys_max, l.set_bytes_max);
    moves.push_back(MoveState{set, set, set, {}, {}, {}, {}, {}, {}});
  }
  peers.resize(spec.moves + 1);
  for (size_t i = 0; i < std::min(peers.size(), spec.recorded.size()); ++i) peers[i].identity = spec.recorded[i];
  // A machine without recorded identities is the first: nothing was written before its feeds are open.
  exact = std::all_of(peers.begin(), peers.end(), [](const PeerState& p) { return p.identity.run_id.empty(); });
  totals.resize(spec.moves);
}

std::vector<Peer> CopyState::side(bool owner) const {
  if (owner != target_owns) return {kSource};
  std::vector<Peer> targets;
  for (Peer p = 1; p < peers.size(); ++p) targets.push_back(p);
  return targets;
}

bool CopyState::feeds_open() const {
  return std::all_of(peers.begin(), peers.end(), [](const PeerState& p) { return p.open; });
}

void CopyState::open_feeds(Now now, CopyActions& out) {
  if (phase == CopyPhase::kStopped || phase == CopyPhase::kSwept) return;
  for (Peer p = 0; p < peers.size(); ++p) {
    if (peers[p].open || peers[p].opening || now.mono < peers[p].retry_at) continue;
    peers[p].opening = true;
    out.push_back(OpenFeed{p});
  }
}

void CopyState::on_feed_opened(const FeedOpened& e, Now now, CopyActions& out) {
  PeerState& peer = peers[e.peer];
  if (!std::exchange(peer.opening, false)) return;
  if (std::exchange(peer.in_trouble, false)) out.push_back(PeerTrouble{e.peer, ""});
  const bool changed = !peer.identity.run_id.empty() && peer.identity != e.identity;
  if (changed && frozen()) {
    // Who owns is not known, so neither is what the change means: asked again after kUnseal or the flip.
    peer.retry_at = now.mono + Millis(spec.limits.retry_ms);
    return;
  }
  peer.open = true;
  if (changed && !adopt(e, out)) return;
  peer.identity = e.identity;
  if (!feeds_open() || phase != CopyPhase::kOpening) return;
  if (recheck) {
    phase = CopyPhase::kSettling;
  } else {
    report_feeds_open(out);
  }
}

// Another process than the one that the copies are valid for. False: the machine rests.
bool CopyState::adopt(const FeedOpened& e, CopyActions& out) {
  if (owns(e.peer)) {
    const bool may_go_on = spec.recheck_owner && !target_owns && !sweep_wanted;
    if (!may_go_on) {
      owner_changed(e.peer, e.identity, "the owner is another process than before", out);
      return false;
    }
    recheck = true;
    extras = 0;
  }
  restart(true, "a server was restarted or replaced", out);
  // The new identity is recorded before anything relies on it; one that is being rechecked, after that.
  if (phase == CopyPhase::kSettling && !recheck) phase = CopyPhase::kOpening;
  return true;
}

void CopyState::on_feed_failed(const FeedFailed& e, Now now, CopyActions& out) {
  PeerState& peer = peers[e.peer];
  if (!std::exchange(peer.opening, false)) return;
  if (e.refused) return stop(e.message, out);
  peer.retry_at = now.mono + Millis(spec.limits.retry_ms);
  if (!std::exchange(peer.in_trouble, true)) out.push_back(PeerTrouble{e.peer, e.message});
}

void CopyState::on_changes(const FeedChanges& e, CopyActions& out) {
  for (const FeedChange& change : e.changes) {
    if (owns(e.peer)) {
      on_owner_change(change);
    } else {
      on_other_change(change, out);
    }
  }
}

void CopyState::on_owner_change(const FeedChange& change) {
  MoveState& move = moves[change.move];
  move.dirty.insert(change.key);
  const uint64_t hash = key_hash(change.key);
  if (change.kind != ChangeKind::kRemove) {
    move.gone.remove(hash);
  } else if (!move.gone.contains(hash)) {
    move.gone.add(hash);
  }
}

void CopyState::on_other_change(const FeedChange& change, CopyActions& out) {
  const uint64_t hash = key_hash(change.key);
  if (change.kind == ChangeKind::kRestore && expected_restores.remove(hash)) return;
  if (change.kind == ChangeKind::kRemove) {
    // Not ours: expiry, or somebody's DEL. The comparison with the owner tells which.
    if (!expected_removes.remove(hash) && phase != CopyPhase::kSweeping)
      moves[change.move].unverified.insert(change.key);
    return;
  }
  alarm(change.move, change.key, "was changed by somebody else on the side that does not own it", out);
  if (phase == CopyPhase::kSweeping) return;  // left there, as a stray
  if (frozen()) {
    moves[change.move].touched.push(change.key);
  } else {
    moves[change.move].dirty.insert(change.key);
  }
}

void CopyState::on_unclear(Peer peer, const std::string& what, CopyActions& out) {
  restart(owns(peer), what, out);
}

void CopyState::on_flushed(Peer peer, CopyActions& out) {
  if (!owns(peer) && phase != CopyPhase::kSweeping) {
    alarm(0, "", "all keys were flushed on a side that does not own them", out);
    return restart(true, "the copies were flushed", out);
  }
  restart(owns(peer), "all keys were flushed", out);
}

void CopyState::on_feed_lost(Peer peer, const std::string& message, Now now, CopyActions& out) {
  PeerState& p = peers[peer];
  if (!p.open) return;
  p.open = false;
  p.retry_at = now.mono;
  restart(owns(peer), fmt::format("feed lost: {}", message), out);
}

void CopyState::on_barrier(const BarrierReached& e, Now now, CopyActions& out) {
  const auto at = barrier_peer.find(e.id);
  if (at == barrier_peer.end()) return;
  const Peer peer = at->second;
  barrier_peer.erase(at);
  if (barriers.erase(e.id) == 0) return;
  if (e.identity != peers[peer].identity) on_feed_lost(peer, "the server is another process", now, out);
}

void CopyState::on_scanned(Scanned e) {
  if (e.id == 0 || e.id != scan_id) return;
  scan_id = 0;
  scan_cursor = e.next_cursor;
  if (scan_cursor == 0) scan_peers.pop_front();
  const BatchKind kind = step == Step::kScanCopy      ? BatchKind::kCopy
                         : step == Step::kScanExtras  ? BatchKind::kPresence
                         : step == Step::kScanCompare ? BatchKind::kCompare
                         : step == Step::kScanMerge   ? BatchKind::kMerge
                                                      : BatchKind::kSweep;
  for (MoveInGroup m = 0; m < e.keys.size() && m < moves.size(); ++m) {
    progress.scanned += e.keys[m].size();
    if (!e.keys[m].empty()) queue.push_back(Work{kind, m, std::move(e.keys[m]), 0});
  }
}

void CopyState::on_scan_failed(const ScanFailed& e, Now now) {
  if (e.id == 0 || e.id != scan_id) return;
  scan_id = 0;
  scan_cursor = 0;  // a cursor means nothing to another process
  wait_until = now.mono + Millis(spec.limits.retry_ms);
}

void CopyState::command(CopyCommand command, uint64_t attempt, Now now, CopyActions& out) {
  switch (command) {
    case CopyCommand::kProceed:
      if (phase == CopyPhase::kWaiting) phase = copied ? CopyPhase::kSettling : CopyPhase::kCopying;
      break;
    case CopyCommand::kPause:
      paused = true;
      break;
    case CopyCommand::kResume:
      paused = false;
      break;
    case CopyCommand::kSeal:
      seal(attempt, now, out);
      break;
    case CopyCommand::kUnseal:
      unseal();
      break;
    case CopyCommand::kFlip:
      if (phase == CopyPhase::kStopped) break;
      phase = CopyPhase::kFlipping;
      hold_rounds = 0;
      fresh_barrier = false;
      flip_now = flip_now || !feeds_open();
      wait_until = now.mono;
      break;
    case CopyCommand::kFlipNow:
      // It may have turned meanwhile, with its report on the way: turning again would make the wrong side the owner.
      if (phase == CopyPhase::kFlipping) flip_now = true;
      break;
    case CopyCommand::kSweep:
      sweep_wanted = true;
      break;
  }
}

void CopyState::seal(uint64_t attempt, Now now, CopyActions& out) {
  if (phase != CopyPhase::kSteady || !ready) {
    ready = false;
    out.push_back(SealBroken{"the copy is not ready"});
    return;
  }
  phase = CopyPhase::kSealing;
  sealing_for = attempt;
  hold_rounds = 0;
  keys_in_hold = 0;
  fresh_barrier = false;
  wait_until = now.mono;
}

void CopyState::unseal() {
  if (phase != CopyPhase::kSealed && phase != CopyPhase::kSealing) return;
  phase = copied && verified ? CopyPhase::kSteady : CopyPhase::kSettling;
  ready = false;  // said again after the next barrier
  for (MoveState& move : moves) {
    for (size_t i = 0; i < move.touched.size(); ++i) move.dirty.insert(move.touched[i]);
    move.touched.clear();
  }
}

CopyMachine::CopyMachine(CopySpec spec) : state_(std::make_unique<CopyState>(std::move(spec))) {}
CopyMachine::~CopyMachine() = default;
CopyMachine::CopyMachine(CopyMachine&&) noexcept = default;
CopyMachine& CopyMachine::operator=(CopyMachine&&) noexcept = default;

CopyActions CopyMachine::start(Now now) {
  CopyActions out;
  state_->pump(now, out);
  return out;
}

CopyActions CopyMachine::command(CopyCommand command, Now now, uint64_t attempt) {
  CopyActions out;
  state_->command(command, attempt, now, out);
  state_->pump(now, out);
  return out;
}

CopyActions CopyMachine::on(CopyEvent event, Now now) {
  CopyActions out;
  CopyState& s = *state_;
  if (s.phase == CopyPhase::kStopped) return out;
  struct Dispatch {
    CopyState& s;
    Now now;
    CopyActions& out;
    void operator()(FeedOpened& e) { s.on_feed_opened(e, now, out); }
    void operator()(FeedFailed& e) { s.on_feed_failed(e, now, out); }
    void operator()(FeedChanges& e) { s.on_changes(e, out); }
    void operator()(FeedFlushed& e) { s.on_flushed(e.peer, out); }
    void operator()(FeedUnclear& e) { s.on_unclear(e.peer, e.message, out); }
    void operator()(FeedUnusable& e) { s.stop(e.message, out); }
    void operator()(FeedLost& e) { s.on_feed_lost(e.peer, e.message, now, out); }
    void operator()(BarrierReached& e) { s.on_barrier(e, now, out); }
    // Its FeedLost restarts the step; without one the server could not answer and the barrier is set again.
    void operator()(BarrierFailed& e) {
      if (s.barriers.count(e.id) == 0) return;
      s.interrupt();
      s.wait_until = now.mono + Millis(s.spec.limits.retry_ms);
    }
    void operator()(Scanned& e) { s.on_scanned(std::move(e)); }
    void operator()(ScanFailed& e) { s.on_scan_failed(e, now); }
    void operator()(KeysRead& e) { s.on_read(e, out); }
    void operator()(KeysWritten& e) { s.on_written(e); }
    void operator()(KeysCompared& e) { s.on_compared(e, now, out); }
    void operator()(KeysDeleted& e) { s.on_deleted(e); }
    void operator()(BatchFailed& e) { s.on_batch_failed(e, now, out); }
    void operator()(CopyTick&) {}
  };
  std::visit(Dispatch{s, now, out}, event);
  s.pump(now, out);
  return out;
}

std::optional<MonoTime> CopyMachine::next_wake() const {
  const CopyState& s = *state_;
  if (s.phase == CopyPhase::kStopped || s.phase == CopyPhase::kSwept) return std::nullopt;
  std::optional<MonoTime> at;
  const auto earliest = [&at](MonoTime t) { at = at ? std::min(*at, t) : t; };
  for (const CopyState::PeerState& p : s.peers) {
    if (!p.open && !p.opening) earliest(p.retry_at);
  }
  if (!s.resting() && (!s.paused || s.in_hold()) && s.feeds_open() && s.barriers.empty()) {
    if (s.step == Step::kNone && s.batches.empty()) earliest(s.wait_until);
    const bool more = !s.queue.empty() || (!s.scan_peers.empty() && s.scan_id == 0);
    if (s.step != Step::kNone && s.batches.size() < s.spec.limits.batches_in_flight && more) {
      earliest(std::max({s.wait_until, s.keys_rate.ready_at(), s.bytes_rate.ready_at()}));
    }
  }
  return at;
}

CopyPhase CopyMachine::phase() const {
  return state_->phase;
}
bool CopyMachine::target_owns() const {
  return state_->target_owns;
}
const std::vector<MoveTotals>& CopyMachine::totals() const {
  return state_->totals;
}

CopyProgress CopyMachine::progress() const {
  CopyProgress p = state_->progress;
  p.ready = state_->ready;
  p.dirty = 0;
  for (const CopyState::MoveState& m : state_->moves) p.dirty += m.dirty.size();
  return p;
}

}  // namespace slipring::rebalance
