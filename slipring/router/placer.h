// Where the keys of a command go under one topology, and which of them must wait: the decision, without anything that
// carries it out.
// Thread-safety: one loop thread. No I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "slipring/topology/routing.h"

namespace slipring::router {

enum class Place : uint8_t {
  kOne,      // all keys on one instance
  kSeveral,  // on more than one
  kHeld,     // at least one key is of a held move
  kNowhere,  // no node owns it: nothing published yet, or all are drained
};

struct Placement {
  Place place = Place::kNowhere;
  InstanceIndex instance = kNoInstance;  // kOne: where
};

class Placer {
 public:
  void use(std::shared_ptr<const PoolRouting> routing) {
    routing_ = std::move(routing);
    held_.clear();
  }
  const PoolRouting* routing() const { return routing_.get(); }

  // Moves (indexes into the open plan) whose keys are held. Indexes that the plan does not have are passed over.
  void hold(std::span<const uint32_t> moves);
  void release() { held_.clear(); }
  bool holding() const { return !held_.empty(); }

  Placement place(std::string_view key) const {
    if (!routing_) [[unlikely]]
      return {};
    const Decision decision = routing_->decide(key);
    if (decision.owner == kNoInstance) [[unlikely]]
      return {};
    if (is_held(decision.move)) [[unlikely]]
      return {Place::kHeld, decision.owner};
    return {Place::kOne, decision.owner};
  }
  // All keys together. REQUIRES: keys is not empty.
  Placement place(std::span<const std::string_view> keys) const;
  // Each key by itself; false if one is held (then `out` is not whole) or lies nowhere. out[i] is where keys[i] goes.
  Place place_each(std::span<const std::string_view> keys, std::vector<InstanceIndex>& out) const;

  // The instances that own the held moves now.
  std::vector<InstanceIndex> owners_of_held() const;

 private:
  bool is_held(MoveIndex move) const { return move < held_.size() && held_[move]; }

  std::shared_ptr<const PoolRouting> routing_;
  std::vector<bool> held_;  // by move; empty: nothing is held
};

}  // namespace slipring::router
