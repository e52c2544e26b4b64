// What changed between two snapshots, as a list of edits: for people, for the audit log and for the history. An edit
// carries what stood there before, so it fits one base only and reads as "weight 1 -> 2".
//
// Invariant: apply_edits(diff(a, b), a) == b for all a, b whose pool and node names are distinct; diff(a, a) is empty.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring {

struct ClusterEdit {
  Epoch epoch_before{0};
  Epoch epoch_after{0};
  std::string id_before;
  std::string id_after;
  bool operator==(const ClusterEdit&) const = default;
};
// A pool that comes (before absent, at `position`), goes (after absent) or changes kind, fence, prefix, scheme or replicas;
// the nodes and plan of a pool that stays are edits of their own.
struct PoolEdit {
  std::optional<Pool> before;
  std::optional<Pool> after;
  size_t position = 0;
  bool operator==(const PoolEdit&) const = default;
};
struct NodeEdit {
  std::string pool;
  std::optional<Node> before;
  std::optional<Node> after;
  size_t position = 0;  // where a node that comes is inserted
  bool operator==(const NodeEdit&) const = default;
};
// The order, once everything came and went.
struct PoolOrder {
  std::vector<std::string> names;
  bool operator==(const PoolOrder&) const = default;
};
struct NodeOrder {
  std::string pool;
  std::vector<std::string> names;
  bool operator==(const NodeOrder&) const = default;
};
struct PlanEdit {
  std::string pool;
  std::optional<OpenPlan> before;
  std::optional<OpenPlan> after;
  bool operator==(const PlanEdit&) const = default;
};
// Moves of a plan that stays open change their owner.
struct OwnerEdit {
  std::string pool;
  std::vector<uint32_t> moves;  // indexes; each is switched to the other side
  bool operator==(const OwnerEdit&) const = default;
};

using Edit = std::variant<ClusterEdit, PoolEdit, NodeEdit, PoolOrder, NodeOrder, PlanEdit, OwnerEdit>;

// REQUIRES: names of pools and of the nodes of a pool are distinct in both.
std::vector<Edit> diff(const Snapshot& before, const Snapshot& after);

// kFailedPrecondition if an edit does not fit `base` (it was made against another one).
Result<Snapshot> apply_edits(const std::vector<Edit>& edits, Snapshot base);

// One line: "pool main: node n2: weight 1 -> 2".
std::string to_string(const Edit& edit);

}  // namespace slipring
