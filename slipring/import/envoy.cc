// Envoy: a cluster whose lb_policy is RING_HASH or MAGLEV, and, where the text has listeners, the redis_proxy that
// sends keys to it.
#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/import/envoy_routes.h"
#include "slipring/import/tree.h"

namespace slipring::import {
namespace {

// A bootstrap, `clusters:`, a list of clusters, or one cluster.
std::vector<const Tree*> clusters_of(const Tree& root) {
  const Tree* list = root.find_path({"static_resources", "clusters"});
  if (list == nullptr) list = root.find("clusters");
  if (list == nullptr && root.is_list()) list = &root;
  std::vector<const Tree*> found;
  if (list == nullptr) {
    if (root.find("lb_policy") != nullptr) found.push_back(&root);
    return found;
  }
  for (const Tree& cluster : list->items) {
    if (cluster.find("name") != nullptr) found.push_back(&cluster);
  }
  return found;
}

// An option of the scheme from a number of the configuration, written plainly or as {value: N}.
Status take_number(const Tree& config, std::string_view field, const char* option, Draft& draft) {
  const Tree* value = config.find(field);
  if (value == nullptr) return {};
  if (value->is_map() && value->find("value") != nullptr) value = value->find("value");
  SLIPRING_ASSIGN(const std::string text, text_of(*value, field, draft));
  if (!parse_u64(text, 0, UINT64_MAX)) return draft.broken(value->at, fmt::format("{}: must be a whole number", field));
  draft.scheme_options()[option] = text;
  return {};
}

Status read_ring_hash(const Tree& cluster, Draft& draft) {
  draft.set_scheme("envoy-ring-hash");
  const Tree* config = cluster.find("ring_hash_lb_config");
  if (config == nullptr) return {};
  SLIPRING_TRY(take_number(*config, "minimum_ring_size", "min_ring_size", draft));
  SLIPRING_TRY(take_number(*config, "maximum_ring_size", "max_ring_size", draft));
  const Tree* function = config->find("hash_function");
  if (function == nullptr || function->text == "XX_HASH") return {};
  if (function->text != "MURMUR_HASH_2")
    return draft.broken(function->at, fmt::format("hash_function {}: unknown", function->text.substr(0, 64)));
  draft.scheme_options()["hash"] = "murmur2";
  return {};
}

Status read_policy(const Tree& cluster, Draft& draft) {
  if (const Tree* policy = cluster.find("load_balancing_policy"))
    return draft.refused(policy->at, "load_balancing_policy: write it as lb_policy with its *_lb_config");
  const Tree* policy = cluster.find("lb_policy");
  const std::string name = policy == nullptr ? "ROUND_ROBIN" : policy->text;
  const Mark at = policy == nullptr ? cluster.at : policy->at;
  if (name == "RING_HASH") return read_ring_hash(cluster, draft);
  if (name != "MAGLEV")
    return draft.refused(at, fmt::format("lb_policy {}: a key has no host of its own under it", name));
  draft.set_scheme("envoy-maglev");
  const Tree* config = cluster.find("maglev_lb_config");
  return config == nullptr ? Status() : take_number(*config, "table_size", "table_size", draft);
}

struct Hashing {
  bool by_hostname = false;
};

Result<Hashing> read_hashing(const Tree& cluster, Draft& draft) {
  Hashing hashing;
  const Tree* common = cluster.find("common_lb_config");
  if (common == nullptr) return hashing;
  for (const char* field : {"zone_aware_lb_config", "locality_weighted_lb_config"}) {
    if (const Tree* part = common->find(field))
      return draft.refused(part->at, fmt::format("{}: hosts depend on where the client is", field));
  }
  const Tree* consistent = common->find("consistent_hashing_lb_config");
  if (consistent == nullptr) return hashing;
  if (const Tree* factor = consistent->find("hash_balance_factor"))
    return draft.refused(factor->at, "hash_balance_factor: where a key goes depends on the load");
  if (const Tree* hostname = consistent->find("use_hostname_for_hashing")) {
    SLIPRING_ASSIGN(hashing.by_hostname, flag_of(*hostname, "use_hostname_for_hashing", draft));
  }
  return hashing;
}

// ---- hosts
// -----------------------------------------------------------------------------------------------------------

Result<std::string> address_of(const Tree& endpoint, const Draft& draft) {
  const Tree* socket = endpoint.find_path({"address", "socket_address"});
  if (socket == nullptr) return draft.refused(endpoint.at, "an endpoint without socket_address");
  const Tree* host = socket->find("address");
  const Tree* port = socket->find("port_value");
  if (host == nullptr || port == nullptr)
    return draft.broken(socket->at, "socket_address: needs address and port_value");
  SLIPRING_ASSIGN(const std::string name, text_of(*host, "address", draft));
  SLIPRING_ASSIGN(const std::string number, text_of(*port, "port_value", draft));
  const bool v6 = name.find(':') != name.npos && !name.starts_with('[');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", name, v6 ? "]" : "", number);
}

// What Envoy hashes of a host: metadata, its hostname where that is asked for, its address.
Result<std::string> label_of(const Tree& host, const Tree& endpoint, const std::string& address, bool by_hostname,
                             const Draft& draft) {
  if (const Tree* key = host.find_path({"metadata", "filter_metadata", "envoy.lb", "hash_key"}))
    return text_of(*key, "hash_key", draft);
  if (!by_hostname) return address;
  const Tree* hostname = endpoint.find("hostname");
  if (hostname == nullptr) return draft.broken(endpoint.at, "hostname: is missing, and hashed");
  return text_of(*hostname, "hostname", draft);
}

Status read_host(const Tree& host, bool by_hostname, Draft& draft) {
  const Tree* endpoint = host.find("endpoint");
  if (endpoint == nullptr) return draft.refused(host.at, "an endpoint that is not written out");
  SLIPRING_ASSIGN(const std::string address, address_of(*endpoint, draft));
  SLIPRING_ASSIGN(const std::string label, label_of(host, *endpoint, address, by_hostname, draft));
  SLIPRING_ASSIGN(Node * node, draft.add_node(host.at, address, address, label));
  if (const Tree* status = host.find("health_status"); status != nullptr && status->text != "HEALTHY")
    return draft.refused(status->at, fmt::format("health_status {}: it takes the host out of the ring", status->text));
  const Tree* weight = host.find("load_balancing_weight");
  if (weight == nullptr) return {};
  if (weight->is_map() && weight->find("value") != nullptr) weight = weight->find("value");
  SLIPRING_ASSIGN(const std::string text, text_of(*weight, "load_balancing_weight", draft));
  SLIPRING_ASSIGN(node->weight_milli, weight_of(draft, weight->at, text));
  return {};
}

Status read_hosts(const Tree& cluster, bool by_hostname, Draft& draft) {
  const Tree* localities = cluster.find_path({"load_assignment", "endpoints"});
  if (localities == nullptr)
    return draft.refused(cluster.at, "no load_assignment.endpoints: the hosts are not in the text");
  SLIPRING_TRY(expect_list(*localities, "endpoints", draft));
  draft.servers_at = localities->at;
  for (const Tree& locality : localities->items) {
    if (const Tree* priority = locality.find("priority"); priority != nullptr && priority->text != "0")
      return draft.refused(priority->at, "priority: hosts that serve only when others are down");
    if (const Tree* weight = locality.find("load_balancing_weight"))
      return draft.refused(weight->at, "load_balancing_weight of a locality");
    const std::string zone = locality.find_path({"locality", "zone"}) == nullptr
                                 ? std::string()
                                 : locality.find_path({"locality", "zone"})->text;
    const Tree* hosts = locality.find("lb_endpoints");
    if (hosts == nullptr) continue;
    SLIPRING_TRY(expect_list(*hosts, "lb_endpoints", draft));
    for (const Tree& host : hosts->items) {
      SLIPRING_TRY(read_host(host, by_hostname, draft));
      draft.pool().layout.nodes.back().zone = zone;
    }
  }
  return {};
}

// ---- what is hashed of a key
// -----------------------------------------------------------------------------------------

Status read_keys(const Tree& root, const std::string& cluster, const Options& options, Draft& draft) {
  SLIPRING_ASSIGN(const EnvoyRedisUse use, find_redis_use(root, cluster, draft));
  if (use.found || options.protocol == Protocol::kRedis) {
    draft.set_protocol(Protocol::kRedis);
    draft.pool().key_prefix = use.key_prefix;
    draft.scheme_options()["key_hash"] = "murmur2";
    if (use.hash_tag) draft.scheme_options()["tag"] = "redis";
    if (!use.found) draft.note({}, "no redis_proxy in the text: hash tags are taken as off (enable_hashtagging)");
    return {};
  }
  if (options.protocol == Protocol::kUnknown) {
    return draft.refused({},
                         fmt::format("what hashes the keys of cluster {} is not in the text: name it with --protocol "
                                     "redis (redis_proxy) or http (a route's hash_policy)",
                                     cluster));
  }
  draft.set_protocol(options.protocol);
  draft.note({}, "the key is the text that the route's hash_policy takes, alone");
  return {};
}

// Fields of a cluster that are read above.
bool is_read(const std::string& field) {
  return field == "name" || field == "lb_policy" || field == "ring_hash_lb_config" || field == "maglev_lb_config" ||
         field == "common_lb_config" || field == "load_assignment";
}

}  // namespace

