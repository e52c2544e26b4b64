#include "slipring/placement/dalli.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slipring/hash/crc.h"
#include "slipring/hash/load.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

std::vector<std::pair<uint32_t, NodeIndex>> sorted_points(const std::vector<Member>& members) {
  std::vector<std::pair<uint32_t, NodeIndex>> points;
  for (NodeIndex m = 0; m < members.size(); ++m) {
    for (int j = 0; j < 160; ++j)
      points.emplace_back(load_be32(sha1(members[m].label + ":" + std::to_string(j)).data()), m);
  }
  std::sort(points.begin(), points.end());
  return points;
}

TEST(Dalli, TheNearestPointAtOrBelowTheHashOwnsAndBelowTheFirstTheLast) {
  const std::vector<Member> members = fleet_of(5);
  const auto points = sorted_points(members);
  const auto scheme = scheme_of({"dalli", {}}, members);
  for (const std::string& key : some_keys()) {
    NodeIndex expected = points.back().second;
    for (const auto& [point, member] : points) {
      if (point <= crc32(key)) expected = member;
    }
    EXPECT_EQ(scheme->owner(key), expected);
  }
}

TEST(Dalli, TheRangeBeginsWithItsPoint) {
  const auto scheme = scheme_of({"dalli", {}}, fleet_of(5));
  for (const std::string& key : some_keys()) {
    const Explanation explained = scheme->explain(key);
    const std::string first = explained.range.substr(1, 8);
    const std::string end = explained.range.substr(11, 8);
    EXPECT_TRUE(first <= explained.point ? explained.point < end || end < first : explained.point < end);
  }
}

TEST(Dalli, AMissingPortIs11211) {
  EXPECT_EQ(owners_of({"dalli", {}}, labelled({"a", "b"})), owners_of({"dalli", {}}, labelled({"a:11211", "b:11211"})));
}

TEST(Dalli, RemovingAServerMovesOnlyItsKeys) {
  const std::vector<Member> ten = fleet_of(10);
  std::vector<Member> nine = ten;
  nine.erase(nine.begin() + 2);
  const auto before = owner_labels({"dalli", {}}, ten);
  const auto after = owner_labels({"dalli", {}}, nine);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i] == ten[2].label || before[i] == after[i]);
}

// So the others have more points than without it.
TEST(Dalli, AServerOfWeightZeroOwnsNothingButCounts) {
  const std::vector<Member> drained = weighted(fleet_of(3), {1, 0, 1});
  EXPECT_NE(owner_labels({"dalli", {}}, drained), owner_labels({"dalli", {}}, {drained[0], drained[2]}));
  for (const NodeIndex owner : owners_of({"dalli", {}}, drained)) EXPECT_NE(owner, 1u);
}

}  // namespace
}  // namespace slipring
