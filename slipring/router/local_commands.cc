#include "slipring/router/local_commands.h"

#include <fmt/format.h>

#include <array>

#include "slipring/base/parse.h"
#include "slipring/protocol/resp/decimal.h"
#include "slipring/router/command_replies.h"

namespace slipring::router {
namespace {

using resp::CommandId;
using resp::Version;

// The command set and its answers are those of this version.
constexpr std::string_view kRedisVersion = "7.0.15";
constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";

// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && !b.empty(); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
  }
  return different == 0;
}

// One user, "default", as in a Redis without ACL users: without a password for it any is right.
bool login(std::string_view user, std::string_view password, const LocalFacts& facts, Session& session) {
  if (user != "default") return false;
  if (!facts.client_password.empty() && !same_secret(password, facts.client_password)) return false;
  session.authenticated = true;
  return true;
}

constexpr std::string_view kWrongPass = "WRONGPASS invalid username-password pair or user is disabled.";

bool is_name(std::string_view text) {
  for (const char c : text) {
    if (c < '!' || c > '~') return false;
  }
  return true;
}

// What a client sent, on one line of bounded length.
std::string printable(std::string_view text, size_t bytes_max) {
  std::string out(text.substr(0, bytes_max));
  for (char& c : out) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return out;
}

std::string syntax_error(std::string_view option) {
  return fmt::format("ERR Syntax error in HELLO option '{}'", printable(option, 128));
}

void append_hello(const Session& session, std::string& out) {
  resp::append_map_header(out, 7, session.version);
  resp::append_bulk(out, "server");
  resp::append_bulk(out, "redis");
  resp::append_bulk(out, "version");
  resp::append_bulk(out, kRedisVersion);
  resp::append_bulk(out, "proto");
  resp::append_int(out, static_cast<int64_t>(session.version));
  resp::append_bulk(out, "id");
  resp::append_int(out, static_cast<int64_t>(session.id));
  resp::append_bulk(out, "mode");
  resp::append_bulk(out, "standalone");
  resp::append_bulk(out, "role");
  resp::append_bulk(out, "master");
  resp::append_bulk(out, "modules");
  resp::append_array_header(out, 0);
}

}  // namespace

void answer_ping(const resp::Args& args, std::string& out) {
  if (args.size() > 2) {
    resp::append_error(out, "ERR wrong number of arguments for 'ping' command");
  } else if (args.size() == 2) {
    resp::append_bulk(out, args[1]);
  } else {
    resp::append_simple(out, "PONG");
  }
}

namespace {

void answer_auth(const resp::Args& args, const LocalFacts& facts, Session& session, std::string& out) {
  if (args.size() > 3) return resp::append_error(out, "ERR syntax error");
  if (args.size() == 2 && facts.client_password.empty()) {
    return resp::append_error(out,
                              "ERR AUTH <password> called without any password configured for the default user. Are "
                              "you sure your configuration is correct?");
  }
  const std::string_view user = args.size() == 3 ? args[1] : "default";
  if (!login(user, args[args.size() - 1], facts, session)) return resp::append_error(out, kWrongPass);
  resp::append_simple(out, "OK");
}

}  // namespace

bool changes_version(const resp::Args& args, const Session& session) {
  return args.size() > 1 && args[1] != (session.version == Version::kResp3 ? "3" : "2");
}

