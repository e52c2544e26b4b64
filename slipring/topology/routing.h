// Key -> instance for one pool of one snapshot: the placement compiled for the hot path. It computes s = old(key) and,
// while a plan is open, t = new(key); equal instances: nothing special, else the move's owner decides. No range tables,
// so any scheme can move to any other.
//
// Thread-safety: immutable after compile(); shared between threads as part of the snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "slipring/topology/snapshot.h"

namespace slipring {

// Index into PoolRouting::instances().
using InstanceIndex = uint32_t;
// Index into OpenPlan::moves, or kNoMove.
using MoveIndex = uint32_t;
inline constexpr MoveIndex kNoMove = UINT32_MAX;
inline constexpr InstanceIndex kNoInstance = UINT32_MAX;

struct Decision {
  InstanceIndex owner = kNoInstance;  // who serves the key in this epoch
  InstanceIndex source = kNoInstance;
  InstanceIndex target = kNoInstance;  // == source when the plan does not touch the key
  MoveIndex move = kNoMove;
};

class PoolRouting {
 public:
  // kInvalidArgument if the pool's schemes cannot be made. Cost: building the schemes.
  static Result<std::shared_ptr<const PoolRouting>> compile(const Pool& pool);

  // Cost: one placement look-up, two and a binary search over the plan's pairs while a plan is open; no allocation. A
  // key that the plan moves but that none of its moves names stays with its source (move = kNoMove).
  Decision decide(std::string_view key) const;

  // Every instance of the old and the new side, without repeats.
  const std::vector<Instance>& instances() const { return instances_; }
  // The node name behind an instance ("" never happens): of the old side, else of the new.
  const std::string& node_name(InstanceIndex i) const { return names_[i]; }
  const Pool& pool() const { return pool_; }
  const Scheme& old_scheme() const { return *old_scheme_; }
  // nullptr when no plan is open.
  const Scheme* new_scheme() const { return new_scheme_.get(); }

 private:
  PoolRouting() = default;
  Pool pool_;
  std::unique_ptr<const Scheme> old_scheme_;
  std::unique_ptr<const Scheme> new_scheme_;
  std::vector<Instance> instances_;
  std::vector<std::string> names_;
  std::vector<InstanceIndex> old_instance_;  // by member of the old scheme
  std::vector<InstanceIndex> new_instance_;
  // The runs of OpenPlan::moves with one source and target, sorted by both.
  struct Pair {
    InstanceIndex source;
    InstanceIndex target;
    MoveIndex begin;
    MoveIndex end;  // not included
  };
  MoveIndex find_move(InstanceIndex source, InstanceIndex target, uint32_t slice) const;
  void index_moves();

  std::vector<Pair> pairs_;
};

}  // namespace slipring
