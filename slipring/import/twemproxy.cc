// nutcracker.yml: pools of servers, one directive a line.
#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/import/tree.h"

namespace slipring::import {
namespace {

struct Directive {
  std::string_view name;
  std::string_view note;  // empty: read below
};

// What nutcracker knows besides, and what becomes of it.
constexpr Directive kDirectives[] = {
    {"hash", ""},
    {"hash_tag", ""},
    {"distribution", ""},
    {"servers", ""},
    {"redis", ""},
    {"redis_db", ""},
    {"auto_eject_hosts", ""},
    {"listen", "routers listen where [router] says"},
    {"timeout", "[router] request_timeout is the nearest"},
    {"backlog", "no such setting"},
    {"client_connections", "[router] clients_max is the nearest"},
    {"preconnect", "routers connect when they start"},
    {"redis_auth", "passwords of servers stand in the controller's credentials_file"},
    {"tcpkeepalive", "always on"},
    {"reuseport", "routers do so by themselves"},
    {"server_connections", "routers share connections"},
    {"server_retry_timeout", "[router] reconnect_min and reconnect_max are the nearest"},
    {"server_failure_limit", "a server that does not answer keeps its keys"},
};

const Directive* find_directive(std::string_view name) {
  for (const Directive& directive : kDirectives) {
    if (directive.name == name) return &directive;
  }
  return nullptr;
}

// "host:port:weight", "host:port:weight name", "/path:weight name".
Status read_server(const Tree& item, Draft& draft) {
  SLIPRING_ASSIGN(const std::string text, text_of(item, "server", draft));
  const size_t blank = text.find(' ');
  const std::string_view front = std::string_view(text).substr(0, blank);
  std::string_view name = blank == text.npos ? std::string_view() : std::string_view(text).substr(blank + 1);
  while (name.starts_with(' ')) name.remove_prefix(1);
  const size_t colon = front.rfind(':');
  if (colon == front.npos) return draft.broken(item.at, fmt::format("server \"{}\": no host:port:weight", text));
  const std::string_view address = front.substr(0, colon);
  if (address.starts_with('/'))
    return draft.refused(item.at,
                         fmt::format("server \"{}\": a Unix socket; routers reach servers by host:port", text));
  SLIPRING_ASSIGN(Node * node, draft.add_node(item.at, name.empty() ? address : name, address, name));
  SLIPRING_ASSIGN(node->weight_milli, weight_of(draft, item.at, front.substr(colon + 1)));
  if (node->weight_milli % 1000 != 0) return draft.broken(item.at, "a weight must be a whole number");
  if (name.empty()) node->attributes["address"] = std::string(address);
  return {};
}

Status read_redis(const Tree& pool, const Options& options, Draft& draft) {
  bool redis = false;
  if (const Tree* value = pool.find("redis")) {
    SLIPRING_ASSIGN(redis, flag_of(*value, "redis", draft));
  }
  draft.set_protocol(redis ? Protocol::kRedis : Protocol::kMemcached);
  if (const Tree* value = pool.find("redis_db"); value != nullptr && value->text != "0")
    return draft.refused(value->at, "redis_db: routers serve database 0 only");
  const Tree* eject = pool.find("auto_eject_hosts");
  if (eject == nullptr) return {};
  SLIPRING_ASSIGN(const bool ejects, flag_of(*eject, "auto_eject_hosts", draft));
  const bool store = options.kind.value_or(redis ? PoolKind::kStore : PoolKind::kCache) == PoolKind::kStore;
  if (ejects) {
    draft.note(eject->at,
               fmt::format("auto_eject_hosts: not carried over: {}",
                           store ? "a server that is down keeps its keys, which answer errors (keys that "
                                   "were written while one was ejected lie elsewhere: --verify-live shows it)"
                                 : "ejection is a change of the topology, not a router's own opinion"));
  }
  return {};
}

Status read_scheme(const Tree& pool, Draft& draft) {
  draft.set_scheme("twemproxy");
  auto& options = draft.scheme_options();
  options = {{"distribution", "ketama"}, {"hash", "fnv1a_64"}};
  for (const char* name : {"distribution", "hash", "hash_tag"}) {
    const Tree* value = pool.find(name);
    if (value == nullptr) continue;
    SLIPRING_ASSIGN(options[name], text_of(*value, name, draft));
    if (options[name] == "random" && std::string_view(name) == "distribution")
      return draft.refused(value->at, "distribution random: a key has no owner under it");
  }
  return {};
}

}  // namespace

Status read_twemproxy(std::string_view text, const Options& options, Draft& draft) {
  SLIPRING_ASSIGN(const Tree root, parse_yaml(text, draft));
  SLIPRING_TRY(expect_map(root, "nutcracker.yml", draft));
  std::vector<std::string> names;
  for (const Tree::Entry& pool : root.fields) names.push_back(pool.key);
  SLIPRING_ASSIGN(const size_t chosen, choose(draft, "pool", names, options.pool));
  for (size_t i = 0; i < root.fields.size(); ++i) {
    if (i != chosen) draft.note(root.fields[i].at, fmt::format("{}: another pool, not imported", root.fields[i].key));
  }
  const Tree& pool = root.fields[chosen].value;
  draft.set_pool_name(names[chosen]);
  SLIPRING_TRY(expect_map(pool, names[chosen], draft));
  for (const Tree::Entry& entry : pool.fields) {
    const Directive* known = find_directive(entry.key);
    if (known == nullptr) return draft.broken(entry.at, fmt::format("{}: nutcracker has no such directive", entry.key));
    if (!known->note.empty()) draft.note(entry.at, fmt::format("{}: not carried over: {}", entry.key, known->note));
  }
  SLIPRING_TRY(read_scheme(pool, draft));
  SLIPRING_TRY(read_redis(pool, options, draft));
  const Tree* servers = pool.find("servers");
  if (servers == nullptr) return draft.broken(root.fields[chosen].at, "servers: is missing");
  SLIPRING_TRY(expect_list(*servers, "servers", draft));
  draft.servers_at = servers->at;
  for (const Tree& server : servers->items) SLIPRING_TRY(read_server(server, draft));
  return {};
}

}  // namespace slipring::import
