#include "slipring/cli/config_table.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring::cli {
namespace {

constexpr uint64_t kNone = 0;
constexpr uint64_t kRateMax = 1ull << 40;
constexpr uint64_t kHourMs = 3'600'000;

constexpr TableInfo kTables[] = {
    {"controller", "A controller: `slipring controller --config FILE`."},
    {"move", "How keys are moved: defaults of every plan, and its limits."},
    {"router", "A router: `slipring router --config FILE`."},
    {"up", "`slipring up`: everything on one machine. Its options on the command line win over the file."},
};

#define SLIPRING_FIELD(expression) [](Config& c) -> Field { return &c.expression; }
constexpr Setting kSettings[] = {
    {"controller", "id", ValueKind::kName, SLIPRING_FIELD(controller.id),
     "Name of this controller, stable over restarts and different from every other one of the cluster."},
    {"controller", "dir", ValueKind::kPath, SLIPRING_FIELD(controller.dir),
     "Directory of the metadata store and of the checkpoints of moves. Made with mode 0700. Required."},
    {"controller", "api", ValueKind::kAddress, SLIPRING_FIELD(controller.api),
     "Where the HTTP API listens. Anything but a loopback address needs `api_token_file`."},
    {"controller", "api_token_file", ValueKind::kPath, SLIPRING_FIELD(controller.api_token_file),
     "File, mode 0600, with the bearer token that every call but /healthz must carry. Empty: none, loopback only."},
    {"controller", "channel", ValueKind::kAddress, SLIPRING_FIELD(controller.channel), "Where routers connect."},
    {"controller", "channel_token_file", ValueKind::kPath, SLIPRING_FIELD(controller.channel_token_file),
     "File, mode 0600, with the token that a router must present to join. Required."},
    {"controller", "credentials_file", ValueKind::kPath, SLIPRING_FIELD(controller.credentials_file),
     "File, mode 0600, that says how to log in to store servers: one line a server, `address user password`, where the "
     "address `*` fits any. Read again whenever a server is connected to. Empty: no passwords."},
    {"controller", "supervisor", ValueKind::kPath, SLIPRING_FIELD(controller.supervisor),
     "Socket of the `slipring up` that runs the store servers; written by `up` itself."},
    {"controller", "lease", ValueKind::kDuration, SLIPRING_FIELD(controller.lease_ms),
     "How long the leader leads without renewing its lease, which it does three times as often: a shorter one hands over "
     "sooner after a crash, a longer one survives longer stalls of the machine. The same on all controllers.",
     500, 60'000},

    {"move", "grace", ValueKind::kDuration, SLIPRING_FIELD(controller.plan.grace_ms),
     "How long after the cutover a plan can be rolled back with the new writes kept. 0: cleanup follows at once.", 0,
     365 * 24 * kHourMs},
    {"move", "keys_per_second", ValueKind::kCount, SLIPRING_FIELD(controller.plan.keys_per_second),
     "Keys copied a second, over the whole plan. 0: no limit.", 0, kRateMax},
    {"move", "bytes_per_second", ValueKind::kBytes, SLIPRING_FIELD(controller.plan.bytes_per_second),
     "Bytes copied a second, over the whole plan. 0: no limit.", 0, kRateMax},
    {"move", "hold_bound", ValueKind::kDuration, SLIPRING_FIELD(controller.plan.hold_bound_ms),
     "How long a router holds commands for moving keys before it asks to withdraw the attempt; doubled for each "
     "attempt "
     "that failed, up to half of hold_max.",
     10, 60'000},
    {"move", "hold_max", ValueKind::kDuration, SLIPRING_FIELD(controller.plan.hold_max_ms),
     "How long a router holds them while it cannot learn the attempt's outcome, before it answers -TRYAGAIN.", 10,
     60'000},
    {"move", "attempts_max", ValueKind::kCount, SLIPRING_FIELD(controller.plan.attempts_max),
     "Failed attempts at a cutover before the move stops with the reason.", 1, 1000},
    {"move", "key_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(controller.plan.key_bytes_max),
     "A key whose serialised value is larger is refused by preflight and stops its move.", 1 << 10, 512ull << 20},
    {"move", "unreachable", ValueKind::kDuration, SLIPRING_FIELD(controller.plan.unreachable_ms),
     "How long a server that owns moved keys may not answer before its move waits for a decision.", 100, 24 * kHourMs},
    {"move", "accept_weaker", ValueKind::kFlag, SLIPRING_FIELD(controller.plan.accept_weaker),
     "Whether a target may persist less, or have fewer replicas, than the source of its keys."},

    {"router", "id", ValueKind::kName, SLIPRING_FIELD(router.id),
     "Name of this router, stable over restarts and different from every other one. Required."},
    {"router", "listen", ValueKind::kAddress, SLIPRING_FIELD(router.listen), "Where clients connect. Required."},
    {"router", "pool", ValueKind::kText, SLIPRING_FIELD(router.pool), "The pool that it serves; empty: the only one."},
    {"router", "http", ValueKind::kAddress, SLIPRING_FIELD(router.http),
     "Where /metrics, /healthz and /readyz are answered; empty: nowhere."},
    {"router", "client_password_file", ValueKind::kPath, SLIPRING_FIELD(router_password_file),
     "File, mode 0600, with what clients must give with AUTH or HELLO. Empty: no password."},
    {"router", "threads", ValueKind::kCount, SLIPRING_FIELD(router.threads), "Loop threads; at best one a core.", 1,
     256},
    {"router", "controllers", ValueKind::kAddressList, SLIPRING_FIELD(router.controllers),
     "Channel addresses of the controllers, tried in turn. Required."},
    {"router", "token_file", ValueKind::kPath, SLIPRING_FIELD(router.token_file),
     "File, mode 0600, with the token of the controllers' `channel_token_file`. Required."},
    {"router", "node_credentials_file", ValueKind::kPath, SLIPRING_FIELD(router_node_credentials_file),
     "Only for a pool with fence = \"names\": a file like the controllers' `credentials_file`, with which the router logs "
     "in to the servers. Empty: no passwords."},
    {"router", "dir", ValueKind::kPath, SLIPRING_FIELD(router.dir),
     "Where the last snapshot is kept, so that the router can start while no controller answers. Empty: nowhere."},
    {"router", "clients_max", ValueKind::kCount, SLIPRING_FIELD(router.limits.clients_max),
     "Clients at a time; further ones get an error and are closed.", 1, 1'000'000},
    {"router", "args_max", ValueKind::kCount, SLIPRING_FIELD(router.limits.request.args_max), "Arguments of a command.",
     16, 1 << 20},
    {"router", "bulk_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.request.bulk_bytes_max),
     "One argument: a key, a value.", 1 << 10, 512u << 20},
    {"router", "line_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.request.line_bytes_max),
     "An inline command, and a line with a length.", 1 << 10, 1 << 20},
    {"router", "request_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.request.request_bytes_max),
     "One whole command.", 1 << 20, 1u << 30},
    {"router", "pipeline_depth_max", ValueKind::kCount, SLIPRING_FIELD(router.limits.pipeline_depth_max),
     "Commands of one client that wait for a reply; more are read once half of them is answered.", 1, 1 << 20},
    {"router", "client_output_pause_bytes", ValueKind::kBytes, SLIPRING_FIELD(router.limits.client_output_pause_bytes),
     "Replies that a client has not read, above which nothing more is read from it.", 1 << 10, 1ull << 30},
    {"router", "client_output_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.client_output_bytes_max),
     "The same, above which it is cut off.", 1 << 10, 1ull << 36},
    {"router", "client_stalled_max", ValueKind::kDuration, SLIPRING_FIELD(router.limits.client_stalled_ms_max),
     "A client that takes nothing of its waiting replies for this long is cut off.", 100, kHourMs},
    {"router", "transaction_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.transaction_bytes_max),
     "Commands queued by one MULTI.", 1 << 10, 1ull << 30},
    {"router", "node_backlog_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.node_backlog_bytes_max),
     "Requests that a server has not taken yet, above which new ones for it are refused.", 1 << 10, 1ull << 36},
    {"router", "buffered_bytes_max", ValueKind::kBytes, SLIPRING_FIELD(router.limits.buffered_bytes_max),
     "Everything buffered, above which the clients that hold much are cut off.", 1 << 20, 1ull << 40},
    {"router", "connect_timeout", ValueKind::kDuration, SLIPRING_FIELD(router.timeouts.connect_ms),
     "To a server: connecting, password and introduction together.", 10, 60'000},
    {"router", "request_timeout", ValueKind::kDuration, SLIPRING_FIELD(router.timeouts.request_ms),
     "For the reply of a server.", 10, kHourMs},
    {"router", "reconnect_min", ValueKind::kDuration, SLIPRING_FIELD(router.timeouts.reconnect_ms_min),
     "First pause before a server is connected to again.", 1, 60'000},
    {"router", "reconnect_max", ValueKind::kDuration, SLIPRING_FIELD(router.timeouts.reconnect_ms_max),
     "Longest pause.", 1, 60'000},
    {"router", "drain", ValueKind::kDuration, SLIPRING_FIELD(router.timeouts.drain_ms),
     "How long clients may finish what they have sent when the router ends.", 0, kHourMs},

    {"up", "nodes", ValueKind::kCount, SLIPRING_FIELD(up.nodes),
     "Store servers of the first start. Later ones come and go by `slipring node add` and `remove`.", 1, 64},
    {"up", "routers", ValueKind::kCount, SLIPRING_FIELD(up.routers), "Router processes.", 1, 64},
    {"up", "dir", ValueKind::kPath, SLIPRING_FIELD(up.dir), "Directory of all data, logs and secrets; mode 0700."},
    {"up", "listen", ValueKind::kAddress, SLIPRING_FIELD(up.listen),
     "Where clients connect: router i listens on this port + i - 1."},
    {"up", "api", ValueKind::kAddress, SLIPRING_FIELD(up.api), "Where the controller's HTTP API listens."},
    {"up", "fsync", ValueKind::kChoice, SLIPRING_FIELD(up.fsync),
     "`appendfsync` of the store servers: with everysec a power cut or kill -9 of a server can lose its last second.",
     kNone, kNone, "everysec|always|no"},
    {"up", "redis_server", ValueKind::kPath, SLIPRING_FIELD(up.redis_server),
     "The server program to start: redis-server or valkey-server, on the PATH or with its path."},
};
#undef SLIPRING_FIELD

constexpr PoolKey kPoolKeys[] = {
    {"pool", "name", "name", "", "Required. Other keys and commands refer to the pool by it."},
    {"pool", "kind", "\"store\" or \"cache\"", "\"store\"",
     "store: nothing acknowledged is lost. cache: values may be lost, but are never stale."},
    {"pool", "fence", "\"acl\" or \"names\"", "\"acl\"",
     "How outdated routers, movers and controllers are kept from its servers: by ACL users, or, weaker, by the names of "
     "their connections, for servers that have no ACL (docs/operations.md). It does not change later."},
    {"pool", "scheme", "text", "\"ring\"", "Placement scheme; `slipring schemes` lists them."},
    {"pool", "options", "table", "{}", "Options of the scheme, such as `{ vnodes = 512, seed = 0 }`."},
    {"pool", "replicas", "integer, 1 to 16", "1", "Length of a key's preference list."},
    {"pool", "key_prefix", "text", "\"\"",
     "Only keys that start with it belong to the pool; needed where servers are shared with other applications."},
    {"pool.node", "name", "name", "", "Required. Stable: placement follows it, not the address."},
    {"pool.node", "address", "host:port", "", "Required."},
    {"pool.node", "weight", "number, 0 to 1000, at most three places", "1", "Share of the keys; 0 owns nothing."},
    {"pool.node", "zone", "text", "\"\"", "Failure domain; empty: one of its own."},
    {"pool.node", "label", "text", "\"\"", "What the scheme hashes instead of the name."},
    {"pool.node", "attributes", "table", "{}", "What only some schemes need, such as `{ host = \"10.0.0.1\" }`."},
};

std::string describe_range(const Setting& s, const std::string& what, std::string (*format)(uint64_t)) {
  return fmt::format("{}, {} to {}", what, format(s.min), format(s.max));
}

std::string format_duration(uint64_t ms) {
  if (ms == 0) return "0";
  for (const auto& [suffix, unit] : {std::pair{"h", kHourMs}, {"m", uint64_t{60'000}}, {"s", uint64_t{1000}}}) {
    if (ms % unit == 0) return fmt::format("{}{}", ms / unit, suffix);
  }
  return fmt::format("{}ms", ms);
}

std::string format_bytes(uint64_t bytes) {
  if (bytes == 0) return "0";
  for (const auto& [suffix, unit] : {std::pair{"gb", 1ull << 30}, {"mb", 1ull << 20}, {"kb", 1ull << 10}}) {
    if (bytes % unit == 0) return fmt::format("{}{}", bytes / unit, suffix);
  }
  return fmt::format("{}", bytes);
}

std::string format_count(uint64_t count) {
  return fmt::format("{}", count);
}

uint64_t number_in(const Field& field) {
  return std::visit(
      [](const auto* p) -> uint64_t {
        if constexpr (std::is_integral_v<std::remove_reference_t<decltype(*p)>>) {
          return static_cast<uint64_t>(*p);
        } else {
          return 0;
        }
      },
      field);
}

std::string document_row(std::string_view key, std::string_view values, std::string_view otherwise,
                         std::string_view what) {
  return fmt::format("| `{}` | {} | {} | {} |\n", key, values, otherwise.empty() ? "" : fmt::format("`{}`", otherwise),
                     what);
}

constexpr std::string_view kRowHead = "| key | values | default | meaning |\n|---|---|---|---|\n";

std::string document_table(const TableInfo& table, const Config& defaults) {
  std::string text = fmt::format("## [{}]\n\n{}\n\n{}", table.name, table.what, kRowHead);
  for (const Setting& s : kSettings) {
    if (s.table == table.name) text += document_row(s.key, describe_values(s), format_value(s, defaults), s.what);
  }
  return text + "\n";
}

std::string document_pool_table(std::string_view table, std::string_view what) {
  std::string text = fmt::format("## [[{}]]\n\n{}\n\n{}", table, what, kRowHead);
  for (const PoolKey& k : kPoolKeys) {
    if (k.table == table) text += document_row(k.key, k.type, k.otherwise, k.what);
  }
  return text + "\n";
}

}  // namespace

std::span<const Setting> all_settings() {
  return kSettings;
}
std::span<const TableInfo> all_tables() {
  return kTables;
}
std::span<const PoolKey> pool_keys() {
  return kPoolKeys;
}

std::string describe_values(const Setting& s) {
  switch (s.kind) {
    case ValueKind::kText:
      return "text";
    case ValueKind::kName:
      return "name: 1 to 64 of A-Z a-z 0-9 . _ -";
    case ValueKind::kAddress:
      return "host:port";
    case ValueKind::kAddressList:
      return "array of host:port";
    case ValueKind::kPath:
      return "path";
    case ValueKind::kFlag:
      return "true or false";
    case ValueKind::kCount:
      return describe_range(s, "integer", format_count);
    case ValueKind::kDuration:
      return describe_range(s, "duration", format_duration);
    case ValueKind::kBytes:
      return describe_range(s, "bytes", format_bytes);
    case ValueKind::kChoice:
      break;
  }
  std::string text;
  for (const char c : s.choices) text += c == '|' ? std::string(", ") : std::string(1, c);
  return "one of " + text;
}

namespace {
// A basic string of TOML.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return out + "\"";
}
}  // namespace

std::string format_value(const Setting& s, const Config& config) {
  Config copy = config;
  const Field field = s.field(copy);
  if (const auto* text = std::get_if<std::string*>(&field)) return toml_string(**text);
  if (const auto* flag = std::get_if<bool*>(&field)) return **flag ? "true" : "false";
  if (const auto* list = std::get_if<std::vector<std::string>*>(&field)) {
    return fmt::format("[{}{}{}]", (*list)->empty() ? "" : "\"", fmt::join(**list, "\", \""),
                       (*list)->empty() ? "" : "\"");
  }
  const uint64_t number = number_in(field);
  if (s.kind == ValueKind::kDuration) return fmt::format("\"{}\"", format_duration(number));
  if (s.kind == ValueKind::kBytes) return fmt::format("\"{}\"", format_bytes(number));
  return format_count(number);
}

std::string config_document() {
  const Config defaults;
  std::string text =
      "# Configuration\n\n"
      "One TOML file may hold the tables of a controller, its pools, a router and `slipring up`. An unknown key, a "
      "value "
      "of the wrong type or one outside its limits is an error with file, line and column, and nothing starts: "
      "`slipring config check FILE` says so beforehand.\n\n"
      "The pools seed the first epoch and are not read again. `slipring config diff FILE` shows how the running "
      "topology "
      "differs from them; it changes nothing.\n\n"
      "Durations are written `\"250ms\"`, `\"10s\"`, `\"5m\"` or `\"2h\"`; bytes as an integer or `\"512kb\"`, "
      "`\"8mb\"`, "
      "`\"1gb\"` (factors of 1024).\n\n"
      "This page is written by `slipring config doc`; a test holds it to the program.\n\n";
  for (const TableInfo& table : kTables) text += document_table(table, defaults);
  text += document_pool_table("pool", "The pools of the first epoch.");
  text += document_pool_table("pool.node", "The nodes of the pool above, in order.");
  text.pop_back();
  return text;
}

}  // namespace slipring::cli
