// Real servers behind a router that runs inside the test program, with a topology given by hand, and a client that
// shows the very bytes of replies. Thread-safety: one owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/net/blocking_stream.h"
#include "slipring/protocol/resp/reply.h"
#include "slipring/protocol/resp/write.h"
#include "slipring/router/router.h"
#include "tests/support/redis_server.h"

namespace slipring::testing {

// One connection. Every read ends by a time-out that fails the test.
class RawClient {
 public:
  explicit RawClient(int port);
  void send(std::string_view bytes);
  // Exactly so many bytes, fewer if the connection ended or nothing came in time.
  std::string read(size_t bytes);
  // One whole reply; "" if the connection ended or nothing came in time.
  std::string read_reply();
  std::string ask(std::initializer_list<std::string_view> args);
  std::string ask(const std::vector<std::string>& args);
  // Waits for the other side to end the connection.
  bool ended();
  void end_sending() { stream_.end_writing(); }
  void close() { stream_.close(); }

 private:
  bool receive();
  net::BlockingStream stream_;
  std::string got_;
};

class RouterFixture {
 public:
  explicit RouterFixture(int nodes, router::Options options = {});

  int port() const { return router_->port(); }
  router::Router& router() { return *router_; }
  RedisServer& server(int node) { return *servers_[static_cast<size_t>(node)]; }
  int node_count() const { return static_cast<int>(servers_.size()); }
  // Asks the server itself.
  std::string ask_server(int node, std::initializer_list<std::string_view> args);
  int keys_on(int node);
  // The node of a key, by the placement.
  int node_of(std::string_view key) const;
  // A key (of many) that lies on this node.
  std::string key_on(int node, std::string_view prefix = "k") const;
  const Snapshot& snapshot() const { return snapshot_; }
  void stop_router() { router_.reset(); }

 private:
  std::vector<std::unique_ptr<RedisServer>> servers_;
  Snapshot snapshot_;
  std::unique_ptr<router::Router> router_;
};

}  // namespace slipring::testing
