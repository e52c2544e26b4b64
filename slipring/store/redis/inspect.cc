#include "slipring/store/redis/inspect.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/store/redis/connections.h"
#include "slipring/store/redis/users.h"

namespace slipring::redis {
namespace {

using Fields = std::map<std::string, std::string>;

std::string text_of(const Fields& fields, const std::string& key) {
  const auto it = fields.find(key);
  return it == fields.end() ? "" : it->second;
}

uint64_t number_of(const Fields& fields, const std::string& key) {
  return parse_u64(text_of(fields, key), 0, UINT64_MAX).value_or(0);
}

ServerIdentity identity_of(const Fields& fields) {
  return {text_of(fields, "run_id"), text_of(fields, "role"), text_of(fields, "master_replid")};
}

// "keys=12,expires=3,avg_ttl=0" -> 12.
uint64_t keys_of(std::string_view keyspace) {
  if (!keyspace.starts_with("keys=")) return 0;
  keyspace.remove_prefix(5);
  return parse_u64(keyspace.substr(0, keyspace.find(',')), 0, UINT64_MAX).value_or(0);
}

Result<Fields> config(Client& client, std::initializer_list<std::string_view> names) {
  std::vector<std::string_view> args = {"CONFIG", "GET"};
  args.insert(args.end(), names.begin(), names.end());
  SLIPRING_ASSIGN(const Reply reply, client.call(std::span<const std::string_view>(args)));
  Fields fields;
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) fields[reply.items[i].text] = reply.items[i + 1].text;
  return fields;
}

Result<std::vector<ForeignClient>> foreign_clients(Client& client) {
  SLIPRING_ASSIGN(const Reply own_id, client.call({"CLIENT", "ID"}));
  SLIPRING_ASSIGN(const std::vector<Connection> all, list_connections(client));
  std::vector<ForeignClient> found;
  for (const Connection& c : all) {
    const bool replica = c.flags.find_first_of("SM") != std::string::npos;
    const bool own = c.name.starts_with(kOwnConnectionPrefix) || is_slipring_user(c.name) || is_slipring_user(c.user) ||
                     c.id == static_cast<uint64_t>(own_id.integer);
    if (replica || own) continue;
    found.push_back({c.address, c.user, c.name, c.flags.find('b') != std::string::npos, c.last_command});
  }
  return found;
}

Result<int64_t> clock_ahead_ms(Client& client, const Clock& clock) {
  const int64_t before = clock.wall_ms();
  SLIPRING_ASSIGN(const Reply time, client.call({"TIME"}));
  const int64_t after = clock.wall_ms();
  if (time.items.size() != 2) return fail(Code::kDataLoss, "TIME: no pair of numbers");
  SLIPRING_ASSIGN(const int64_t seconds, parse_i64(time.items[0].text, 0, INT64_MAX / 2000));
  SLIPRING_ASSIGN(const int64_t micros, parse_i64(time.items[1].text, 0, 999'999));
  return seconds * 1000 + micros / 1000 - (before + after) / 2;
}

void take_info(const Fields& info, ServerFacts& facts) {
  facts.identity = identity_of(info);
  facts.version = text_of(info, "redis_version");
  facts.cluster_mode = text_of(info, "redis_mode") == "cluster" || text_of(info, "cluster_enabled") == "1";
  facts.loading = number_of(info, "loading") != 0;
  facts.used_memory_bytes = number_of(info, "used_memory");
  facts.max_memory_bytes = number_of(info, "maxmemory");
  facts.system_memory_bytes = number_of(info, "total_system_memory");
  facts.max_memory_policy = text_of(info, "maxmemory_policy");
  facts.evicted_keys = number_of(info, "evicted_keys");
  facts.append_only = number_of(info, "aof_enabled") != 0;
  facts.background_save_running =
      number_of(info, "rdb_bgsave_in_progress") != 0 || number_of(info, "aof_rewrite_in_progress") != 0;
  facts.connected_replicas = number_of(info, "connected_slaves");
  facts.backlog_active = number_of(info, "repl_backlog_active") != 0;
  facts.replication_offset = number_of(info, "master_repl_offset");
  facts.total_forks = number_of(info, "total_forks");
  facts.function_libraries = number_of(info, "number_of_libraries");
  facts.users_persisted = !text_of(info, "config_file").empty();
  for (const auto& [key, value] : info) {
    if (!key.starts_with("db")) continue;
    if (auto database = parse_u64(std::string_view(key).substr(2), 0, 1'000'000)) {
      facts.keys_by_database[static_cast<uint32_t>(*database)] = keys_of(value);
    }
  }
}

void take_config(const Fields& config, ServerFacts& facts) {
  facts.append_fsync = text_of(config, "appendfsync");
  facts.saves_rdb = !text_of(config, "save").empty();
  facts.min_replicas_to_write = number_of(config, "min-replicas-to-write");
  facts.diskless_sync = text_of(config, "repl-diskless-sync") == "yes";
  facts.diskless_sync_delay_s = number_of(config, "repl-diskless-sync-delay");
  facts.diskless_sync_max_replicas = number_of(config, "repl-diskless-sync-max-replicas");
  facts.max_bulk_bytes = number_of(config, "proto-max-bulk-len");
  if (!text_of(config, "aclfile").empty()) facts.users_persisted = true;
}

}  // namespace

Result<ServerFacts> pulse(Client& client) {
  ServerFacts facts;
  facts.address = client.endpoint().address;
  SLIPRING_ASSIGN(const Fields info, client.info("everything"));
  take_info(info, facts);
  return facts;
}

Result<ServerFacts> inspect(Client& client, const Clock& clock) {
  SLIPRING_ASSIGN(ServerFacts facts, pulse(client));
  SLIPRING_ASSIGN(
      const Fields settings,
      config(client, {"appendfsync", "save", "min-replicas-to-write", "repl-diskless-sync", "repl-diskless-sync-delay",
                      "repl-diskless-sync-max-replicas", "proto-max-bulk-len", "aclfile"}));
  take_config(settings, facts);
  SLIPRING_ASSIGN(facts.clock_ahead_ms, clock_ahead_ms(client, clock));
  SLIPRING_ASSIGN(facts.foreign_clients, foreign_clients(client));
  SLIPRING_ASSIGN(facts.has_acl, has_acl(client));
  return facts;
}

Result<LiveState> live_state(Client& client) {
  client.append({"INFO", "server"});
  client.append({"INFO", "replication"});
  client.append({"INFO", "persistence"});
  SLIPRING_TRY(client.flush());
  std::string text;
  for (int i = 0; i < 3; ++i) {
    SLIPRING_ASSIGN(Reply reply, client.read_reply());
    SLIPRING_ASSIGN(reply, as_result(std::move(reply)));
    text += reply.text;
  }
  const Fields fields = parse_info(text);
  return LiveState{identity_of(fields), number_of(fields, "loading") != 0, number_of(fields, "master_repl_offset")};
}

}  // namespace slipring::redis
