#include "slipring/import/envoy_routes.h"

#include <fmt/format.h>

namespace slipring::import {
namespace {

// Every map below the listeners that is the configuration of a redis_proxy.
void find_proxies(const Tree& tree, std::vector<const Tree*>& found) {
  const Tree* type = tree.find("@type");
  if (type != nullptr && type->text.ends_with("RedisProxy")) found.push_back(&tree);
  for (const Tree& item : tree.items) find_proxies(item, found);
  for (const Tree::Entry& entry : tree.fields) find_proxies(entry.value, found);
}

bool leads_to(const Tree& route, const std::string& cluster) {
  const Tree* target = route.find("cluster");
  return target != nullptr && target->text == cluster;
}

Status check_route(const Tree& route, const Draft& draft) {
  for (const char* field : {"remove_prefix", "key_formatter"}) {
    if (const Tree* part = route.find(field); part != nullptr && part->text != "false" && !part->text.empty())
      return draft.refused(part->at, fmt::format("{}: keys are stored under other names than clients use", field));
  }
  return {};
}

Status read_routes(const Tree& routes, const std::string& cluster, EnvoyRedisUse& use, size_t& uses, Draft& draft) {
  const Tree* by_prefix = routes.find("routes");
  if (by_prefix != nullptr) {
    for (const Tree& route : by_prefix->items) {
      const Tree* prefix = route.find("prefix");
      const std::string text = prefix == nullptr ? "" : prefix->text;
      if (!leads_to(route, cluster)) {
        draft.note(route.at, fmt::format("prefix \"{}\": these keys belong to another cluster, not imported", text));
        continue;
      }
      SLIPRING_TRY(check_route(route, draft));
      ++uses;
      use.key_prefix = text;
      draft.note(route.at, fmt::format("prefix \"{}\": only these keys belong to the pool", text));
    }
  }
  const Tree* rest = routes.find("catch_all_route");
  if (rest == nullptr || !leads_to(*rest, cluster)) return {};
  SLIPRING_TRY(check_route(*rest, draft));
  ++uses;
  return {};
}

}  // namespace

Result<EnvoyRedisUse> find_redis_use(const Tree& root, const std::string& cluster, Draft& draft) {
  EnvoyRedisUse use;
  std::vector<const Tree*> proxies;
  find_proxies(root, proxies);
  size_t uses = 0;
  for (const Tree* proxy : proxies) {
    const size_t before = uses;
    if (leads_to(*proxy, cluster)) ++uses;  // of old versions
    if (const Tree* routes = proxy->find("prefix_routes")) {
      SLIPRING_TRY(read_routes(*routes, cluster, use, uses, draft));
      const Tree* fold = routes->find("case_insensitive");
      if (uses > before && fold != nullptr && fold->text == "true" && !use.key_prefix.empty())
        return draft.refused(fold->at, "case_insensitive: a pool's key_prefix is compared byte by byte");
    }
    if (uses == before) continue;
    const Tree* tag = proxy->find_path({"settings", "enable_hashtagging"});
    use.hash_tag = tag != nullptr && tag->text == "true";
    use.found = true;
    if (uses > 1) return draft.refused(proxy->at, fmt::format("several routes lead to cluster {}", cluster));
  }
  return use;
}

}  // namespace slipring::import
