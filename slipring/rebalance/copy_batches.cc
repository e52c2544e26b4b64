// The copy machine's batches: what is read, written, compared and deleted, and what their answers mean.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/rebalance/copy_state.h"

namespace slipring::rebalance {

using CopyState = CopyMachine::State;

namespace {

// A key whose time is up within this is not judged: the two servers may say different things of it.
constexpr int64_t kExpiryMarginMs = 1'000;

bool expires_now(const KeyEntry& entry, Now now) {
  return entry.expire_ms != 0 && entry.expire_ms <= now.wall_ms + kExpiryMarginMs;
}

bool equal(const KeyEntry& a, const KeyEntry& b) {
  if (a.state != b.state) return false;
  return a.state == KeyState::kAbsent || (a.state == KeyState::kPresent && a.digest == b.digest);
}

}  // namespace

void CopyState::start_batches(Now now, CopyActions& out) {
  const size_t limit = spec.limits.batches_in_flight;
  while (batches.size() < limit && !queue.empty()) {
    if (now.mono < wait_until || (!in_hold() && (!keys_rate.ready(now.mono) || !bytes_rate.ready(now.mono)))) return;
    start_batch(queue.front(), out);
    if (!queue.empty() && queue.front().next >= queue.front().keys.size()) queue.pop_front();
  }
  if (batches.size() < limit && step != Step::kBarrier && now.mono >= wait_until) continue_scan(out);
}

void CopyState::start_batch(Work& work, CopyActions& out) {
  Batch batch;
  batch.kind = work.kind;
  batch.move = work.move;
  const uint64_t fitting = spec.limits.batch_bytes / std::max<uint64_t>(mean_bytes(), 1);
  const size_t keys_max = std::clamp<size_t>(fitting, 1, spec.limits.batch_keys);
  while (work.next < work.keys.size() && batch.keys.size() < keys_max) {
    const std::string_view key = work.keys[work.next++];
    if (!may_join(work, key)) continue;
    in_flight.add(key_hash(key));
    batch.keys.push(key);
  }
  if (batch.keys.empty()) return;
  if (batch.kind != BatchKind::kPresence) keys_rate.spend(batch.keys.size());
  batch.size = batch.keys.size();
  const uint64_t id = ++last_id;
  emit_batch(id, batch, out);
  batches.emplace(id, std::move(batch));
}

bool CopyState::may_join(const Work& work, std::string_view key) {
  MoveState& move = moves[work.move];
  // A scan may name a key twice; what changed meanwhile is copied in the next round.
  const bool scanning = step == Step::kScanCopy || step == Step::kScanExtras || step == Step::kScanCompare;
  if (scanning && filtered && !move.rescan.contains(key)) return false;
  if (step == Step::kScanCopy && !move.dirty.overflowed() && move.dirty.contains(key)) return false;
  if (!in_flight.contains(key_hash(key))) return true;
  if (!scanning) put_back(work.kind, work.move, key);
  return false;
}

void CopyState::emit_batch(uint64_t id, const Batch& batch, CopyActions& out) const {
  const Peer owner = owner_of(batch.move);
  const Peer other = other_of(batch.move);
  switch (batch.kind) {
    case BatchKind::kCopy:
      out.push_back(ReadKeys{id, batch.move, owner, true, batch.keys});
      break;
    case BatchKind::kPresence:
      out.push_back(ReadKeys{id, batch.move, owner, false, batch.keys});
      break;
    case BatchKind::kMerge:
      out.push_back(ReadKeys{id, batch.move, other, true, batch.keys});
      break;
    case BatchKind::kCompare:
    case BatchKind::kSweep:
      out.push_back(CompareKeys{id, batch.move, owner, other, batch.keys});
      break;
    case BatchKind::kDelete:
      out.push_back(DeleteKeys{id, batch.move, other, batch.keys});
      break;
  }
}

CopyState::Batch CopyState::take_batch(uint64_t id) {
  const auto at = batches.find(id);
  if (at == batches.end()) return Batch{};
  Batch batch = std::move(at->second);
  batches.erase(at);
  for (size_t i = 0; i < batch.size; ++i) in_flight.remove(key_hash(batch.keys[i]));
  return batch;
}

// False: the answer comes from another process than the copies are valid for. Its feed is opened again, which finds
// out.
bool CopyState::same_owner(MoveInGroup move, const ServerIdentity& identity, CopyActions& out) {
  PeerState& peer = peers[owner_of(move)];
  if (identity == peer.identity) return true;
  if (peer.open) {
    peer.open = false;
    restart(true, "the owner is another process than before", out);
  }
  return false;
}

void CopyState::on_read(KeysRead& e, CopyActions& out) {
  const auto at = batches.find(e.batch);
  if (at == batches.end()) return;
  Batch& batch = at->second;
  e.entries.resize(batch.keys.size());
  if (batch.kind == BatchKind::kPresence) {
    const Batch done = take_batch(e.batch);
    if (same_owner(done.move, e.identity, out)) on_presence(done, e);
    return;
  }
  const bool foreign = batch.kind == BatchKind::kCopy && !same_owner(batch.move, e.identity, out);
  if (foreign || phase == CopyPhase::kStopped) {
    out.push_back(DropBatch{e.batch});
    return put_back(take_batch(e.batch));
  }
  on_copy_read(e.batch, batch, e, out);
}

void CopyState::on_copy_read(uint64_t id, Batch& batch, const KeysRead& e, CopyActions& out) {
  const bool merging = batch.kind == BatchKind::kMerge;
  for (uint32_t i = 0; i < e.entries.size(); ++i) {
    const KeyEntry& entry = e.entries[i];
    if (entry.state == KeyState::kUnread) {
      give_back(batch, i);
      break;
    }
    if (entry.state == KeyState::kTooBig) {
      const std::string what = fmt::format("key \"{}\" is larger than the limit", batch.keys[i]);
      if (!target_owns) {
        out.push_back(DropBatch{id});
        take_batch(id);
        return stop(what + "; raise the limit or remove the key, then resume", out);
      }
      // Clients must not wait for a copy back: it is kept in mind, and a rollback is not available meanwhile.
      ++stuck;
      moves[batch.move].dirty.insert(batch.keys[i]);
      not_ready(what, out);
    } else if (entry.state == KeyState::kPresent) {
      batch.restore.push_back(i);
      batch.bytes += entry.bytes;
    } else if (!merging && !recheck) {
      batch.remove.push_back(i);
    }
  }
  bytes_rate.spend(batch.bytes);
  if (batch.restore.empty() && batch.remove.empty()) {
    out.push_back(DropBatch{id});
    take_batch(id);
    return;
  }
  const Peer to = merging ? owner_of(batch.move) : other_of(batch.move);
  if (!merging) expect(batch);
  out.push_back(WriteKeys{id, batch.move, to, batch.restore, batch.remove, merging});
}

// What the batch had no room for becomes the next one.
void CopyState::give_back(Batch& batch, size_t from) {
  Work rest{batch.kind, batch.move, {}, 0};
  for (size_t i = from; i < batch.size; ++i) {
    in_flight.remove(key_hash(batch.keys[i]));
    rest.keys.push(batch.keys[i]);
  }
  batch.size = from;
  queue.push_front(std::move(rest));
}

// The feed of the other side will show these; they are our own.
void CopyState::expect(const Batch& batch) {
  for (const uint32_t i : batch.restore) expected_restores.add(key_hash(batch.keys[i]));
  for (const uint32_t i : batch.remove) expected_removes.add(key_hash(batch.keys[i]));
}

void CopyState::on_presence(const Batch& batch, const KeysRead& e) {
  MoveState& move = moves[batch.move];
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    if (e.entries[i].state != KeyState::kAbsent) continue;
    const std::string_view key = batch.keys[i];
    const uint64_t hash = key_hash(key);
    // Only a removal that the feed reported explains what a restarted owner lacks.
    if (recheck && !move.gone.contains(hash) && !move.gone_before.contains(hash)) {
      if (extras++ == 0) extra_key = std::string(key);
      continue;
    }
    move.dirty.insert(key);
  }
}

