// Commands that the router answers itself: introduction, passwords, names, facts. Everything they need is handed in, so
// they are tested without sockets.
// Thread-safety: pure functions on the caller's session and string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipring/protocol/resp/command.h"
#include "slipring/router/session.h"

namespace slipring::router {

// What the answers tell about the router.
struct LocalFacts {
  std::string_view client_password;  // empty: none is needed
  std::string_view run_id;
  std::string_view router_id;
  std::string_view listen;
  uint64_t epoch = 0;
  uint64_t generation = 0;
  uint64_t nodes = 0;
  uint64_t uptime_s = 0;
  uint64_t clients = 0;
  uint64_t clients_total = 0;
  uint64_t commands = 0;
  int64_t unix_us = 0;
};

// What must happen beside the reply.
enum class LocalEffect : uint8_t {
  kNone,
  kClose,  // after the reply
};

// Appends one reply to `out`. REQUIRES: handling_of(info) is kAnswered and `args` has passed resolve_command().
LocalEffect answer_locally(const resp::CommandInfo& info, const resp::Args& args, const LocalFacts& facts,
                           Session& session, std::string& out);
// A name of lower-case letters against a client's pattern with `*` and `?`; cost |text| x |pattern| at most.
bool matches_glob(std::string_view text, std::string_view pattern);
void answer_ping(const resp::Args& args, std::string& out);

// The protocol version that a HELLO asks for if it is another than the session's: it must wait for everything before
// it.
bool changes_version(const resp::Args& args, const Session& session);

}  // namespace slipring::router