namespace {

void answer_hello(const resp::Args& args, const LocalFacts& facts, Session& session, std::string& out) {
  Version version = session.version;
  size_t at = 1;
  if (args.size() > 1) {
    int64_t wanted = 0;
    if (!resp::parse_decimal(args[1], wanted)) {
      return resp::append_error(out, "ERR Protocol version is not an integer or out of range");
    }
    if (wanted != 2 && wanted != 3) return resp::append_error(out, "NOPROTO unsupported protocol version");
    version = wanted == 3 ? Version::kResp3 : Version::kResp2;
    at = 2;
  }
  std::string_view name;
  bool named = false;
  while (at < args.size()) {
    if (resp::equals_lower(args[at], "auth") && at + 2 < args.size()) {
      if (!login(args[at + 1], args[at + 2], facts, session)) return resp::append_error(out, kWrongPass);
      at += 3;
    } else if (resp::equals_lower(args[at], "setname") && at + 1 < args.size()) {
      name = args[at + 1];
      named = true;
      at += 2;
    } else {
      return resp::append_error(out, syntax_error(args[at]));
    }
  }
  if (!session.authenticated) {
    return resp::append_error(out,
                              "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                              "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
                              "RESP protocol version at the same time");
  }
  if (named && !is_name(name)) {
    return resp::append_error(out, "ERR Client names cannot contain spaces, newlines or special characters.");
  }
  if (named) session.named().name = name;
  session.version = version;
  append_hello(session, out);
}

void answer_select(const resp::Args& args, std::string& out) {
  int64_t database = 0;
  if (!resp::parse_decimal(args[1], database)) return resp::append_error(out, kNotAnInteger);
  if (database != 0) return resp::append_error(out, "ERR DB index is out of range");
  resp::append_simple(out, "OK");
}

void client_setname(const resp::Args& args, Session& session, std::string& out) {
  if (!is_name(args[2])) {
    return resp::append_error(out, "ERR Client names cannot contain spaces, newlines or special characters.");
  }
  session.named().name = args[2];
  resp::append_simple(out, "OK");
}

void client_setinfo(const resp::Args& args, Session& session, std::string& out) {
  const bool library = resp::equals_lower(args[2], "lib-name");
  if (!library && !resp::equals_lower(args[2], "lib-ver")) {
    return resp::append_error(out, fmt::format("ERR Unrecognized option '{}'", printable(args[2], 128)));
  }
  if (!is_name(args[3])) {
    return resp::append_error(out, fmt::format("ERR {} cannot contain spaces, newlines or special characters.",
                                               library ? "lib-name" : "lib-ver"));
  }
  (library ? session.named().library : session.named().library_version) = args[3];
  resp::append_simple(out, "OK");
}

std::string client_line(const LocalFacts& facts, const Session& session) {
  static const ClientNames kNone;
  const ClientNames& names = session.names ? *session.names : kNone;
  return fmt::format("id={} laddr={} name={} db=0 resp={} user=default lib-name={} lib-ver={}\n", session.id,
                     facts.listen, names.name, static_cast<int>(session.version), names.library, names.library_version);
}

void client_getname(const Session& session, std::string& out) {
  if (!session.names || session.names->name.empty()) return resp::append_null(out, session.version);
  resp::append_bulk(out, session.names->name);
}

void answer_info(const resp::Args& args, const LocalFacts& facts, const Session& session, std::string& out) {
  const auto wanted = [&](std::string_view section) {
    if (args.size() == 1) return true;
    for (size_t i = 1; i < args.size(); ++i) {
      for (const std::string_view all :
           {std::string_view("all"), std::string_view("default"), std::string_view("everything"), section}) {
        if (resp::equals_lower(args[i], all)) return true;
      }
    }
    return false;
  };
  std::string text;
  const auto section = [&](std::string_view name, const std::string& lines) {
    if (!wanted(name)) return;
    if (!text.empty()) text += "\r\n";
    text += lines;
  };
  section("server", fmt::format("# Server\r\nredis_version:{}\r\nredis_mode:standalone\r\nrun_id:{}\r\n"
                                "server_time_usec:{}\r\nuptime_in_seconds:{}\r\nuptime_in_days:{}\r\n",
                                kRedisVersion, facts.run_id, facts.unix_us, facts.uptime_s, facts.uptime_s / 86400));
  section("clients", fmt::format("# Clients\r\nconnected_clients:{}\r\n", facts.clients));
  section("stats", fmt::format("# Stats\r\ntotal_connections_received:{}\r\ntotal_commands_processed:{}\r\n",
                               facts.clients_total, facts.commands));
  section("replication", "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
  section("cluster", "# Cluster\r\ncluster_enabled:0\r\n");
  section("slipring", fmt::format("# Slipring\r\nslipring_router:{}\r\nslipring_epoch:{}\r\nslipring_generation:{}\r\n"
                                  "slipring_nodes:{}\r\n",
                                  facts.router_id, facts.epoch, facts.generation, facts.nodes));
  resp::append_verbatim(out, "txt", text, session.version);
}

// Settings that clients ask for, in the order of their names. The router keeps nothing itself: what the store servers
// persist is theirs.
constexpr std::pair<std::string_view, std::string_view> kSettings[] = {
    {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", "0"}, {"maxmemory-policy", "noeviction"},
    {"save", ""},         {"timeout", "0"},
};

// CONFIG GET PATTERN...: each setting that a pattern matches, once.
void answer_config_get(const resp::Args& args, const Session& session, std::string& out) {
  const auto asked = [&](std::string_view name) {
    for (size_t i = 2; i < args.size(); ++i) {
      if (matches_glob(name, args[i])) return true;
    }
    return false;
  };
  size_t found = 0;
  for (const auto& [name, value] : kSettings) found += asked(name) ? 1 : 0;
  resp::append_map_header(out, found, session.version);
  for (const auto& [name, value] : kSettings) {
    if (!asked(name)) continue;
    resp::append_bulk(out, name);
    resp::append_bulk(out, value);
  }
}

void answer_time(const LocalFacts& facts, std::string& out) {
  resp::append_array_header(out, 2);
  resp::append_bulk(out, std::to_string(facts.unix_us / 1'000'000));
  resp::append_bulk(out, std::to_string(facts.unix_us % 1'000'000));
}

void answer_reset(const LocalFacts& facts, Session& session, std::string& out) {
  session.version = Version::kResp2;
  session.names.reset();
  session.authenticated = facts.client_password.empty();
  resp::append_simple(out, "RESET");
}

}  // namespace

// `*` stands for any text, `?` for any character; one pass back to the last star is enough.
bool matches_glob(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;
  size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || resp::equals_lower(pattern.substr(p, 1), text.substr(t, 1)))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

LocalEffect answer_locally(const resp::CommandInfo& info, const resp::Args& args, const LocalFacts& facts,
                           Session& session, std::string& out) {
  switch (info.id) {
    case CommandId::kPing:
      answer_ping(args, out);
      break;
    case CommandId::kEcho:
      resp::append_bulk(out, args[1]);
      break;
    case CommandId::kAuth:
      answer_auth(args, facts, session, out);
      break;
    case CommandId::kHello:
      answer_hello(args, facts, session, out);
      break;
    case CommandId::kSelect:
      answer_select(args, out);
      break;
    case CommandId::kInfo:
      answer_info(args, facts, session, out);
      break;
    case CommandId::kConfigGet:
      answer_config_get(args, session, out);
      break;
    case CommandId::kTime:
      answer_time(facts, out);
      break;
    case CommandId::kReset:
      answer_reset(facts, session, out);
      break;
    case CommandId::kClientSetname:
      client_setname(args, session, out);
      break;
    case CommandId::kClientSetinfo:
      client_setinfo(args, session, out);
      break;
    case CommandId::kClientGetname:
      client_getname(session, out);
      break;
    case CommandId::kClientId:
      resp::append_int(out, static_cast<int64_t>(session.id));
      break;
    case CommandId::kClientInfo:
    case CommandId::kClientList:
      resp::append_verbatim(out, "txt", client_line(facts, session), session.version);
      break;
    case CommandId::kReadonly:
    case CommandId::kReadwrite:
    case CommandId::kAsking:
      resp::append_error(out, "ERR This instance has cluster support disabled");
      break;
    case CommandId::kCommand:
    case CommandId::kCommandCount:
    case CommandId::kCommandDocs:
    case CommandId::kCommandGetkeys:
    case CommandId::kCommandInfo:
    case CommandId::kCommandList:
      answer_command(info, args, session, out);
      break;
    default:
      resp::append_simple(out, "OK");
      break;  // QUIT, UNWATCH, CLIENT NO-EVICT, NO-TOUCH
  }
  return info.id == CommandId::kQuit ? LocalEffect::kClose : LocalEffect::kNone;
}

}  // namespace slipring::router