void CopyState::on_written(const KeysWritten& e) {
  const Batch batch = take_batch(e.batch);
  for (size_t i = 0; i < batch.restore.size(); ++i) {
    const std::string_view key = batch.keys[batch.restore[i]];
    const bool none = i < e.restored.size() && e.restored[i] == WriteEffect::kNone;
    if (none && batch.kind == BatchKind::kCopy) expected_restores.remove(key_hash(key));
    mark_written(batch.move, key);
  }
  for (size_t i = 0; i < batch.remove.size(); ++i) {
    const std::string_view key = batch.keys[batch.remove[i]];
    const bool none = i < e.removed.size() && e.removed[i] == WriteEffect::kNone;
    if (none) expected_removes.remove(key_hash(key));
    mark_written(batch.move, key);
  }
  progress.copied_keys += batch.restore.size() + batch.remove.size();
  progress.copied_bytes += batch.bytes;
  round_bytes += batch.bytes;
}

void CopyState::mark_written(MoveInGroup move, std::string_view key) {
  if (verified) moves[move].unverified.insert(key);
}

void CopyState::on_compared(const KeysCompared& e, Now now, CopyActions& out) {
  if (batches.count(e.batch) == 0) return;
  const Batch batch = take_batch(e.batch);
  PeerState& other = peers[other_of(batch.move)];
  if (!same_owner(batch.move, e.owner_identity, out)) return put_back(batch);
  if (e.other_identity != other.identity) {
    if (std::exchange(other.open, false)) restart(true, "a server was restarted or replaced", out);
    return put_back(batch);
  }
  if (e.owner.size() != batch.keys.size() || e.other.size() != batch.keys.size()) return put_back(batch);
  if (batch.kind == BatchKind::kSweep) return on_sweep_compare(batch, e);
  on_compare(batch, e, now);
}

