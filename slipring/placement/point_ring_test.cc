// The indexed search answers what binary search answers, for every shape of points.
#include "slipring/placement/point_ring.h"

#include <gtest/gtest.h>

#include "slipring/base/random.h"

namespace slipring {
namespace {

template <typename Point>
void expect_exact(const std::vector<Point>& values, const std::vector<Point>& probes) {
  std::vector<RingPoint<Point>> points;
  for (size_t i = 0; i < values.size(); ++i) points.push_back({values[i], static_cast<NodeIndex>(i)});
  const PointRing<Point> ring(points, Ties::kKeepInOrder);
  std::vector<Point> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> positions(probes.size());
  ring.at_or_after_all(probes, positions);
  for (size_t i = 0; i < probes.size(); ++i) {
    const Point h = probes[i];
    const auto lower = static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), h) - sorted.begin());
    const auto upper = static_cast<size_t>(std::upper_bound(sorted.begin(), sorted.end(), h) - sorted.begin());
    ASSERT_EQ(ring.at_or_after(h), lower) << h;
    ASSERT_EQ(ring.after(h), upper) << h;
    ASSERT_EQ(positions[i], lower) << h;
    if (!ring.empty()) {
      ASSERT_EQ(ring.owner_at_or_after(h), ring.member(ring.wrap(lower))) << h;
    }
  }
}

template <typename Point>
std::vector<Point> with_neighbours(const std::vector<Point>& values, Random* random) {
  std::vector<Point> probes = {0, 1, static_cast<Point>(-1), static_cast<Point>(-2)};
  for (const Point v : values) {
    for (const Point near : {v, static_cast<Point>(v - 1), static_cast<Point>(v + 1)}) probes.push_back(near);
  }
  for (int i = 0; i < 500; ++i) probes.push_back(static_cast<Point>(random->next()));
  return probes;
}

template <typename Point>
void check_shapes(uint64_t seed) {
  Random random(seed);
  for (const size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1000}) {
    for (const Point bound : {Point{1}, Point{7}, Point{1000}, static_cast<Point>(-1)}) {
      std::vector<Point> values;
      for (size_t i = 0; i < n; ++i)
        values.push_back(static_cast<Point>(random.below(uint64_t{bound} + (bound != static_cast<Point>(-1)))));
      expect_exact(values, with_neighbours(values, &random));
    }
  }
}

TEST(PointRing, SearchOf64BitPointsIsExact) {
  check_shapes<uint64_t>(1);
}
TEST(PointRing, SearchOf32BitPointsIsExact) {
  check_shapes<uint32_t>(2);
}

TEST(PointRing, ACrowdedBucketIsSearchedExactly) {
  Random random(3);
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 1000; ++i) values.push_back((uint64_t{1} << 40) + i * 3);
  values.push_back(UINT64_MAX);
  expect_exact(values, with_neighbours(values, &random));
}

TEST(PointRing, PointsAtTheEndsOfTheSpaceAreFound) {
  Random random(4);
  const std::vector<uint64_t> values = {0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  expect_exact(values, with_neighbours(values, &random));
}

TEST(PointRing, TieRulesChooseWhoStays) {
  const std::vector<RingPoint<uint32_t>> points = {{5, 0}, {5, 1}, {9, 2}, {5, 3}};
  const PointRing<uint32_t> all(points, Ties::kKeepInOrder);
  const PointRing<uint32_t> first(points, Ties::kKeepFirst);
  const PointRing<uint32_t> last(points, Ties::kKeepLast);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.member(all.at_or_after(5)), 0u);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(first.member(0), 0u);
  EXPECT_EQ(last.size(), 2u);
  EXPECT_EQ(last.member(0), 3u);
}

TEST(PointRing, WrapClampAndBeforeHandleTheEnds) {
  const PointRing<uint32_t> ring({{10, 0}, {20, 1}}, Ties::kKeepInOrder);
  EXPECT_EQ(ring.wrap(ring.at_or_after(21)), 0u);
  EXPECT_EQ(ring.clamp(ring.at_or_after(21)), 1u);
  EXPECT_EQ(ring.before(0), 1u);
  EXPECT_EQ(ring.before(1), 0u);
}

TEST(PointRing, DistinctMembersAreWalkedClockwiseForShortAndLongLists) {
  std::vector<RingPoint<uint32_t>> points;
  for (uint32_t i = 0; i < 200; ++i) points.push_back({i * 10, i % 100});
  const PointRing<uint32_t> ring(points, Ties::kKeepInOrder);
  for (const size_t n : {1, 32, 33, 100, 150}) {
    std::vector<NodeIndex> out(n);
    const size_t filled = ring.distinct_from(50, out);
    ASSERT_EQ(filled, std::min<size_t>(n, 100));
    for (size_t i = 0; i < filled; ++i) EXPECT_EQ(out[i], (50 + i) % 100);
  }
}

TEST(PointRing, MembersBeyond16BitsKeepTheirIndex) {
  const PointRing<uint64_t> ring({{1, 70'000}, {2, 3}}, Ties::kKeepInOrder);
  EXPECT_EQ(ring.member(0), 70'000u);
  EXPECT_EQ(ring.member(1), 3u);
}

// As many points as a ring of 100 nodes has, and more than the lines of owners are made for.
TEST(PointRing, OwnersOfSmallAndLargeRingsAreExact) {
  for (const size_t n : {16'000, 32'768, 32'769, 60'000}) {
    Random random(n);
    std::vector<RingPoint<uint64_t>> points;
    for (size_t i = 0; i < n; ++i) {
      // Every tenth point shares its upper half with the one before, every hundredth is the same.
      const uint64_t fresh = random.next();
      const uint64_t near = points.empty() ? fresh : (points.back().point & ~uint64_t{UINT32_MAX}) | (fresh >> 32);
      const uint64_t same = points.empty() ? fresh : points.back().point;
      points.push_back({i % 100 == 1 ? same : i % 10 == 2 ? near : fresh, static_cast<NodeIndex>(random.below(100))});
    }
    const PointRing<uint64_t> ring(points, Ties::kKeepInOrder);
    std::vector<uint64_t> probes;
    for (const auto& p : points) probes.insert(probes.end(), {p.point - 1, p.point, p.point + 1, random.next()});
    std::vector<NodeIndex> owners(probes.size());
    ring.owners_at_or_after_all(probes, owners);
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.point < b.point; });
    for (size_t i = 0; i < probes.size(); ++i) {
      const auto it = std::lower_bound(points.begin(), points.end(), probes[i],
                                       [](const auto& p, uint64_t h) { return p.point < h; });
      const NodeIndex expected = it == points.end() ? points.front().member : it->member;
      ASSERT_EQ(ring.owner_at_or_after(probes[i]), expected) << n << " " << probes[i];
      ASSERT_EQ(owners[i], expected);
    }
  }
}

TEST(PointRing, SortedPointsGiveTheRingThatTheSameUnsortedGive) {
  Random random(6);
  std::vector<RingPoint<uint64_t>> points;
  for (size_t i = 0; i < 500; ++i) points.push_back({random.below(400), static_cast<NodeIndex>(i)});
  const PointRing<uint64_t> one(points, Ties::kKeepInOrder);
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.point < b.point; });
  const auto other = PointRing<uint64_t>::of_sorted(points);
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one.point(i), other.point(i));
    EXPECT_EQ(one.member(i), other.member(i));
  }
  for (uint64_t h = 0; h < 402; ++h) EXPECT_EQ(one.at_or_after(h), other.at_or_after(h));
}

}  // namespace
}  // namespace slipring
