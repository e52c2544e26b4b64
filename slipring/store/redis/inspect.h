// Gathers ServerFacts from a Redis or Valkey server with INFO, CONFIG GET, TIME and CLIENT LIST. Reads only.
// Thread-safety: uses the caller's connection.
#pragma once

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/store/redis/client.h"
#include "slipring/store/server_facts.h"

namespace slipring::redis {

// Slipring's own connections carry names with this prefix.
inline constexpr std::string_view kOwnConnectionPrefix = "slipring/";

// kUnavailable: the server does not answer or is LOADING; kPermissionDenied: the user may not read what is needed.
Result<ServerFacts> inspect(Client& client, const Clock& clock);

// Of inspect() only what one INFO tells; settings and clients are left empty.
Result<ServerFacts> pulse(Client& client);

// Only run id, role and replication id: one INFO round trip, for the checks inside a hold.
struct LiveState {
  ServerIdentity identity;
  bool loading = false;
  uint64_t replication_offset = 0;
};
Result<LiveState> live_state(Client& client);

}  // namespace slipring::redis
