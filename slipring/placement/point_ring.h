// Sorted points of members on a circle, and the fastest exact search for them.
//
//   buckets   one 32-bit entry for each of 2^k equal parts of the space, about one point in each:
//             [ first position : 27 | more than four points : 1 | one bit for each of up to four points : 4 ]
//   words     one 32-bit word for each point, in order: [ the point's bits below the bucket : 32 - m | member : m ]
//   points    the points themselves: read only on a tie of those bits, in a crowded bucket, or by a caller
//
// A look-up reads one entry and the four words behind it, compares them without a branch, and has the owner in the same
// word. Equal bits, or more than four points in a bucket, are settled by bisection inside the bucket, so tokens set by
// hand cost O(log n). Everything that a look-up touches takes 8 bytes a point. Small rings have OwnerLines beside this.
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

#include "slipring/base/check.h"
#include "slipring/placement/huge_pages.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/owner_lines.h"
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

// How a type of points is indexed: `index_word` is its highest 64 bits, or all of them followed by zeros. Other types
// than the unsigned integers (a 160-bit point, say) give their own specialisation.
template <typename Point>
struct PointTraits {
  static constexpr uint64_t index_word(Point p) { return uint64_t{p} << (64 - 8 * sizeof(Point)); }
};

template <typename Point>
class PointRing {
 public:
  static constexpr size_t kPointsMax = (size_t{1} << 27) - 1;

  PointRing() : PointRing({}, Ties::kKeepInOrder) {}
  // Cost: two passes over the points, and a sort inside crowded buckets. REQUIRES: at most kPointsMax points.
  PointRing(std::vector<RingPoint<Point>> points, Ties ties);
  // REQUIRES: `points` sorted, equal ones in the order that their tie rule gives. Cost: one pass.
  static PointRing of_sorted(std::vector<RingPoint<Point>> points);
  PointRing(PointRing&&) = default;
  PointRing& operator=(PointRing&&) = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Point point(size_t i) const { return points_[i]; }
  NodeIndex member(size_t i) const { return words_[i] & member_mask_; }

  // The first position whose point is >= h, in 0..size().
  size_t at_or_after(Point h) const {
    return search(h, [](Point p, Point x) { return p < x; });
  }
  // The first position whose point is > h, in 0..size().
  size_t after(Point h) const {
    return search(h, [](Point p, Point x) { return !(x < p); });
  }

  // The member of the first point >= h, wrapping. REQUIRES: not empty. The fastest form: no wrap, no position.
  NodeIndex owner_at_or_after(Point h) const {
    if (!lines_.empty()) {
      const NodeIndex member = lines_.find(PointTraits<Point>::index_word(h));
      if (member != placement_internal::OwnerLines::kUnknown) [[likely]]
        return member;
    }
    if (last_ < h) [[unlikely]]
      return member(0);
    return member(search_within(h, [](Point p, Point x) { return p < x; }));  // the word behind the last is the first's
  }

  size_t wrap(size_t position) const { return position == size() ? 0 : position; }
  size_t clamp(size_t position) const { return position == size() ? size() - 1 : position; }
  // The position before, wrapping: of 0 the last one. REQUIRES: not empty.
  size_t before(size_t position) const { return position == 0 ? size() - 1 : position - 1; }

  // Fills `out` with the distinct members met from `position` on, clockwise; answers how many there are.
  // REQUIRES: position < size(). Cost: the points passed times the members found.
  size_t distinct_from(size_t position, std::span<NodeIndex> out) const;

  // positions[i] = at_or_after(hashes[i]), with the cache misses of neighbours overlapped.
  void at_or_after_all(std::span<const Point> hashes, std::span<uint32_t> positions) const;
  // owners[i] = owner_at_or_after(hashes[i]), likewise. REQUIRES: not empty.
  void owners_at_or_after_all(std::span<const Point> hashes, std::span<NodeIndex> owners) const;

