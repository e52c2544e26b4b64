// Preference lists that spread over zones: clockwise from the key's point, distinct members, those of zones not used
// yet first while there are any, then the remaining members in clockwise order from the key's point. A member without
// a zone is its own zone. The owner ignores zones, so monotonicity is promised for owners.
// Thread-safety: immutable once made.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "slipring/placement/index_set.h"
#include "slipring/placement/scheme.h"

namespace slipring {

class Zones {
 public:
  Zones() = default;
  // Only members that own something count; `owns` by member.
  Zones(std::span<const Member> members, const std::vector<bool>& owns) : of_member_(members.size()) {
    std::map<std::string_view, uint32_t> named;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!owns[i]) continue;
      ++members_;
      const uint32_t next = count_;
      const bool own_zone = members[i].zone.empty();
      of_member_[i] = own_zone ? next : named.try_emplace(members[i].zone, next).first->second;
      if (of_member_[i] == next) ++count_;
    }
  }

  // `ring` answers member(position) and wrap(position); the walk starts at `start`. Answers how many of `out` are set.
  template <typename Ring>
  size_t preference_list(const Ring& ring, size_t start, std::span<NodeIndex> out) const {
    const size_t want = std::min(out.size(), members_);
    IndexSet chosen;
    IndexSet used_zones;
    size_t filled = 0;
    for (size_t at = start; filled < want && used_zones.size() < count_; at = ring.wrap(at + 1)) {
      const NodeIndex m = ring.member(at);
      if (!used_zones.insert(of_member_[m])) continue;
      chosen.insert(m);
      out[filled++] = m;
    }
    for (size_t at = start; filled < want; at = ring.wrap(at + 1)) {
      const NodeIndex m = ring.member(at);
      if (chosen.insert(m)) out[filled++] = m;
    }
    return filled;
  }

 private:
  std::vector<uint32_t> of_member_;
  uint32_t count_ = 0;  // zones
  size_t members_ = 0;  // that own something
};

}  // namespace slipring
