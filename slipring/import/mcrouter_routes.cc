#include "slipring/import/mcrouter_routes.h"

#include <fmt/format.h>

namespace slipring::import {
namespace {

constexpr std::string_view kPoolRoute = "PoolRoute|";

class Finder {
 public:
  explicit Finder(Draft& draft) : draft_(draft) {}

  // `above` holds what the routes above say of the keys.
  Status walk(const Tree& route, const McrouterUse& above) {
    if (route.is_scalar()) return walk_text(route, above);
    const Tree* type = route.find("type");
    if (type == nullptr) return draft_.broken(route.at, "a route without a type");
    if (type->text == "PoolRoute") return add_pool_route(route, above);
    if (type->text == "PrefixSelectorRoute") return walk_prefixes(route, above);
    McrouterUse below = above;
    below.unclear_at = type->at;
    below.unclear = fmt::format("{}: it may send a key to another pool", type->text);
    return walk_children(route, below);
  }

  std::vector<McrouterUse> take() { return std::move(uses_); }

 private:
  Status walk_text(const Tree& route, const McrouterUse& above) {
    if (!route.text.starts_with(kPoolRoute)) {
      draft_.note(route.at, fmt::format("route {}: not carried over", route.text.substr(0, 100)));
      return {};
    }
    McrouterUse use = above;
    use.pool = route.text.substr(kPoolRoute.size());
    use.at = route.at;
    use.hash.at = route.at;
    return add(std::move(use));
  }

  Status add_pool_route(const Tree& route, const McrouterUse& above) {
    McrouterUse use = above;
    use.at = route.at;
    for (const Tree::Entry& entry : route.fields) {
      if (entry.key == "pool") {
        if (entry.value.is_map())
          return draft_.refused(entry.value.at, "a pool that stands in its route: name it in \"pools\"");
        use.pool = entry.value.text;
      } else if (entry.key == "hash") {
        SLIPRING_TRY(read_hash(entry.value, use.hash));
      } else if (entry.key == "bucketize" || entry.key == "shadows") {
        if (entry.key == "bucketize" && entry.value.text != "false")
          return draft_.refused(entry.at, "bucketize: keys are sent by their bucket");
        draft_.note(entry.at, fmt::format("{}: not carried over", entry.key));
      } else if (entry.key != "type") {
        draft_.note(entry.at, fmt::format("{}: not carried over: no part of placement", entry.key));
      }
    }
    if (use.pool.empty()) return draft_.broken(route.at, "PoolRoute: pool is missing");
    return add(std::move(use));
  }

  Status read_hash(const Tree& tree, McrouterHash& hash) {
    hash.at = tree.at;
    if (tree.is_scalar()) {
      hash.function = tree.text;
      return {};
    }
    SLIPRING_TRY(expect_map(tree, "hash", draft_));
    for (const Tree::Entry& entry : tree.fields) {
      if (entry.key == "hash_func") {
        hash.function = entry.value.text;
      } else if (entry.key == "weights") {
        hash.weights = &entry.value;
      } else if (entry.key == "tags") {
        hash.tags = &entry.value;
      } else if (entry.key == "salt") {
        hash.salt = &entry.value;
      } else {
        return draft_.refused(entry.at, fmt::format("hash: {}: it may change where a key goes", entry.key));
      }
    }
    return {};
  }

  Status walk_prefixes(const Tree& route, const McrouterUse& above) {
    const Tree* policies = route.find("policies");
    if (policies != nullptr) {
      for (const Tree::Entry& entry : policies->fields) {
        McrouterUse below = above;
        below.key_prefix = entry.key;
        if (!above.key_prefix.empty()) {
          below.unclear_at = entry.value.at;
          below.unclear = "prefixes within prefixes";
        }
        SLIPRING_TRY(walk(entry.value, below));
      }
    }
    const Tree* wildcard = route.find("wildcard");
    return wildcard == nullptr ? Status() : walk(*wildcard, above);
  }

  // Every route below, wherever its type keeps it.
  Status walk_children(const Tree& tree, const McrouterUse& above) {
    for (const Tree& item : tree.items) SLIPRING_TRY(walk_child(item, above));
    for (const Tree::Entry& entry : tree.fields) {
      if (entry.key != "type") SLIPRING_TRY(walk_child(entry.value, above));
    }
    return {};
  }
  Status walk_child(const Tree& tree, const McrouterUse& above) {
    const bool route = tree.find("type") != nullptr || (tree.is_scalar() && tree.text.starts_with(kPoolRoute));
    if (route) return walk(tree, above);
    return walk_children(tree, above);
  }

  Status add(McrouterUse use) {
    for (McrouterUse& known : uses_) {
      if (known.pool != use.pool) continue;
      if (known.unclear.empty()) {
        known.unclear_at = use.at;
        known.unclear = fmt::format("several routes lead to pool {}", use.pool);
      }
      return {};
    }
    uses_.push_back(std::move(use));
    return {};
  }

  Draft& draft_;
  std::vector<McrouterUse> uses_;
};

}  // namespace

Result<std::vector<McrouterUse>> find_mcrouter_uses(const Tree& root, Draft& draft) {
  Finder finder(draft);
  const Tree* route = root.find("route");
  const Tree* routes = root.find("routes");
  if (route == nullptr && routes == nullptr) return draft.broken(root.at, "neither \"route\" nor \"routes\"");
  if (route != nullptr) SLIPRING_TRY(finder.walk(*route, {}));
  if (routes != nullptr) {
    SLIPRING_TRY(expect_list(*routes, "routes", draft));
    for (const Tree& item : routes->items) {
      const Tree* below = item.find("route");
      if (below == nullptr) return draft.broken(item.at, "route: is missing");
      draft.note(item.at, "aliases: not carried over: send keys without a routing prefix");
      SLIPRING_TRY(finder.walk(*below, {}));
    }
  }
  return finder.take();
}

}  // namespace slipring::import
