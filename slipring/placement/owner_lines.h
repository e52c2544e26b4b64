// Owners of a small ring in one step: a line of four 32-bit words for each of 2^k equal parts of the space, about one
// point in each. Where PointRing reads a bucket's entry and then the words it points to, a look-up here reads one line:
//
//   line    [ word | word | word | word ]    the points of this part in order, then words that say who comes next
//   word    [ 0 : 1 | the point's bits below the part : 31 - m | member : m ]    the zero makes words compare signed
//
// The first word that is not smaller than the key's has the owner; where all four are smaller it is the first word of
// the next line. More than four points in a part, or equal bits, are left to the caller: kUnknown.
//
// Invariant: find() answers the owner of the first point at or after, wrapping, or kUnknown. Cost: 16 bytes a part, 16
// to 32 a point. Thread-safety: immutable once built.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "slipring/placement/huge_pages.h"
#include "slipring/placement/scheme.h"

namespace slipring {
namespace placement_internal {

// Bit i is set if words[i] < bound as signed numbers, for i = 0..3.
inline unsigned smaller_of_four(const uint32_t* words, uint32_t bound) {
#if defined(__SSE2__)
  const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
  const __m128i less = _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int32_t>(bound)), four);
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(less)));
#else
  unsigned smaller = 0;
  for (unsigned i = 0; i < 4; ++i) {
    smaller |= unsigned{static_cast<int32_t>(words[i]) < static_cast<int32_t>(bound)} << i;
  }
  return smaller;
#endif
}

// One point as OwnerLines takes it: the highest 64 bits of the point, and its member.
struct LinePoint {
  uint64_t index_word;
  NodeIndex member;
};

class OwnerLines {
 public:
  // More points would fill more than the nearer caches.
  static constexpr size_t kPointsMax = 1 << 15;
  static constexpr NodeIndex kUnknown = kNoNode;

  OwnerLines() = default;
  // REQUIRES: 1 to kPointsMax points, sorted; members below 2^24.
  explicit OwnerLines(std::span<const LinePoint> points);

  bool empty() const { return words_.empty(); }
  size_t memory_bytes() const { return words_.capacity() * sizeof(uint32_t); }

  // REQUIRES: not empty.
  NodeIndex find(uint64_t index_word) const {
    const Place place = place_of(index_word);
    const uint32_t* line = words_.data() + kWords * place.part;
    const uint32_t word = line[count_of(smaller_of_four(line, place.bound))];
    if ((word ^ place.bound) <= member_mask_) [[unlikely]]  // equal bits
      return kUnknown;
    const NodeIndex member = word & member_mask_;
    return member == member_mask_ ? kUnknown : member;
  }

 private:
  static constexpr size_t kWords = 4;

  // Where a point lies: its part, and the word of a point there without its member.
  struct Place {
    size_t part;
    uint32_t bound;
  };
  // One multiplication gives both the part and the bits below it, and is cheaper than two shifts by a variable.
  Place place_of(uint64_t index_word) const {
    const auto product = static_cast<unsigned __int128>(index_word) * parts_;
    const auto below = static_cast<uint32_t>(static_cast<uint64_t>(product) >> 33);
    return {static_cast<size_t>(product >> 64), below & ~member_mask_};
  }
  // How many words of a line are smaller: they stand first.
  static unsigned count_of(unsigned smaller) {
#if defined(__POPCNT__)
    return static_cast<unsigned>(std::popcount(smaller));
#else
    return static_cast<unsigned>(__builtin_ctz(~smaller));
#endif
  }
  // The word that no key's word is above; with the mask itself as member it says kUnknown.
  uint32_t last_word(NodeIndex member) const {
    return (INT32_MAX & ~member_mask_) | member;
  }

  uint64_t parts_ = 2;  // a power of two
  uint32_t member_mask_ = 0;
  std::vector<uint32_t, HugePages<uint32_t>> words_;  // by line, and one more word behind the last line
};

inline OwnerLines::OwnerLines(std::span<const LinePoint> points) {
  NodeIndex highest = 0;
  for (const LinePoint& p : points) highest = std::max(highest, p.member);
  parts_ = std::max<uint64_t>(2, std::bit_ceil(points.size()));
  member_mask_ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(highest + 1)) - 1);
  words_.reserve(kWords * parts_ + 1);
  size_t i = 0;
  for (size_t part = 0; part < parts_; ++part) {
    const size_t first = i;
    while (i < points.size() && place_of(points[i].index_word).part == part) ++i;
    const bool crowded = i - first > kWords;
    const NodeIndex next = crowded ? member_mask_ : points[i == points.size() ? 0 : i].member;
    for (size_t at = first; at < first + kWords; ++at) {
      const bool stands = !crowded && at < i;
      words_.push_back(stands ? place_of(points[at].index_word).bound | points[at].member : last_word(next));
    }
  }
  words_.push_back(last_word(points.front().member));
}

}  // namespace placement_internal
}  // namespace slipring
