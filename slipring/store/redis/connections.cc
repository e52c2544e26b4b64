#include "slipring/store/redis/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slipring/base/parse.h"

namespace slipring::redis {
namespace {

// A connection that a script of its own keeps busy ends a little after the reply to CLIENT KILL.
constexpr int kRoundsMax = 100;

// One line of CLIENT LIST: "id=3 addr=127.0.0.1:1 ... name= ... user=default ...".
Connection parse_line(std::string_view line) {
  std::map<std::string_view, std::string_view> fields;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
  }
  const auto text = [&](std::string_view key) { return std::string(fields[key]); };
  return {parse_u64(fields["id"], 0, UINT64_MAX).value_or(0),
          text("addr"),
          text("name"),
          text("user"),
          text("flags"),
          text("cmd")};
}

}  // namespace

Result<std::vector<Connection>> list_connections(Client& client) {
  SLIPRING_ASSIGN(const Reply list, client.call({"CLIENT", "LIST"}));
  std::vector<Connection> found;
  std::string_view rest = list.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (Connection connection = parse_line(line); connection.id != 0) found.push_back(std::move(connection));
  }
  return found;
}

Status end_connections(Client& client, const std::function<bool(std::string_view name)>& chosen) {
  SLIPRING_ASSIGN(std::vector<Connection> ending, list_connections(client));
  std::erase_if(ending, [&](const Connection& c) { return !chosen(c.name); });
  for (int round = 0; !ending.empty() && round < kRoundsMax; ++round) {
    for (const Connection& c : ending) client.append({"CLIENT", "KILL", "ID", std::to_string(c.id)});
    SLIPRING_TRY(client.flush());
    Status killed;
    for (size_t i = 0; i < ending.size(); ++i) {
      SLIPRING_ASSIGN(Reply reply, client.read_reply());
      if (const auto ok = as_result(std::move(reply)); !ok) killed = fail(ok.error());
    }
    if (!killed) return fail_in(client.endpoint().address + ": CLIENT KILL", killed.error());
    SLIPRING_ASSIGN(const std::vector<Connection> left, list_connections(client));
    std::erase_if(ending, [&](const Connection& c) {
      return std::none_of(left.begin(), left.end(), [&](const Connection& l) { return l.id == c.id; });
    });
  }
  if (ending.empty()) return {};
  return fail(Code::kUnavailable, fmt::format("{}: connection {} ({}) does not end", client.endpoint().address,
                                              ending.front().id, ending.front().name));
}

Result<bool> has_acl(Client& client) {
  SLIPRING_ASSIGN(const Reply reply, client.command({"ACL", "WHOAMI"}));
  return !reply.is_error() || reply.text.starts_with("NOPERM");
}

}  // namespace slipring::redis
