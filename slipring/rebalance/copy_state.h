// The inside of CopyMachine: one step at a time, a step is a barrier or a stream of batches. Files: copy_machine.cc
// (events and commands), copy_steps.cc (what comes next), copy_batches.cc (reading, writing, comparing, deleting).
//
//   pump(): start batches of the step, while the limits allow > step done? > finish_step() > choose_step() > ...
//
// Invariant: no batch is in flight while a barrier is waited for, so every effect of our own lies before it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "slipring/rebalance/copy_machine.h"

namespace slipring::rebalance {

enum class Step : uint8_t {
  kNone,
  kBarrier,
  kScanCopy,
  kScanExtras,
  kScanCompare,
  kScanMerge,
  kScanSweep,
  kRoundCopy,
  kRoundCompare,
  kSweepDelete,
};

enum class BatchKind : uint8_t { kCopy, kPresence, kCompare, kMerge, kSweep, kDelete };

struct CopyMachine::State {
  struct PeerState {
    bool open = false;
    bool opening = false;
    ServerIdentity identity;  // that the copies are valid for; empty run id: none yet
    MonoTime retry_at{};
    bool in_trouble = false;
  };
  struct MoveState {
    KeySet dirty;       // changed at the owner, not copied since
    KeySet unverified;  // written, not compared since
    KeySet rescan;      // overflowed dirty set that is being scanned
    KeyList touched;    // by somebody else on the other side while sealed or flipping
    KeyList differing;  // compared and different: judged after the next barrier
    // Hashes of keys whose last change was a removal, since the last take of `dirty` and since the one before.
    HashCounter gone;
    HashCounter gone_before;
    HashCounter suspects;  // differed once
    MoveTotals totals;
  };
  struct Work {
    BatchKind kind = BatchKind::kCopy;
    MoveInGroup move = 0;
    KeyList keys;
    size_t next = 0;
  };
  struct Batch {
    BatchKind kind = BatchKind::kCopy;
    MoveInGroup move = 0;
    KeyList keys;
    size_t size = 0;  // of `keys`, those that the batch still has
    std::vector<uint32_t> restore;
    std::vector<uint32_t> remove;
    uint64_t bytes = 0;
  };

  explicit State(CopySpec s);

  // --- copy_machine.cc
  void on_feed_opened(const FeedOpened& e, Now now, CopyActions& out);
  void on_feed_failed(const FeedFailed& e, Now now, CopyActions& out);
  void on_changes(const FeedChanges& e, CopyActions& out);
  void on_owner_change(const FeedChange& change);
  void on_other_change(const FeedChange& change, CopyActions& out);
  void on_unclear(Peer peer, const std::string& what, CopyActions& out);
  void on_flushed(Peer peer, CopyActions& out);
  void on_feed_lost(Peer peer, const std::string& message, Now now, CopyActions& out);
  void on_barrier(const BarrierReached& e, Now now, CopyActions& out);
  void on_scanned(Scanned e);
  void on_scan_failed(const ScanFailed& e, Now now);
  void command(CopyCommand command, uint64_t attempt, Now now, CopyActions& out);
  bool adopt(const FeedOpened& e, CopyActions& out);
  void seal(uint64_t attempt, Now now, CopyActions& out);
  void unseal();
  void open_feeds(Now now, CopyActions& out);

  // --- copy_steps.cc
  void pump(Now now, CopyActions& out);
  bool step_done() const;
  void choose_step(CopyActions& out);
  void begin(Step next, CopyActions& out);
  void begin_scan(const std::vector<Peer>& peers);
  void continue_scan(CopyActions& out);
  void begin_round_copy();
  void begin_round_compare();
  void finish_step(Now now, CopyActions& out);
  void finish_extras(CopyActions& out);
  void finish_round(Now now);
  void after_barrier(CopyActions& out);
  bool begin_rescan(CopyActions& out);
  void after_seal_barrier(CopyActions& out);
  void after_flip_barrier(CopyActions& out);
  void settle(CopyActions& out);
  void judge(CopyActions& out);
  void judge_sweep(CopyActions& out);
  void end_sweep_pass(CopyActions& out);
  void flip(CopyActions& out);
  void interrupt();
  void restart(bool all, const std::string& why, CopyActions& out);
  void not_ready(const std::string& why, CopyActions& out);
  void break_seal(const std::string& why, CopyActions& out);
  void stop(const std::string& why, CopyActions& out);
  void owner_changed(Peer peer, const ServerIdentity& now, const std::string& why, CopyActions& out);
  void report_feeds_open(CopyActions& out);
  void alarm(MoveInGroup move, std::string_view key, std::string_view what, CopyActions& out);
  bool small() const;
  uint64_t mean_bytes() const;

