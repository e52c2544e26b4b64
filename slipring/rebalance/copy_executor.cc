#include "slipring/rebalance/copy_executor.h"

#include "slipring/base/check.h"
#include "slipring/base/fault_point.h"
#include "slipring/rebalance/copy_feed.h"
#include "slipring/rebalance/copy_worker.h"

namespace slipring::rebalance {
namespace {

// Beside the batches in flight: a scan and a barrier of each side.
constexpr size_t kMoreWorkers = 4;

// By index of CopyAction, as fault points name them.
constexpr std::string_view kActionNames[] = {"open_feed", "barrier",   "scan",    "read",          "write",
                                             "drop",      "compare",   "delete",  "feeds_open",    "copied_once",
                                             "ready",     "not_ready", "sealed",  "seal_broken",   "flipped",
                                             "swept",     "alarm",     "stopped", "owner_changed", "trouble"};
static_assert(std::size(kActionNames) == std::variant_size_v<CopyAction>);

template <typename T, typename... Ts>
constexpr bool kIsOneOf = (std::is_same_v<T, Ts> || ...);

}  // namespace

CopyExecutor::CopyExecutor(CopyExecutorOptions options, StoreAdapter& adapter, const Clock& clock, Listener listener)
    : options_(std::move(options)),
      adapter_(adapter),
      clock_(clock),
      listener_(std::move(listener)),
      machine_(options_.spec) {
  SLIPRING_CHECK(options_.addresses.size() == options_.spec.moves + 1, "one address a peer");
  for (Peer peer = 0; peer < options_.addresses.size(); ++peer) feeds_.push_back(std::make_unique<Feed>(*this, peer));
  for (size_t i = 0; i < options_.spec.limits.batches_in_flight + kMoreWorkers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this));
  }
  driver_ = std::thread([this] { drive(); });
}

CopyExecutor::~CopyExecutor() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  inputs_ready_.notify_all();
  inputs_taken_.notify_all();
  work_ready_.notify_all();
  for (auto& feed : feeds_) feed->end();
  driver_.join();
  workers_.clear();
  feeds_.clear();
}

void CopyExecutor::tell(CopyCommand command, uint64_t attempt) {
  post(Input{command, attempt, {}, 0, 0});
}

CopyProgress CopyExecutor::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

CopyPhase CopyExecutor::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

std::vector<MoveTotals> CopyExecutor::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void CopyExecutor::post(Input input) {
  const size_t bytes = input.keys.bytes() + sizeof input;
  std::unique_lock lock(mutex_);
  // Only feeds produce without limit; they wait here, and the server's own bound on its replicas protects it.
  if (input.feed != 0) inputs_taken_.wait(lock, [&] { return ending_ || input_bytes_ < kInputBytesMax; });
  input_bytes_ += bytes;
  inputs_.push_back(std::move(input));
  inputs_ready_.notify_one();
}

bool CopyExecutor::next_work(Work& work) {
  std::unique_lock lock(mutex_);
  work_ready_.wait(lock, [&] { return ending_ || !work_.empty(); });
  if (ending_) return false;
  work = std::move(work_.front());
  work_.pop_front();
  return true;
}

void CopyExecutor::keep(uint64_t batch, std::shared_ptr<Kept> kept) {
  const std::lock_guard lock(mutex_);
  kept_[batch] = std::move(kept);
}

std::shared_ptr<CopyExecutor::Kept> CopyExecutor::forget(uint64_t batch) {
  const std::lock_guard lock(mutex_);
  const auto it = kept_.find(batch);
  if (it == kept_.end()) return nullptr;
  std::shared_ptr<Kept> kept = std::move(it->second);
  kept_.erase(it);
  return kept;
}

void CopyExecutor::take_inputs(std::deque<Input>& inputs) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return ending_ || !inputs_.empty(); };
  const std::optional<MonoTime> wake = machine_.next_wake();
  if (!wake) {
    inputs_ready_.wait(lock, ready);
  } else if (const Nanos left = *wake - clock_.now(); left > Nanos(0)) {
    inputs_ready_.wait_for(lock, left, ready);
  }
  inputs.swap(inputs_);
  input_bytes_ = 0;
  inputs_taken_.notify_all();
}

void CopyExecutor::drive() {
  perform(machine_.start(now()));
  std::deque<Input> inputs;
  while (!ending_) {
    publish();
    inputs.clear();
    take_inputs(inputs);
    for (Input& input : inputs) {
      if (ending_) return;
      handle(input);
    }
    const std::optional<MonoTime> wake = machine_.next_wake();
    if (wake && *wake <= clock_.now()) perform(machine_.on(CopyTick{}, now()));
  }
}

void CopyExecutor::handle(Input& input) {
  if (const auto* command = std::get_if<CopyCommand>(&input.what)) {
    return perform(machine_.command(*command, now(), input.attempt));
  }
  // What an earlier opening of a feed still had to say is no longer of interest.
  if (input.feed != 0 && input.feed != feeds_[input.peer]->wanted()) return;
  auto& event = std::get<CopyEvent>(input.what);
  if (auto* changes = std::get_if<FeedChanges>(&event)) {
    for (size_t i = 0; i < changes->changes.size(); ++i) changes->changes[i].key = input.keys[i];
  }
  perform(machine_.on(event, now()));
}

void CopyExecutor::perform(CopyActions actions) {
  for (CopyAction& action : actions) {
    const std::string_view name = kActionNames[action.index()];
    fault_point("copy", name, "before");
    perform(action);
    fault_point("copy", name, "after");
  }
}

void CopyExecutor::perform(CopyAction& action) {
  std::visit(
      [&](auto& a) {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, OpenFeed>) {
          feeds_[a.peer]->open();
        } else if constexpr (std::is_same_v<T, DropBatch>) {
          forget(a.batch);
        } else if constexpr (kIsOneOf<T, Barrier, Scan, ReadKeys, WriteKeys, CompareKeys, DeleteKeys>) {
          const std::lock_guard lock(mutex_);
          // A barrier is what a hold waits for: it goes first.
          if constexpr (std::is_same_v<T, Barrier>) {
            work_.push_front(std::move(a));
          } else {
            work_.push_back(std::move(a));
          }
          work_ready_.notify_one();
        } else {
          publish();
          listener_(action);
        }
      },
      action);
}

void CopyExecutor::publish() {
  const std::lock_guard lock(mutex_);
  progress_ = machine_.progress();
  phase_ = machine_.phase();
  totals_ = machine_.totals();
}

}  // namespace slipring::rebalance
