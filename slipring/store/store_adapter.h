// What a mover needs of a store server, whatever its protocol: sessions that read, write, compare and remove keys in
// batches, and a feed of changed keys. Calls block, bounded by time-outs.
//
// Invariant: a call that answers an error while the session stays open() has a certain outcome (every reply was read).
// After a session has closed itself, its requests may still run on the server: it is handed to StoreAdapter::abandon(),
// and the next session to that server opens only when the server confirmed the end of the abandoned one.
// Thread-safety: a session and a feed have one owner each; feed.shutdown() and the adapter may be used by any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/store/server_facts.h"

namespace slipring {

struct StoredKey {
  enum class State : uint8_t { kAbsent, kPresent, kTooBig, kUnread };
  State state = State::kAbsent;
  std::string payload;      // what restore() takes; empty unless asked for
  uint64_t bytes = 0;       // of the payload
  int64_t expire_ms = 0;    // wall clock; 0: none
  uint64_t digest_low = 0;  // of type, value and expiry; only of digest()
  uint64_t digest_high = 0;
};

struct RestoreItem {
  std::string_view key;
  std::string_view payload;
  int64_t expire_ms = 0;
};

class StoreSession {
 public:
  static constexpr uint64_t kReadBytesMax = 32u << 20;
  virtual ~StoreSession() = default;

  virtual bool open() const = 0;
  struct Position {
    ServerIdentity identity;
    bool loading = false;
    uint64_t offset = 0;  // of the server's change stream
  };
  virtual Result<Position> position() = 0;

  // One step of an iteration over all keys: appends them, answers the next cursor (0: the end).
  virtual Result<uint64_t> scan(uint64_t cursor, uint32_t count, std::vector<std::string>& keys) = 0;
  // By index of `keys`. A payload above bytes_max is not kept: kTooBig. Once the payloads take kReadBytesMax, the keys
  // that follow are left kUnread; the first is always read.
  virtual Result<std::vector<StoredKey>> read(std::span<const std::string_view> keys, bool payload,
                                              uint64_t bytes_max) = 0;
  // As read() without payloads, with digests. Fields that had expired by wall_ms count as absent.
  virtual Result<std::vector<StoredKey>> digest(std::span<const std::string_view> keys, int64_t wall_ms,
                                                uint64_t bytes_max) = 0;
  // By index: true if the key now stands there from this call; false: it existed (if_absent) or had expired.
  // An error of any item is the error of the call; the others were done.
  virtual Result<std::vector<bool>> restore(std::span<const RestoreItem> items, bool if_absent) = 0;
  // By index: true if the key existed.
  virtual Result<std::vector<bool>> remove(std::span<const std::string_view> keys) = 0;
};

enum class FeedKind : uint8_t { kWrite, kRestore, kRemove };

class FeedSink {
 public:
  virtual ~FeedSink() = default;
  virtual void on_change(FeedKind kind, std::string_view key) = 0;
  // Every key of the database is gone.
  virtual void on_flush() = 0;
  // Something changed keys that the feed does not name.
  virtual void on_unclear(std::string_view what) = 0;
  // What a move cannot follow: another database, SWAPDB.
  virtual void on_unusable(std::string_view what) = 0;
};

class StoreFeed {
 public:
  virtual ~StoreFeed() = default;
  virtual const ServerIdentity& identity() const = 0;
  // Gives what has arrived, waiting at most `timeout`; an error is final.
  virtual Status poll(FeedSink& sink, Millis timeout) = 0;
  // Everything up to this position of the server's change stream was given.
  virtual uint64_t offset() const = 0;
  virtual void shutdown() = 0;
};

class StoreAdapter {
 public:
  virtual ~StoreAdapter() = default;
  // kUnavailable: not reached, or not yet known that no request of an abandoned session can still run there.
  virtual Result<std::unique_ptr<StoreSession>> open_session(const std::string& address) = 0;
  virtual void abandon(std::unique_ptr<StoreSession> session) = 0;
  // kFailedPrecondition: the server allows no feed.
  virtual Result<std::unique_ptr<StoreFeed>> open_feed(const std::string& address) = 0;
};

}  // namespace slipring