Status read_envoy(std::string_view text, const Options& options, Draft& draft) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != text.npos && (text[first] == '{' || text[first] == '[');
  SLIPRING_ASSIGN(const Tree root, json ? parse_json(text, draft) : parse_yaml(text, draft));
  const std::vector<const Tree*> clusters = clusters_of(root);
  std::vector<std::string> names;
  for (const Tree* cluster : clusters) names.push_back(cluster->find("name") ? cluster->find("name")->text : "main");
  SLIPRING_ASSIGN(const size_t chosen, choose(draft, "cluster", names, options.pool));
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != chosen) draft.note(clusters[i]->at, fmt::format("cluster {}: not imported", names[i]));
  }
  const Tree& cluster = *clusters[chosen];
  draft.set_pool_name(names[chosen]);
  for (const char* field : {"lb_subset_config", "slow_start_config"}) {
    if (const Tree* part = cluster.find(field))
      return draft.refused(part->at, fmt::format("{}: it decides beside the hash where a key goes", field));
  }
  for (const Tree::Entry& entry : cluster.fields) {
    if (!is_read(entry.key)) draft.note(entry.at, fmt::format("{}: not carried over: no part of placement", entry.key));
  }
  SLIPRING_TRY(read_policy(cluster, draft));
  SLIPRING_ASSIGN(const Hashing hashing, read_hashing(cluster, draft));
  SLIPRING_TRY(read_keys(root, names[chosen], options, draft));
  return read_hosts(cluster, hashing.by_hostname, draft);
}

}  // namespace slipring::import
