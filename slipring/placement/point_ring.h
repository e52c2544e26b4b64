// Sorted points of members on a circle, and the fastest exact search for them: a uniform index of buckets says where to
// start, four points are compared without a branch, and only a crowded bucket is searched further, by bisection, so
// tokens set by hand cost O(log n) and uniform ones one or two cache lines. Points of 32 bits take 4 bytes, owners 2
// bytes while there are fewer than 65,536 members.
//
// Invariant: points are sorted; of equal points the one that the tie rule prefers comes first.
// Position n = size() stands for "past the last point"; wrap() and clamp() make an index of it.
// Thread-safety: immutable once built.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "slipring/placement/index_set.h"
#include "slipring/placement/scheme.h"

namespace slipring {

template <typename Point>
struct RingPoint {
  Point point;
  NodeIndex member;
};

enum class Ties {
  kKeepInOrder,  // all stay, in the order they were given (a stable sort)
  kKeepFirst,    // of equal points only the first given stays
  kKeepLast,     // of equal points only the last given stays
};

// How a type of points is indexed: `index_word` keeps its order and holds its high bits. Other types than the unsigned
// integers (a 160-bit point, say) give their own specialisation.
template <typename Point>
struct PointTraits {
  static constexpr uint64_t index_word(Point p) { return p; }
  static constexpr Point highest() { return static_cast<Point>(-1); }
};

template <typename Point>
class PointRing {
 public:
  PointRing() = default;
  // Cost: one sort and one pass. REQUIRES: fewer than 2^32 points.
  PointRing(std::vector<RingPoint<Point>> points, Ties ties);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Point point(size_t i) const { return points_[i]; }
  NodeIndex member(size_t i) const { return narrow_.empty() ? wide_[i] : narrow_[i]; }

  // The first position whose point is >= h, in 0..size().
  size_t at_or_after(Point h) const {
    return search(h, [](Point p, Point x) { return p < x; });
  }
  // The first position whose point is > h, in 0..size().
  size_t after(Point h) const {
    return search(h, [](Point p, Point x) { return !(x < p); });
  }

  size_t wrap(size_t position) const { return position == size_ ? 0 : position; }
  size_t clamp(size_t position) const { return position == size_ ? size_ - 1 : position; }
  // The position before, wrapping: of 0 the last one. REQUIRES: not empty.
  size_t before(size_t position) const { return position == 0 ? size_ - 1 : position - 1; }

  // Fills `out` with the distinct members met from `position` on, clockwise; answers how many there are.
  // REQUIRES: position < size(). Cost: the points passed times the members found.
  size_t distinct_from(size_t position, std::span<NodeIndex> out) const;

  // positions[i] = at_or_after(hashes[i]), with the cache misses of neighbours overlapped.
  void at_or_after_all(std::span<const Point> hashes, std::span<uint32_t> positions) const;

  size_t memory_bytes() const {
    return points_.capacity() * sizeof(Point) + narrow_.capacity() * 2 + wide_.capacity() * 4 + starts_.capacity() * 4;
  }

 private:
  static constexpr size_t kScan = 4;  // points compared without a branch; as many stand behind the last one

  template <typename Less>
  size_t search(Point h, Less before_h) const;
  template <typename Less>
  size_t search_crowded(size_t from, size_t bucket, Point h, Less before_h) const;
  void choose_buckets(const std::vector<RingPoint<Point>>& points);
  std::vector<RingPoint<Point>> sorted(std::vector<RingPoint<Point>> points) const;
  void fill(const std::vector<RingPoint<Point>>& points);
  void build_index();
  size_t bucket_of(Point p) const { return PointTraits<Point>::index_word(p) >> shift_; }

