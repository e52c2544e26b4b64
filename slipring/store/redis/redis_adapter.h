// Redis and Valkey as a StoreAdapter: DUMP and RESTORE, SCAN, UNLINK, the replication feed. Credentials are asked for
// with every connection, since a mover's user changes with its term.
//
// Thread-safety: as store_adapter.h.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "slipring/store/redis/client.h"
#include "slipring/store/store_adapter.h"

namespace slipring::redis {

class RedisSession;

class RedisAdapter final : public StoreAdapter {
 public:
  // The endpoint (user, password, connection name, time-outs) to use for an address.
  using EndpointOf = std::function<Result<Endpoint>(const std::string& address)>;

  // `clock` must outlive the adapter and its sessions.
  RedisAdapter(EndpointOf endpoint_of, const Clock& clock) : endpoint_of_(std::move(endpoint_of)), clock_(clock) {}

  Result<std::unique_ptr<StoreSession>> open_session(const std::string& address) override;
  Result<std::unique_ptr<StoreFeed>> open_feed(const std::string& address) override;
  void abandon(std::unique_ptr<StoreSession> session) override;

 private:
  // A connection that broke with requests on the way.
  struct Abandoned {
    std::string address;
    std::string run_id;
    int64_t client_id = 0;
    bool operator==(const Abandoned&) const = default;
  };
  // No abandoned request can run any more on the server that the session is connected to.
  Status confirm_ended(RedisSession& session);

  EndpointOf endpoint_of_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<Abandoned> abandoned_;
};

}  // namespace slipring::redis
