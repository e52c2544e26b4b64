// The feed of a Redis or Valkey server: its replication stream, read without ever asking for a dump. It carries every
// effect in order (expiry as DEL, scripts by their effects, consumer groups), and its barrier is exact to the byte:
// everything acknowledged before master_repl_offset was N has been seen when offset() >= N.
//
// Opening continues the server's own stream (PSYNC at the current offset). Where the server has no backlog yet, one is
// brought into being by a full resynchronisation that is asked for and abandoned inside its delay, so the server never
// forks; total_forks is compared to prove it. The feed acknowledges offset 0 only, so WAIT stays honest.
//
// Invariant: changes are given out in stream order, each once. Thread-safety: one owner; shutdown() from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/protocol/resp/request.h"
#include "slipring/store/redis/client.h"
#include "slipring/store/server_facts.h"

namespace slipring::redis {

class PsyncFeed {
 public:
  // Everything that changes on the server after open() has returned is in the feed. kFailedPrecondition: the server's
  // settings do not allow a feed without a fork (rebalance/preflight.h names them); kUnavailable: not reached.
  static Result<PsyncFeed> open(const Endpoint& endpoint, const Clock& clock);

  // Who the stream is of; recorded after it was opened. A later difference means the feed's promise is broken.
  const ServerIdentity& identity() const { return identity_; }

  // Each command of the stream, with the database it runs in.
  using Sink = std::function<void(const resp::Args& command, uint32_t database)>;
  // Reads what has arrived, waiting at most `timeout` for the first byte, and gives whole commands to `sink`. Nothing
  // arrived: ok. An error is final: the feed is lost, and with it what happened since.
  Status poll(const Sink& sink, Millis timeout);

  // Replication offset up to which everything was given out.
  uint64_t offset() const { return offset_; }
  void shutdown() { client_.shutdown(); }

 private:
  PsyncFeed(Client client, const Clock& clock) : client_(std::move(client)), clock_(&clock) {}
  Status start();
  Status acknowledge();
  Status parse(const Sink& sink);
  void give(const resp::Args& command, const Sink& sink);

  Client client_;
  const Clock* clock_;
  ServerIdentity identity_;
  uint64_t offset_ = 0;
  uint32_t database_ = 0;
  MonoTime acknowledged_{};
  std::string in_;
  size_t parsed_ = 0;
  resp::RequestParser parser_;
};

}  // namespace slipring::redis
