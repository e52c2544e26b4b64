// mcrouter's configuration: one pool and the PoolRoute that leads to it.
#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/import/mcrouter_routes.h"
#include "slipring/import/tree.h"

namespace slipring::import {
namespace {

// "host:port", "[v6]:port", with ":protocol" and more behind.
std::string_view address_of(std::string_view text) {
  const size_t host_end = text.starts_with('[') ? text.find(']') : 0;
  if (host_end == text.npos) return text;
  const size_t colon = text.find(':', host_end);
  if (colon == text.npos) return text;
  return text.substr(0, text.find(':', colon + 1));
}

// The scheme of a hash function. kFailedPrecondition: one that gives keys no server of their own, or is not offered.
Result<std::string> scheme_of(const McrouterHash& hash, const Draft& draft) {
  const std::pair<std::string_view, const char*> known[] = {{"Ch3", "mcrouter-ch3"},
                                                            {"WeightedCh3", "mcrouter-weighted-ch3"},
                                                            {"WeightedCh4", "mcrouter-weighted-furc"},
                                                            {"Rendezvous", "mcrouter-rendezvous"},
                                                            {"WeightedRendezvous", "mcrouter-weighted-rendezvous"}};
  for (const auto& [name, scheme] : known) {
    if (hash.function == name) return std::string(scheme);
  }
  return draft.refused(hash.at,
                       fmt::format("hash_func {}: no scheme places keys as it does", hash.function.substr(0, 64)));
}

Status give_weights(const McrouterHash& hash, Draft& draft) {
  std::vector<Node>& nodes = draft.pool().layout.nodes;
  // The weight of a server that the list does not reach.
  for (Node& node : nodes) node.weight_milli = 500;
  if (hash.weights == nullptr) return draft.broken(hash.at, fmt::format("{}: weights are missing", hash.function));
  SLIPRING_TRY(expect_list(*hash.weights, "weights", draft));
  for (size_t i = 0; i < hash.weights->items.size(); ++i) {
    const Tree& item = hash.weights->items[i];
    if (i >= nodes.size()) {
      draft.note(item.at, "a weight without a server");
      continue;
    }
    SLIPRING_ASSIGN(const std::string text, text_of(item, "weight", draft));
    SLIPRING_ASSIGN(nodes[i].weight_milli, weight_of(draft, item.at, text));
    if (nodes[i].weight_milli > 1000) return draft.broken(item.at, "a weight must be 0 to 1");
  }
  return {};
}

// What rendezvous hashing hashes of a server: its tag.
Status give_tags(const McrouterHash& hash, Draft& draft) {
  std::vector<Node>& nodes = draft.pool().layout.nodes;
  if (hash.tags == nullptr) return draft.broken(hash.at, fmt::format("{}: tags are missing", hash.function));
  SLIPRING_TRY(expect_list(*hash.tags, "tags", draft));
  if (hash.tags->items.size() != nodes.size())
    return draft.broken(hash.tags->at, fmt::format("{} tags but {} servers", hash.tags->items.size(), nodes.size()));
  for (size_t i = 0; i < nodes.size(); ++i) {
    SLIPRING_ASSIGN(nodes[i].label, text_of(hash.tags->items[i], "tag", draft));
  }
  return {};
}

Status read_servers(const Tree& servers, Draft& draft) {
  SLIPRING_TRY(expect_list(servers, "servers", draft));
  draft.servers_at = servers.at;
  for (const Tree& server : servers.items) {
    if (!server.is_scalar()) return draft.refused(server.at, "a server that is not written as \"host:port\"");
    const std::string_view address = address_of(server.text);
    if (address.starts_with('/') || server.text.starts_with("unix:"))
      return draft.refused(
          server.at, fmt::format("server \"{}\": a Unix socket; routers reach servers by host:port", server.text));
    SLIPRING_TRY(draft.add_node(server.at, address, address));
    if (address != server.text)
      draft.note(server.at,
                 fmt::format("server {}: not carried over: {}", address, server.text.substr(address.size())));
  }
  return {};
}

Status read_pool(const Tree& pool, Draft& draft) {
  for (const Tree::Entry& entry : pool.fields) {
    if (entry.key == "inherit") return draft.refused(entry.at, "inherit: the servers are not in the text");
    if (entry.key == "keep_routing_prefix") {
      draft.note(entry.at, "keep_routing_prefix: not carried over: send keys without a routing prefix");
    } else if (entry.key != "servers" && entry.key != "weights" && entry.key != "tags") {
      draft.note(entry.at, fmt::format("{}: not carried over: no part of placement", entry.key));
    }
  }
  const Tree* servers = pool.find("servers");
  if (servers == nullptr) return draft.broken(pool.at, "servers: is missing");
  return read_servers(*servers, draft);
}

Status read_hash(const McrouterHash& hash, Draft& draft) {
  if (hash.salt != nullptr && !hash.salt->text.empty())
    return draft.refused(hash.salt->at, "salt: keys are hashed with a text behind them");
  SLIPRING_ASSIGN(std::string scheme, scheme_of(hash, draft));
  const bool weighted = scheme.find("weighted") != scheme.npos;
  const bool tagged = scheme.ends_with("rendezvous");
  draft.set_scheme(std::move(scheme));
  draft.scheme_options()["hash_stop"] = "true";
  // One server is not hashed for.
  if (draft.pool().layout.nodes.size() < 2) return {};
  if (weighted) SLIPRING_TRY(give_weights(hash, draft));
  return tagged ? give_tags(hash, draft) : Status();
}

}  // namespace

Status read_mcrouter(std::string_view text, const Options& options, Draft& draft) {
  SLIPRING_ASSIGN(const Tree root, parse_json(text, draft));
  SLIPRING_TRY(expect_map(root, "the configuration", draft));
  SLIPRING_ASSIGN(const std::vector<McrouterUse> uses, find_mcrouter_uses(root, draft));
  std::vector<std::string> names;
  for (const McrouterUse& use : uses) names.push_back(use.pool);
  SLIPRING_ASSIGN(const size_t chosen, choose(draft, "pool", names, options.pool));
  const McrouterUse& use = uses[chosen];
  if (!use.unclear.empty()) return draft.refused(use.unclear_at, use.unclear);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == chosen) continue;
    draft.note(uses[i].at, uses[i].key_prefix.empty()
                               ? fmt::format("pool {}: not imported", names[i])
                               : fmt::format("prefix \"{}\": these keys belong to pool {}, not imported",
                                             uses[i].key_prefix, names[i]));
  }
  const Tree* pool = root.find_path({"pools", use.pool});
  if (pool == nullptr) return draft.broken(use.at, fmt::format("pool {}: is not in \"pools\"", use.pool));
  SLIPRING_TRY(expect_map(*pool, "pool", draft));
  draft.set_protocol(Protocol::kMemcached);
  draft.set_pool_name(use.pool);
  draft.pool().key_prefix = use.key_prefix;
  if (!use.key_prefix.empty())
    draft.note(use.at, fmt::format("prefix \"{}\": only these keys belong to the pool", use.key_prefix));
  SLIPRING_TRY(read_pool(*pool, draft));
  McrouterHash hash = use.hash;
  if (hash.weights == nullptr) hash.weights = pool->find("weights");
  if (hash.tags == nullptr) hash.tags = pool->find("tags");
  if (hash.function.empty()) hash.function = pool->find("weights") != nullptr ? "WeightedCh3" : "Ch3";
  return read_hash(hash, draft);
}

}  // namespace slipring::import