  size_t memory_bytes() const {
    return points_.capacity() * sizeof(Point) + table_.capacity() * sizeof(uint32_t) + lines_.memory_bytes();
  }

 private:
  struct Unfilled {};
  explicit PointRing(Unfilled) {}

  static constexpr size_t kScan = 4;  // words compared at once; as many stand behind the last one
  static constexpr unsigned kFirstShift = 5;
  static constexpr uint32_t kCrowded = 16;

  template <typename Before>
  size_t search(Point h, Before before) const {
    return before(last_, h) ? size_ : search_within(h, before);
  }
  // REQUIRES: the last point is not before h.
  template <typename Before>
  size_t search_within(Point h, Before before) const;
  template <typename Before>
  size_t bisect(size_t bucket, Point h, Before before) const;
  void choose_buckets(const std::vector<RingPoint<Point>>& points);
  std::vector<RingPoint<Point>> sorted(std::vector<RingPoint<Point>> points) const;
  void fill(const std::vector<RingPoint<Point>>& points);
  void fill_lines(const std::vector<RingPoint<Point>>& points);

  // The bits below the bucket are the low 32 of this, the bucket those above.
  uint64_t scaled(Point p) const { return PointTraits<Point>::index_word(p) >> shift_; }
  size_t bucket_of(Point p) const { return scaled(p) >> 32; }
  // A point's word without its member: <= every word of an equal or larger point of the same bucket. The top bit is
  // turned, so that words compare as signed numbers.
  uint32_t bound_of(uint64_t scaled_point) const {
    return (static_cast<uint32_t>(scaled_point) & ~member_mask_) ^ 0x80000000u;
  }

  std::vector<Point> points_;
  std::vector<uint32_t, HugePages<uint32_t>> table_;  // the buckets, an empty one at the end, then the words
  const uint32_t* words_ = nullptr;                   // in table_; kScan of them stand behind the last one
  size_t size_ = 0;
  Point last_{};
  unsigned shift_ = 0;
  uint32_t member_mask_ = 0;
  placement_internal::OwnerLines lines_;  // empty in large rings
};

template <typename Point>
PointRing<Point>::PointRing(std::vector<RingPoint<Point>> points, Ties ties) {
  SLIPRING_CHECK(points.size() <= kPointsMax, "points that a bucket's entry can count");
  if (ties == Ties::kKeepLast) std::reverse(points.begin(), points.end());
  choose_buckets(points);
  points = sorted(std::move(points));
  if (ties != Ties::kKeepInOrder) {
    const auto same = [](const RingPoint<Point>& a, const RingPoint<Point>& b) { return a.point == b.point; };
    points.erase(std::unique(points.begin(), points.end(), same), points.end());
  }
  fill(points);
}

template <typename Point>
PointRing<Point> PointRing<Point>::of_sorted(std::vector<RingPoint<Point>> points) {
  SLIPRING_CHECK(points.size() <= kPointsMax, "points that a bucket's entry can count");
  PointRing ring(Unfilled{});
  ring.choose_buckets(points);
  ring.fill(points);
  return ring;
}

// 2^k buckets over the space that ends at the highest bit of the last point, 2^k the power of two nearest to n; at
// least 32 bits stay below the bucket.
template <typename Point>
void PointRing<Point>::choose_buckets(const std::vector<RingPoint<Point>>& points) {
  NodeIndex highest_member = 0;
  for (const RingPoint<Point>& p : points) {
    last_ = std::max(last_, p.point);
    highest_member = std::max(highest_member, p.member);
  }
  const int k = std::bit_width(points.size() * 10 / 7) - 1;
  const int space = std::bit_width(PointTraits<Point>::index_word(last_));
  shift_ = static_cast<unsigned>(std::max(space - k - 32, 0));
  member_mask_ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(highest_member)) - 1);
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
  const size_t buckets = bucket_of(last_) + 1;
  size_ = points.size();
  points_.reserve(size_);
  table_.resize(buckets + 1 + size_ + kScan, INT32_MAX);
  uint32_t* word = table_.data() + buckets + 1;
  words_ = word;
  size_t i = 0;
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const size_t first = i;
    for (; i < size_ && bucket_of(points[i].point) == bucket; ++i) {
      points_.push_back(points[i].point);
      *word++ = bound_of(scaled(points[i].point)) | points[i].member;
    }
    const size_t count = i - first;
    const uint32_t content = count > kScan ? kCrowded | 15 : (1u << count) - 1;
    table_[bucket] = static_cast<uint32_t>(first << kFirstShift) | content;
  }
  table_[buckets] = static_cast<uint32_t>(size_ << kFirstShift);
  if (size_ > 0) *word = INT32_MAX & (~member_mask_ | points.front().member);
  fill_lines(points);
}

