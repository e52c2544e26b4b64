// The base of schemes that are a ring and nothing else: owner = member of the first point >= (or >) the key's point,
// wrapping; the preference list goes on clockwise over distinct members. A system's file gives the points, the key's
// point and, where the system departs from this, its own rule.
//
// Invariant: as PointRing. Thread-safety: immutable.
#pragma once

#include <fmt/format.h>

#include "slipring/placement/point_ring.h"

namespace slipring {

enum class Successor {
  kInclusive,  // first point >= h
  kStrict,     // first point > h
};

template <typename Point>
class PointScheme : public Scheme {
 public:
  NodeIndex owner(std::string_view key) const override {
    return ring_.empty() ? kNoNode : ring_.member(position_of(point_of(key)));
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    return ring_.empty() ? 0 : ring_.distinct_from(position_of(point_of(key)), out);
  }

  Explanation explain(std::string_view key) const override {
    const Point h = point_of(key);
    if (ring_.empty()) return {.point = fmt::format("{:0{}x}", h, sizeof(Point) * 2), .range = ""};
    const size_t at = position_of(h);
    const bool strict = successor_ == Successor::kStrict;
    return {.point = fmt::format("{:0{}x}", h, sizeof(Point) * 2),
            .range = fmt::format("{}{:0{}x}, {:0{}x}{}", strict ? '[' : '(', ring_.point(ring_.before(at)),
                                 sizeof(Point) * 2, ring_.point(at), sizeof(Point) * 2, strict ? ')' : ']')};
  }

  const PointRing<Point>& ring() const { return ring_; }

 protected:
  PointScheme(size_t member_count, PointRing<Point> ring, Successor successor = Successor::kInclusive)
      : Scheme(member_count), ring_(std::move(ring)), successor_(successor) {}

  // The key's point, after the system's tag rule.
  virtual Point point_of(std::string_view key) const = 0;

  // Index of the point that owns h. REQUIRES: the ring is not empty.
  virtual size_t position_of(Point h) const {
    return ring_.wrap(successor_ == Successor::kStrict ? ring_.after(h) : ring_.at_or_after(h));
  }

 private:
  PointRing<Point> ring_;
  Successor successor_;
};

}  // namespace slipring