  std::vector<Point> points_;  // size_ + kScan
  std::vector<uint16_t> narrow_;
  std::vector<NodeIndex> wide_;
  std::vector<uint32_t>
      starts_;  // by bucket: the first position whose point lies in it or behind it; one more at the end
  Point last_{};
  unsigned shift_ = 0;
  size_t size_ = 0;
};

template <typename Point>
PointRing<Point>::PointRing(std::vector<RingPoint<Point>> points, Ties ties) {
  if (points.empty()) return;
  if (ties == Ties::kKeepLast) std::reverse(points.begin(), points.end());
  choose_buckets(points);
  points = sorted(std::move(points));
  if (ties != Ties::kKeepInOrder) {
    const auto same = [](const RingPoint<Point>& a, const RingPoint<Point>& b) { return a.point == b.point; };
    points.erase(std::unique(points.begin(), points.end(), same), points.end());
  }
  fill(points);
  build_index();
}

// 2^k buckets, k = ceil(log2(n)): half a point to one point in each when points are uniform over the space that ends
// at the last one.
template <typename Point>
void PointRing<Point>::choose_buckets(const std::vector<RingPoint<Point>>& points) {
  const auto less = [](const RingPoint<Point>& a, const RingPoint<Point>& b) { return a.point < b.point; };
  last_ = std::max_element(points.begin(), points.end(), less)->point;
  const unsigned k = static_cast<unsigned>(std::bit_width(points.size() - 1));
  const unsigned space = static_cast<unsigned>(std::bit_width(PointTraits<Point>::index_word(last_)));
  shift_ = space > k ? space - k : 0;
}

// A stable sort in two passes for uniform points: into the buckets in order, then each bucket by itself.
template <typename Point>
std::vector<RingPoint<Point>> PointRing<Point>::sorted(std::vector<RingPoint<Point>> points) const {
  std::vector<uint32_t> next(bucket_of(last_) + 2);
  for (const RingPoint<Point>& p : points) ++next[bucket_of(p.point) + 1];
  for (size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
  std::vector<RingPoint<Point>> out(points.size());
  for (const RingPoint<Point>& p : points) out[next[bucket_of(p.point)]++] = p;
  const auto less = [](const RingPoint<Point>& a, const RingPoint<Point>& b) { return a.point < b.point; };
  auto begin = out.begin();
  for (size_t b = 0; b + 1 < next.size(); ++b) {  // next[b] is now where bucket b ends
    const auto end = out.begin() + next[b];
    if (end - begin > 1 && !std::is_sorted(begin, end, less)) std::stable_sort(begin, end, less);
    begin = end;
  }
  return out;
}

template <typename Point>
void PointRing<Point>::fill(const std::vector<RingPoint<Point>>& points) {
  size_ = points.size();
  points_.reserve(size_ + kScan);
  NodeIndex highest_member = 0;
  for (const RingPoint<Point>& p : points) {
    points_.push_back(p.point);
    highest_member = std::max(highest_member, p.member);
  }
  points_.resize(size_ + kScan, PointTraits<Point>::highest());
  if (highest_member <= UINT16_MAX) {
    narrow_.reserve(size_);
    for (const RingPoint<Point>& p : points) narrow_.push_back(static_cast<uint16_t>(p.member));
  } else {
    wide_.reserve(size_);
    for (const RingPoint<Point>& p : points) wide_.push_back(p.member);
  }
}

template <typename Point>
void PointRing<Point>::build_index() {
  starts_.assign(bucket_of(last_) + 2, static_cast<uint32_t>(size_));
  size_t bucket = 0;
  for (size_t i = 0; i < size_; ++i) {
    const size_t own = bucket_of(points_[i]);
    while (bucket <= own) starts_[bucket++] = static_cast<uint32_t>(i);
  }
}

template <typename Point>
template <typename Less>
inline size_t PointRing<Point>::search(Point h, Less before_h) const {
  if (size_ == 0 || before_h(last_, h)) return size_;
  const size_t bucket = bucket_of(h);
  const size_t from = starts_[bucket];
  const Point* p = points_.data() + from;
  const size_t smaller =
      size_t{before_h(p[0], h)} + size_t{before_h(p[1], h)} + size_t{before_h(p[2], h)} + size_t{before_h(p[3], h)};
  if (smaller < kScan) [[likely]]
    return from + smaller;
  return search_crowded(from + kScan, bucket, h, before_h);
}

template <typename Point>
template <typename Less>
size_t PointRing<Point>::search_crowded(size_t from, size_t bucket, Point h, Less before_h) const {
  const auto begin = points_.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end = points_.begin() + static_cast<std::ptrdiff_t>(starts_[bucket + 1]);
  if (begin >= end) return from;
  const auto it = std::partition_point(begin, end, [&](Point p) { return before_h(p, h); });
  return static_cast<size_t>(it - points_.begin());
}

template <typename Point>
size_t PointRing<Point>::distinct_from(size_t position, std::span<NodeIndex> out) const {
  IndexSet seen;
  size_t filled = 0;
  for (size_t step = 0; step < size_ && filled < out.size(); ++step) {
    const NodeIndex m = member(position);
    position = wrap(position + 1);
    if (seen.insert(m)) out[filled++] = m;
  }
  return filled;
}

template <typename Point>
void PointRing<Point>::at_or_after_all(std::span<const Point> hashes, std::span<uint32_t> positions) const {
  constexpr size_t kGroup = 32;
  if (size_ == 0) {
    std::fill(positions.begin(), positions.end(), 0);
    return;
  }
  for (size_t begin = 0; begin < hashes.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, hashes.size());
    for (size_t i = begin; i < end; ++i) {
      const size_t bucket = bucket_of(std::min(hashes[i], last_));
      __builtin_prefetch(&starts_[bucket]);
    }
    for (size_t i = begin; i < end; ++i) {
      const size_t bucket = bucket_of(std::min(hashes[i], last_));
      __builtin_prefetch(&points_[starts_[bucket]]);
    }
    for (size_t i = begin; i < end; ++i) positions[i] = static_cast<uint32_t>(at_or_after(hashes[i]));
  }
}

}  // namespace slipring