template <typename Point>
void PointRing<Point>::fill_lines(const std::vector<RingPoint<Point>>& points) {
  if (points.empty() || points.size() > placement_internal::OwnerLines::kPointsMax) return;
  std::vector<placement_internal::LinePoint> sorted;
  sorted.reserve(points.size());
  for (const RingPoint<Point>& p : points) sorted.push_back({PointTraits<Point>::index_word(p.point), p.member});
  lines_ = placement_internal::OwnerLines(sorted);
}

template <typename Point>
template <typename Before>
inline size_t PointRing<Point>::search_within(Point h, Before before) const {
  const uint64_t place = scaled(h);
  const uint32_t entry = table_[place >> 32];
  const size_t first = entry >> kFirstShift;
  const uint32_t bound = bound_of(place);
  const unsigned smaller = placement_internal::smaller_of_four(words_ + first, bound) & entry;
  const size_t position = first + static_cast<size_t>(__builtin_ctz(~smaller));
  const bool tie = (words_[position] ^ bound) <= member_mask_;
  if (tie || (entry & kCrowded) != 0) [[unlikely]]
    return bisect(place >> 32, h, before);
  return position;
}

template <typename Point>
template <typename Before>
size_t PointRing<Point>::bisect(size_t bucket, Point h, Before before) const {
  const auto begin = points_.begin() + (table_[bucket] >> kFirstShift);
  const auto end = points_.begin() + (table_[bucket + 1] >> kFirstShift);
  const auto it = std::partition_point(begin, end, [&](Point p) { return before(p, h); });
  return static_cast<size_t>(it - points_.begin());
}

template <typename Point>
size_t PointRing<Point>::distinct_from(size_t position, std::span<NodeIndex> out) const {
  IndexSet seen;
  size_t filled = 0;
  for (size_t step = 0; step < size() && filled < out.size(); ++step) {
    const NodeIndex m = member(position);
    position = wrap(position + 1);
    if (seen.insert(m)) out[filled++] = m;
  }
  return filled;
}

template <typename Point>
void PointRing<Point>::at_or_after_all(std::span<const Point> hashes, std::span<uint32_t> positions) const {
  constexpr size_t kGroup = 32;
  for (size_t begin = 0; begin < hashes.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, hashes.size());
    for (size_t i = begin; i < end; ++i) __builtin_prefetch(&table_[bucket_of(std::min(hashes[i], last_))]);
    for (size_t i = begin; i < end; ++i) {
      __builtin_prefetch(words_ + (table_[bucket_of(std::min(hashes[i], last_))] >> kFirstShift));
    }
    for (size_t i = begin; i < end; ++i) positions[i] = static_cast<uint32_t>(at_or_after(hashes[i]));
  }
}

template <typename Point>
void PointRing<Point>::owners_at_or_after_all(std::span<const Point> hashes, std::span<NodeIndex> owners) const {
  if (!lines_.empty()) {  // in the nearer caches: nothing to overlap
    for (size_t i = 0; i < hashes.size(); ++i) owners[i] = owner_at_or_after(hashes[i]);
    return;
  }
  at_or_after_all(hashes, owners);
  for (NodeIndex& owner : owners.first(hashes.size())) owner = member(wrap(owner));
}

}  // namespace slipring
