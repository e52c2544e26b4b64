#include "slipring/placement/buraksezer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/fleet_for_test.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;

std::vector<size_t> counts(const Result<std::vector<NodeIndex>>& partitions, size_t members) {
  std::vector<size_t> found(members);
  for (const NodeIndex member : *partitions) ++found[member];
  return found;
}

TEST(Buraksezer, AnswersAreTheRecordedOnes) {
  const auto scheme = *make_scheme({.name = "buraksezer"}, addresses_for_test(5));
  EXPECT_EQ(scheme->explain("").point, "partition 171");
  EXPECT_THAT(list_for_test(*scheme, "", 3), ElementsAre(4, 1, 3));
  EXPECT_THAT(list_for_test(*scheme, "key:0", 3), ElementsAre(3, 0, 2));
  EXPECT_EQ(scheme->owner("key:2"), 4u);
}

TEST(Buraksezer, NobodyHasMoreThanTheCap) {
  const std::vector<std::string_view> names = {"a", "b", "c", "d"};
  const auto partitions = buraksezer_partitions(names, {});
  ASSERT_TRUE(partitions);
  EXPECT_THAT(counts(partitions, 4), ::testing::Each(Le(85u)));  // ceil(271 / 4 * 1.25)
}

TEST(Buraksezer, ReleasesDisagree) {
  const std::vector<std::string_view> names = {"a", "b", "c", "d"};
  EXPECT_NE(*buraksezer_partitions(names, {.release = BuraksezerRelease::k0}), *buraksezer_partitions(names, {}));
}

// 7 partitions over 4 members at load 1: 0.x allows 1 each, which is not enough; 1.0 allows 2.
TEST(Buraksezer, Release0DividesInIntegers) {
  const std::vector<std::string_view> names = {"a", "b", "c", "d"};
  BuraksezerConfig config{.partition_count = 7, .load = 1, .release = BuraksezerRelease::k0};
  EXPECT_THAT(buraksezer_partitions(names, config).error().message, HasSubstr("no room for partition 4"));
  config.release = BuraksezerRelease::k1;
  EXPECT_THAT(counts(buraksezer_partitions(names, config), 4), ::testing::Each(Le(2u)));
}

// With one point, release 0.x looks at none.
TEST(Buraksezer, Release0NeverTriesTheLastPoint) {
  const std::vector<std::string_view> names = {"a"};
  BuraksezerConfig config{.partition_count = 3, .replication_factor = 1, .release = BuraksezerRelease::k0};
  EXPECT_FALSE(buraksezer_partitions(names, config));
  config.release = BuraksezerRelease::k1;
  EXPECT_TRUE(buraksezer_partitions(names, config));
}

TEST(Buraksezer, ALoadThatLeavesNoRoomIsRefused) {
  const SchemeSpec spec{.name = "buraksezer", .options = {{"load", "0.5"}}};
  EXPECT_THAT(error_for_test(spec, addresses_for_test(3)), HasSubstr("no room for partition"));
  EXPECT_THAT(error_for_test({.name = "buraksezer", .options = {{"partition_count", "0"}}}, addresses_for_test(3)),
              HasSubstr("must be"));
}

}  // namespace
}  // namespace slipring