void CopyState::on_compare(const Batch& batch, const KeysCompared& e, Now now) {
  MoveState& move = moves[batch.move];
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    if (equal(e.owner[i], e.other[i])) {
      move.suspects.remove(key_hash(batch.keys[i]));
      if (e.owner[i].state == KeyState::kAbsent || step != Step::kScanCompare) continue;
      ++move.totals.keys;
      move.totals.bytes += e.owner[i].bytes;
      move.totals.owner.add(e.owner[i].digest);
      move.totals.other.add(e.other[i].digest);
    } else if (!expires_now(e.owner[i], now) && !expires_now(e.other[i], now)) {
      move.differing.push(batch.keys[i]);
    }
  }
}

void CopyState::on_sweep_compare(const Batch& batch, const KeysCompared& e) {
  Work work{BatchKind::kDelete, batch.move, {}, 0};
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    if (e.other[i].state == KeyState::kAbsent) continue;
    if (equal(e.owner[i], e.other[i])) {
      work.keys.push(batch.keys[i]);
    } else {
      moves[batch.move].differing.push(batch.keys[i]);
    }
  }
  if (!work.keys.empty()) queue.push_front(std::move(work));
}

void CopyState::on_deleted(const KeysDeleted& e) {
  const Batch batch = take_batch(e.batch);
  for (size_t i = 0; i < batch.keys.size() && i < e.effects.size(); ++i) {
    if (e.effects[i] != WriteEffect::kRemoved) continue;
    ++deleted;
    ++deleted_in_pass;
  }
}

void CopyState::on_batch_failed(const BatchFailed& e, Now now, CopyActions& out) {
  if (batches.count(e.batch) == 0) return;
  const Batch batch = take_batch(e.batch);
  put_back(batch);
  wait_until = now.mono + Millis(spec.limits.retry_ms);
  if (batch.kind == BatchKind::kSweep || batch.kind == BatchKind::kDelete) sweep_again = true;
  if (!e.refused) return;
  if (!target_owns && phase != CopyPhase::kSweeping) return stop(e.message, out);
  ++stuck;
  not_ready(e.message, out);
}

void CopyState::put_back(const Batch& batch) {
  for (size_t i = 0; i < batch.size; ++i) put_back(batch.kind, batch.move, batch.keys[i]);
}

void CopyState::put_back(BatchKind kind, MoveInGroup m, std::string_view key) {
  switch (kind) {
    case BatchKind::kCopy:
      if (frozen()) {
        moves[m].touched.push(key);
      } else {
        moves[m].dirty.insert(key);
      }
      break;
    case BatchKind::kPresence:
      moves[m].dirty.insert(key);
      break;
    case BatchKind::kCompare:
      moves[m].unverified.insert(key);
      break;
    case BatchKind::kMerge:
      merge_again = true;
      break;
    case BatchKind::kSweep:
    case BatchKind::kDelete:
      sweep_again = true;
      break;
  }
}

}  // namespace slipring::rebalance
