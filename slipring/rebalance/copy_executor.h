// Runs one group's CopyMachine against real servers: one thread drives the machine, one thread a feed, a few workers
// carry out batches, each with sessions of its own. The machine decides; this performs and reports.
//
// Invariant: a batch is answered only when its outcome is certain: after a broken connection the worker waits until the
// server confirmed its end. Events of one feed reach the machine in stream order, and a barrier after all that came
// before it. Thread-safety: tell(), progress(), phase(), totals() from any thread; the listener is called on the
// driving thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "slipring/rebalance/copy_machine.h"
#include "slipring/store/store_adapter.h"

namespace slipring::rebalance {

// Which keys are the group's: the index of the move in the group, or kNoMoveInGroup.
inline constexpr MoveInGroup kNoMoveInGroup = UINT32_MAX;
using KeyFilter = std::function<MoveInGroup(std::string_view key)>;

struct CopyExecutorOptions {
  CopySpec spec;
  std::vector<std::string> addresses;  // by peer
  KeyFilter filter;
  uint64_t key_bytes_max = 8u << 20;
  uint32_t scan_count = 1000;
};

class CopyExecutor {
 public:
  // Called with each report action of the machine; must not block for long and must not call back into the executor.
  using Listener = std::function<void(const CopyAction& report)>;

  // Starts at once. `adapter` and `clock` must outlive it.
  CopyExecutor(CopyExecutorOptions options, StoreAdapter& adapter, const Clock& clock, Listener listener);
  // Ends feeds and workers. Sessions with requests on the way are abandoned (store_adapter.h).
  ~CopyExecutor();

  // `attempt` as in CopyMachine::command().
  void tell(CopyCommand command, uint64_t attempt = 0);
  CopyProgress progress() const;
  CopyPhase phase() const;
  std::vector<MoveTotals> totals() const;

 private:
  class Feed;
  class Worker;
  friend class Feed;
  friend class Worker;
  using Work = std::variant<Barrier, Scan, ReadKeys, WriteKeys, CompareKeys, DeleteKeys>;
  // An event with the keys that its views look into, or a command, on its way to the machine.
  struct Input {
    std::variant<CopyEvent, CopyCommand> what;
    uint64_t attempt = 0;  // of a command
    KeyList keys;       // of FeedChanges
    Peer peer = 0;      // of an event from a feed
    uint64_t feed = 0;  // which opening of the feed it came from; 0: not from a feed
  };
  // What ReadKeys read for WriteKeys of the same batch.
  struct Kept {
    KeyList keys;
    std::vector<StoredKey> values;
  };
  static constexpr size_t kInputBytesMax = 64u << 20;

  void drive();
  void take_inputs(std::deque<Input>& inputs);
  void handle(Input& input);
  void perform(CopyActions actions);
  void perform(CopyAction& action);
  void publish();
  void post(Input input);
  void post(CopyEvent event) { post(Input{std::move(event), 0, {}, 0, 0}); }
  bool next_work(Work& work);
  void keep(uint64_t batch, std::shared_ptr<Kept> kept);
  std::shared_ptr<Kept> forget(uint64_t batch);
  Now now() const { return {clock_.now(), clock_.wall_ms()}; }

  const CopyExecutorOptions options_;
  StoreAdapter& adapter_;
  const Clock& clock_;
  Listener listener_;
  CopyMachine machine_;
  std::atomic<bool> ending_{false};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable inputs_ready_;
  std::condition_variable inputs_taken_;
  std::condition_variable work_ready_;
  std::deque<Input> inputs_;
  size_t input_bytes_ = 0;
  std::deque<Work> work_;
  std::unordered_map<uint64_t, std::shared_ptr<Kept>> kept_;  // by batch
  CopyProgress progress_;
  CopyPhase phase_ = CopyPhase::kOpening;
  std::vector<MoveTotals> totals_;

  std::vector<std::unique_ptr<Feed>> feeds_;  // by peer
  std::vector<std::unique_ptr<Worker>> workers_;
  std::thread driver_;
};

}  // namespace slipring::rebalance
