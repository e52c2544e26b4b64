// What a router is started with, and its limits by name. Thread-safety: values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/channel/messages.h"
#include "slipring/protocol/resp/request.h"
#include "slipring/topology/snapshot.h"

namespace slipring::router {

struct Limits {
  uint32_t clients_max = 10'000;  // further ones get an error and are closed
  resp::RequestLimits request;
  // Commands of one client that wait for a reply; more are read once half of them is answered.
  uint32_t pipeline_depth_max = 1024;
  // Replies that a client has not read: beyond the first the router reads nothing more from it, beyond the second it is
  // cut off.
  uint64_t client_output_pause_bytes = 1u << 20;
  uint64_t client_output_bytes_max = 256u << 20;
  // A client that takes nothing of its waiting replies for this long is cut off.
  int64_t client_stalled_ms_max = 60'000;
  // Commands queued by one MULTI.
  uint64_t transaction_bytes_max = 64u << 20;
  // Requests that a server has not taken yet: beyond it new ones for this server are refused.
  uint64_t node_backlog_bytes_max = 64u << 20;
  // Everything buffered, over all threads: beyond it the clients that hold much are cut off.
  uint64_t buffered_bytes_max = 4ull << 30;
};

struct Timeouts {
  int64_t connect_ms = 1000;  // TCP, password and introduction together
  int64_t request_ms = 5000;
  int64_t reconnect_ms_min = 50;
  int64_t reconnect_ms_max = 1000;
  // drain(): how long clients may take to finish.
  int64_t drain_ms = 10'000;
};

// A topology given by hand, for tests and for fleets without a controller: nothing moves.
struct StaticTopology {
  Snapshot snapshot;
  channel::Credentials credentials;  // generation 0: servers without passwords
};

// How to log in to a server that is fenced by names.
struct NodeLogin {
  std::string user;  // empty: the server knows passwords only
  std::string password;
};

struct Options {
  std::string id;      // stable name, [A-Za-z0-9._-]{1,64}
  std::string listen;  // "host:port"; port 0 takes a free one
  std::string pool;    // empty: the only one
  std::string http;    // "host:port" of /metrics, /healthz, /readyz; empty: none
  // What clients must give with AUTH or HELLO; empty: no password.
  std::string client_password;
  uint32_t threads = 1;
  std::vector<std::string> controllers;  // channel addresses, tried in turn
  std::string token_file;                // join token, mode 0600
  // Asked for each connection to a server that is fenced by names, on the loops' threads; empty: no password.
  std::function<Result<NodeLogin>(const std::string& address)> login_of;
  std::string dir;                       // where router-ID.state is kept; empty: nothing is kept
  std::optional<StaticTopology> topology;
  Limits limits;
  Timeouts timeouts;
};

}  // namespace slipring::router
