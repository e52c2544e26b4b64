#include "slipring/router/placer.h"

#include <algorithm>

namespace slipring::router {

void Placer::hold(std::span<const uint32_t> moves) {
  if (!routing_ || !routing_->pool().plan) return;
  held_.assign(routing_->pool().plan->moves.size(), false);
  for (const uint32_t move : moves) {
    if (move < held_.size()) held_[move] = true;
  }
}

Placement Placer::place(std::span<const std::string_view> keys) const {
  Placement all = place(keys[0]);
  for (size_t i = 1; i < keys.size() && all.place != Place::kHeld && all.place != Place::kNowhere; ++i) {
    const Placement one = place(keys[i]);
    if (one.place != Place::kOne) return one;
    if (one.instance != all.instance) all.place = Place::kSeveral;
  }
  return all;
}

Place Placer::place_each(std::span<const std::string_view> keys, std::vector<InstanceIndex>& out) const {
  out.clear();
  Place all = Place::kOne;
  for (const std::string_view key : keys) {
    const Placement one = place(key);
    if (one.place != Place::kOne) return one.place;
    if (!out.empty() && one.instance != out.front()) all = Place::kSeveral;
    out.push_back(one.instance);
  }
  return all;
}

std::vector<InstanceIndex> Placer::owners_of_held() const {
  std::vector<InstanceIndex> owners;
  if (!holding()) return owners;
  const std::vector<MoveOwner>& moves = routing_->pool().plan->moves;
  const std::vector<Instance>& instances = routing_->instances();
  const Instance* last = nullptr;
  for (size_t i = 0; i < moves.size(); ++i) {
    if (!held_[i]) continue;
    const Instance& owner = moves[i].target_owns ? moves[i].target : moves[i].source;
    if (last != nullptr && *last == owner) continue;  // moves are sorted: slices of one pair stand together
    last = &owner;
    const auto at = std::find(instances.begin(), instances.end(), owner);
    if (at != instances.end()) owners.push_back(static_cast<InstanceIndex>(at - instances.begin()));
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  return owners;
}

}  // namespace slipring::router
