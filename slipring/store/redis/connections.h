// The connections that a server has, by the names that they gave themselves, and their end: the fence of servers without
// ACL (design/0008). Thread-safety: pure functions on the caller's connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/store/redis/client.h"

namespace slipring::redis {

struct Connection {
  uint64_t id = 0;
  std::string address;
  std::string name;
  std::string user;   // empty before Redis 6
  std::string flags;  // as CLIENT LIST shows them
  std::string last_command;
};

Result<std::vector<Connection>> list_connections(Client& client);

// Ends the connections that the server has now and whose name is chosen: nothing that they sent runs after the return.
// Such as come meanwhile are left alone. kUnavailable: some did not end, or the server does not answer.
Status end_connections(Client& client, const std::function<bool(std::string_view name)>& chosen);

// Whether the server knows the command ACL: Redis 6 and later, unless it is renamed.
Result<bool> has_acl(Client& client);

}  // namespace slipring::redis
