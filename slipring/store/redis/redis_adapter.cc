#include "slipring/store/redis/redis_adapter.h"

#include <algorithm>

#include "slipring/protocol/resp/command.h"
#include "slipring/store/redis/change.h"
#include "slipring/store/redis/psync_feed.h"
#include "slipring/store/redis/redis_session.h"

namespace slipring::redis {
namespace {

class RedisFeed final : public StoreFeed {
 public:
  explicit RedisFeed(PsyncFeed feed) : feed_(std::move(feed)) {}
  const ServerIdentity& identity() const override { return feed_.identity(); }
  Status poll(FeedSink& sink, Millis timeout) override {
    return feed_.poll(
        [&](const resp::Args& command, uint32_t database) { classify_change(command, database, keys_, sink); },
        timeout);
  }
  uint64_t offset() const override { return feed_.offset(); }
  void shutdown() override { feed_.shutdown(); }

 private:
  PsyncFeed feed_;
  std::vector<resp::KeyRef> keys_;
};

}  // namespace

Result<std::unique_ptr<StoreSession>> RedisAdapter::open_session(const std::string& address) {
  SLIPRING_ASSIGN(const Endpoint endpoint, endpoint_of_(address));
  SLIPRING_ASSIGN(std::unique_ptr<RedisSession> session, RedisSession::connect(endpoint));
  SLIPRING_TRY(confirm_ended(*session));
  return std::unique_ptr<StoreSession>(std::move(session));
}

void RedisAdapter::abandon(std::unique_ptr<StoreSession> session) {
  const auto& redis = static_cast<const RedisSession&>(*session);
  const std::lock_guard lock(mutex_);
  abandoned_.push_back({redis.endpoint().address, redis.run_id(), redis.client_id()});
}

Status RedisAdapter::confirm_ended(RedisSession& session) {
  for (;;) {
    Abandoned next;
    {
      const std::lock_guard lock(mutex_);
      const auto it = std::find_if(abandoned_.begin(), abandoned_.end(),
                                   [&](const Abandoned& a) { return a.address == session.endpoint().address; });
      if (it == abandoned_.end()) return {};
      next = *it;
    }
    // Another process has none of the old one's connections, and the number may be somebody else's there.
    if (next.run_id == session.run_id()) SLIPRING_TRY(session.kill_client(next.client_id));
    const std::lock_guard lock(mutex_);
    std::erase(abandoned_, next);
  }
}

Result<std::unique_ptr<StoreFeed>> RedisAdapter::open_feed(const std::string& address) {
  SLIPRING_ASSIGN(const Endpoint endpoint, endpoint_of_(address));
  SLIPRING_ASSIGN(PsyncFeed feed, PsyncFeed::open(endpoint, clock_));
  return std::unique_ptr<StoreFeed>(std::make_unique<RedisFeed>(std::move(feed)));
}

}  // namespace slipring::redis
