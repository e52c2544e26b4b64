#include "slipring/rebalance/copy_worker.h"

#include "slipring/rebalance/copy_feed.h"

namespace slipring::rebalance {
namespace {

constexpr Millis kAskAgain{100};

std::vector<std::string_view> views(const KeyList& keys) {
  std::vector<std::string_view> out;
  out.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) out.push_back(keys[i]);
  return out;
}

KeyEntry entry_of(const StoredKey& key) {
  return {static_cast<KeyState>(key.state), {key.digest_low, key.digest_high}, key.expire_ms, key.bytes};
}

// Errors that come again however often it is tried.
bool is_refusal(Code code) {
  return code != Code::kUnavailable && code != Code::kDeadlineExceeded && code != Code::kUnauthenticated;
}

std::vector<WriteEffect> effects(const std::vector<bool>& done, WriteEffect effect) {
  std::vector<WriteEffect> out;
  out.reserve(done.size());
  for (bool d : done) out.push_back(d ? effect : WriteEffect::kNone);
  return out;
}

}  // namespace

CopyExecutor::Worker::Worker(CopyExecutor& executor)
    : executor_(executor), sessions_(executor.options_.addresses.size()), thread_([this] { run(); }) {}

CopyExecutor::Worker::~Worker() {
  thread_.join();
}

void CopyExecutor::Worker::run() {
  Work next;
  while (executor_.next_work(next)) {
    std::visit([this](const auto& w) { work(w); }, next);
  }
}

Result<StoreSession*> CopyExecutor::Worker::session(Peer peer) {
  auto& s = sessions_[peer];
  if (s == nullptr || !s->open()) {
    SLIPRING_ASSIGN(s, executor_.adapter_.open_session(executor_.options_.addresses[peer]));
  }
  return s.get();
}

void CopyExecutor::Worker::settle(Peer peer) {
  auto& s = sessions_[peer];
  if (s == nullptr || s->open()) return;
  executor_.adapter_.abandon(std::move(s));
  while (!executor_.ending_ && !session(peer)) std::this_thread::sleep_for(kAskAgain);
}

void CopyExecutor::Worker::report_failure(uint64_t batch, Peer peer, const Error& error) {
  settle(peer);
  if (executor_.ending_) return;
  executor_.post(BatchFailed{batch, peer, is_refusal(error.code), error.message});
}

void CopyExecutor::Worker::work(const Barrier& barrier) {
  auto s = session(barrier.peer);
  auto position = s ? (*s)->position() : Result<StoreSession::Position>(fail(s.error()));
  const bool reached = position && !position->loading && executor_.feeds_[barrier.peer]->wait_for(position->offset);
  if (reached) {
    executor_.post(BarrierReached{barrier.id, position->identity});
  } else {
    executor_.post(BarrierFailed{barrier.id});
  }
}

void CopyExecutor::Worker::work(const Scan& scan) {
  std::vector<std::string> found;
  auto s = session(scan.peer);
  auto next = s ? (*s)->scan(scan.cursor, executor_.options_.scan_count, found) : Result<uint64_t>(fail(s.error()));
  if (!next) return executor_.post(ScanFailed{scan.id, next.error().message});
  Scanned event{scan.id, *next, std::vector<KeyList>(executor_.options_.spec.moves)};
  for (const std::string& key : found) {
    const MoveInGroup move = executor_.options_.filter(key);
    if (move == kNoMoveInGroup || (scan.peer != kSource && move != scan.peer - 1)) continue;
    event.keys[move].push(key);
  }
  executor_.post(std::move(event));
}

void CopyExecutor::Worker::work(const ReadKeys& read) {
  auto s = session(read.peer);
  if (!s) return report_failure(read.batch, read.peer, s.error());
  auto values = (*s)->read(views(read.keys), read.payload, executor_.options_.key_bytes_max);
  if (!values) return report_failure(read.batch, read.peer, values.error());
  auto position = (*s)->position();
  if (!position) return report_failure(read.batch, read.peer, position.error());
  KeysRead event{read.batch, position->identity, {}};
  for (const StoredKey& value : *values) event.entries.push_back(entry_of(value));
  if (read.payload) {
    executor_.keep(read.batch, std::make_shared<Kept>(Kept{read.keys, std::move(*values)}));
  }
  executor_.post(std::move(event));
}

void CopyExecutor::Worker::work(const WriteKeys& write) {
  const std::shared_ptr<Kept> kept = executor_.forget(write.batch);
  auto s = session(write.peer);
  if (!s) return report_failure(write.batch, write.peer, s.error());
  std::vector<RestoreItem> items;
  for (uint32_t i : write.restore) items.push_back({kept->keys[i], kept->values[i].payload, kept->values[i].expire_ms});
  std::vector<std::string_view> gone;
  for (uint32_t i : write.remove) gone.push_back(kept->keys[i]);
  auto restored = (*s)->restore(items, write.if_absent);
  if (!restored) return report_failure(write.batch, write.peer, restored.error());
  auto removed = (*s)->remove(gone);
  if (!removed) return report_failure(write.batch, write.peer, removed.error());
  executor_.post(
      KeysWritten{write.batch, effects(*restored, WriteEffect::kRestored), effects(*removed, WriteEffect::kRemoved)});
}

Result<std::vector<KeyEntry>> CopyExecutor::Worker::digest(Peer peer, const std::vector<std::string_view>& keys,
                                                           ServerIdentity& identity) {
  SLIPRING_ASSIGN(StoreSession * s, session(peer));
  SLIPRING_ASSIGN(const auto values, s->digest(keys, executor_.clock_.wall_ms(), executor_.options_.key_bytes_max));
  SLIPRING_ASSIGN(const auto position, s->position());
  identity = position.identity;
  std::vector<KeyEntry> entries;
  for (const StoredKey& value : values) entries.push_back(entry_of(value));
  return entries;
}

void CopyExecutor::Worker::work(const CompareKeys& compare) {
  const std::vector<std::string_view> keys = views(compare.keys);
  KeysCompared event{compare.batch, {}, {}, {}, {}};
  auto owner = digest(compare.owner, keys, event.owner_identity);
  if (!owner) return report_failure(compare.batch, compare.owner, owner.error());
  auto other = digest(compare.other, keys, event.other_identity);
  if (!other) return report_failure(compare.batch, compare.other, other.error());
  event.owner = std::move(*owner);
  event.other = std::move(*other);
  executor_.post(std::move(event));
}

void CopyExecutor::Worker::work(const DeleteKeys& remove) {
  auto s = session(remove.peer);
  if (!s) return report_failure(remove.batch, remove.peer, s.error());
  auto removed = (*s)->remove(views(remove.keys));
  if (!removed) return report_failure(remove.batch, remove.peer, removed.error());
  executor_.post(KeysDeleted{remove.batch, effects(*removed, WriteEffect::kRemoved)});
}

}  // namespace slipring::rebalance
