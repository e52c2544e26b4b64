// Snapshots for tests, here and in modules above: small valid ones to start from, and random ones from a seed.
//
// Invariant: the same seed gives the same snapshot; every one has distinct names; valid_snapshot()s pass validate().
// Thread-safety: pure functions.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "slipring/base/random.h"
#include "slipring/topology/snapshot.h"

namespace slipring::testing {

inline Node make_node(const std::string& name, int port, const std::string& zone = "", int64_t weight_milli = 1000) {
  Node node;
  node.name = name;
  node.zone = zone;
  node.weight_milli = weight_milli;
  node.instance = {fmt::format("127.0.0.1:{}", port), 1};
  return node;
}

// Nodes n1..n<count> at ports first_port, first_port + 1, ... under `scheme`.
inline Layout make_layout(size_t count, int first_port = 7001, const std::string& scheme = "modulo") {
  Layout layout;
  layout.scheme.name = scheme;
  for (size_t i = 0; i < count; ++i) {
    layout.nodes.push_back(make_node(fmt::format("n{}", i + 1), first_port + static_cast<int>(i)));
  }
  return layout;
}

// Every pair of instances and every slice, owned by the source.
inline std::vector<MoveOwner> all_moves(const Layout& before, const Layout& after, uint32_t slices) {
  std::vector<MoveOwner> moves;
  for (const Node& source : before.nodes) {
    for (const Node& target : after.nodes) {
      if (source.instance == target.instance) continue;
      for (uint32_t slice = 0; slice < slices; ++slice)
        moves.push_back({source.instance, target.instance, slice, false});
    }
  }
  std::sort(moves.begin(), moves.end(), [](const MoveOwner& a, const MoveOwner& b) {
    return std::tie(a.source, a.target, a.slice) < std::tie(b.source, b.target, b.slice);
  });
  return moves;
}

// One store pool "main".
inline Snapshot make_snapshot(size_t nodes, uint64_t epoch = 1, const std::string& scheme = "modulo") {
  Snapshot snapshot;
  snapshot.epoch = Epoch{epoch};
  snapshot.cluster_id = "0123456789abcdef";
  snapshot.pools.push_back({"main", PoolKind::kStore, "", make_layout(nodes, 7001, scheme), std::nullopt});
  return snapshot;
}

// The same with an open plan that adds a node.
inline Snapshot make_planned_snapshot(size_t nodes, uint32_t slices = 16, const std::string& scheme = "modulo") {
  Snapshot snapshot = make_snapshot(nodes, 2, scheme);
  Pool& pool = snapshot.pools[0];
  OpenPlan plan{1, make_layout(nodes + 1, 7001, scheme), slices, {}};
  plan.moves = all_moves(pool.layout, plan.next, slices);
  pool.plan = std::move(plan);
  return snapshot;
}

// Any bytes, also ones that no name has: at most max_bytes.
inline std::string random_bytes(Random& random, size_t max_bytes) {
  std::string bytes(random.below(max_bytes + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(random.below(256));
  return bytes;
}

inline std::map<std::string, std::string> random_map(Random& random) {
  std::map<std::string, std::string> map;
  for (uint64_t n = random.below(4); n > 0; --n) map[random_bytes(random, 8)] = random_bytes(random, 40);
  return map;
}

inline Instance random_instance(Random& random) {
  return {random_bytes(random, 30), random.next()};
}

inline Layout random_layout(Random& random) {
  Layout layout{{random_bytes(random, 12), random_map(random)}, {}, static_cast<uint32_t>(random.next())};
  for (uint64_t i = 0; i < 8; ++i) {
    if (random.chance(0.4)) continue;
    layout.nodes.push_back({fmt::format("n{}", i), random_bytes(random, 10), random_bytes(random, 10),
                            static_cast<int64_t>(random.next()), random_map(random), random_instance(random)});
  }
  // Fisher and Yates.
  for (size_t i = layout.nodes.size(); i > 1; --i) std::swap(layout.nodes[i - 1], layout.nodes[random.below(i)]);
  return layout;
}

inline OpenPlan random_plan(Random& random) {
  OpenPlan plan{random.below(3), random_layout(random), static_cast<uint32_t>(random.next()), {}};
  for (uint64_t n = random.below(20); n > 0; --n) {
    plan.moves.push_back({random_instance(random), random_instance(random), static_cast<uint32_t>(random.below(4096)),
                          random.chance(0.5)});
  }
  return plan;
}

// Anything that the types can hold; hardly ever valid.
inline Snapshot random_snapshot(uint64_t seed) {
  Random random(seed);
  Snapshot snapshot{Epoch{random.next()}, random_bytes(random, 20), {}};
  for (uint64_t i = 0; i < 5; ++i) {
    if (random.chance(0.5)) continue;
    const PoolKind kind = random.chance(0.5) ? PoolKind::kStore : PoolKind::kCache;
    snapshot.pools.push_back({fmt::format("p{}", i), kind, random_bytes(random, 10), random_layout(random), {}});
    snapshot.pools.back().fence = random.chance(0.5) ? PoolFence::kAcl : PoolFence::kNames;
    if (random.chance(0.5)) snapshot.pools.back().plan = random_plan(random);
  }
  for (size_t i = snapshot.pools.size(); i > 1; --i) std::swap(snapshot.pools[i - 1], snapshot.pools[random.below(i)]);
  return snapshot;
}

// One small change of the kind that epochs make, in place.
inline void mutate(Snapshot& snapshot, Random& random) {
  if (snapshot.pools.empty() || random.chance(0.1)) return void(snapshot.epoch = next(snapshot.epoch));
  Pool& pool = snapshot.pools[random.below(snapshot.pools.size())];
  std::vector<Node>& nodes = pool.layout.nodes;
  switch (random.below(7)) {
    case 0:
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(random.below(nodes.size() + 1)),
                   make_node(fmt::format("m{}", random.next()), 1));
      break;
    case 1:
      if (!nodes.empty()) nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(random.below(nodes.size())));
      break;
    case 2:
      if (!nodes.empty()) nodes[random.below(nodes.size())].weight_milli = 1;
      break;
    case 3:
      std::rotate(nodes.begin(), nodes.begin() + (nodes.empty() ? 0 : 1), nodes.end());
      break;
    case 4:
      pool.layout.scheme.options["vnodes"] = fmt::format("{}", random.below(1000));
      break;
    case 5:
      pool.plan = random.chance(0.5) ? std::optional(random_plan(random)) : std::nullopt;
      break;
    case 6:
      if (pool.plan && !pool.plan->moves.empty()) {
        MoveOwner& move = pool.plan->moves[random.below(pool.plan->moves.size())];
        move.target_owns = !move.target_owns;
      }
      break;
  }
}

// A valid one with 1 to 3 pools and, for some, an open plan.
inline Snapshot valid_snapshot(uint64_t seed) {
  Random random(seed);
  Snapshot snapshot{Epoch{1 + random.below(1000)}, fmt::format("{:016x}", random.next()), {}};
  const uint64_t pools = 1 + random.below(3);
  for (uint64_t p = 0; p < pools; ++p) {
    const int port = 1000 * static_cast<int>(p + 1);
    Pool pool{fmt::format("pool-{}", p), PoolKind::kStore, "", make_layout(1 + random.below(6), port), std::nullopt};
    if (random.chance(0.5)) {
      OpenPlan plan{1 + random.below(9), make_layout(1 + random.below(6), port), random.chance(0.5) ? 1u : 16u, {}};
      plan.moves = all_moves(pool.layout, plan.next, plan.slices);
      for (MoveOwner& move : plan.moves) move.target_owns = random.chance(0.5);
      pool.plan = std::move(plan);
    }
    snapshot.pools.push_back(std::move(pool));
  }
  return snapshot;
}

}  // namespace slipring::testing