  // --- copy_batches.cc
  void start_batches(Now now, CopyActions& out);
  void start_batch(Work& work, CopyActions& out);
  void emit_batch(uint64_t id, const Batch& batch, CopyActions& out) const;
  bool may_join(const Work& work, std::string_view key);
  void on_read(KeysRead& e, CopyActions& out);
  void on_copy_read(uint64_t id, Batch& batch, const KeysRead& e, CopyActions& out);
  void give_back(Batch& batch, size_t from);
  void on_presence(const Batch& batch, const KeysRead& e);
  void on_written(const KeysWritten& e);
  void on_compared(const KeysCompared& e, Now now, CopyActions& out);
  void on_compare(const Batch& batch, const KeysCompared& e, Now now);
  void on_sweep_compare(const Batch& batch, const KeysCompared& e);
  void on_deleted(const KeysDeleted& e);
  void on_batch_failed(const BatchFailed& e, Now now, CopyActions& out);
  void put_back(BatchKind kind, MoveInGroup move, std::string_view key);
  void put_back(const Batch& batch);
  Batch take_batch(uint64_t id);
  void expect(const Batch& batch);
  void mark_written(MoveInGroup move, std::string_view key);
  bool same_owner(MoveInGroup move, const ServerIdentity& identity, CopyActions& out);

  Peer owner_of(MoveInGroup m) const { return target_owns ? 1 + m : kSource; }
  Peer other_of(MoveInGroup m) const { return target_owns ? kSource : 1 + m; }
  bool owns(Peer p) const { return (p == kSource) != target_owns; }
  std::vector<Peer> side(bool owner) const;
  bool feeds_open() const;
  bool resting() const {
    return phase == CopyPhase::kOpening || phase == CopyPhase::kWaiting || phase == CopyPhase::kSealed ||
           phase == CopyPhase::kSwept || phase == CopyPhase::kStopped;
  }
  // A commit may have happened or not: nothing is written to either side unless the flip asks for it.
  bool frozen() const { return phase == CopyPhase::kSealed || phase == CopyPhase::kFlipping; }
  bool in_hold() const { return phase == CopyPhase::kSealing || phase == CopyPhase::kFlipping; }

  CopySpec spec;
  CopyPhase phase = CopyPhase::kOpening;
  Step step = Step::kNone;
  bool target_owns;
  bool paused = false;
  bool copied = false;    // everything was copied once since the feeds are whole
  bool verified = false;  // everything was compared since then
  bool exact;             // what the owner changed since our first write is in `dirty` or was copied
  bool recheck = false;   // the owner is another process: copy what it holds, remove nothing, count what it lacks
  bool merge_pending;
  bool merge_again = false;  // not all of this pass was done
  bool ready = false;
  bool copied_reported = false;
  bool filtered = false;  // the scan takes only what is in `rescan`
  bool sweep_wanted = false;
  bool sweep_again = false;
  bool flip_now = false;
  bool fresh_barrier = false;  // it began inside the hold
  uint64_t extras = 0;
  std::string extra_key;
  uint64_t stuck = 0;  // keys of this round that cannot be copied
  uint64_t sealing_for = 0;  // attempt of the last kSeal
  uint32_t hold_rounds = 0;
  uint64_t keys_in_hold = 0;
  uint64_t deleted = 0;
  uint64_t deleted_in_pass = 0;
  uint64_t strays = 0;
  HashCounter named_strays;

  std::vector<PeerState> peers;
  std::vector<MoveState> moves;
  std::deque<Work> queue;
  std::map<uint64_t, Batch> batches;
  HashCounter in_flight;
  HashCounter expected_restores;
  HashCounter expected_removes;

  uint64_t last_id = 0;
  std::set<uint64_t> barriers;
  std::map<uint64_t, Peer> barrier_peer;
  std::deque<Peer> scan_peers;  // front: being scanned
  uint64_t scan_id = 0;         // 0: none outstanding
  uint64_t scan_cursor = 0;
  MonoTime wait_until{};
  TokenBucket keys_rate;
  TokenBucket bytes_rate;

  uint64_t round_bytes = 0;
  uint64_t best_round_bytes = UINT64_MAX;
  uint32_t rounds_without_shrinking = 0;
  CopyProgress progress;
  std::vector<MoveTotals> totals;
};

}  // namespace slipring::rebalance
