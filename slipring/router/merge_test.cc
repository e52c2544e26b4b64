// The parts of a split command become the one reply that a single server would have given.
#include "slipring/router/merge.h"

#include <gtest/gtest.h>

#include <map>

#include "slipring/base/random.h"
#include "slipring/protocol/resp/write.h"

namespace slipring::router {
namespace {

Merge started(MergeKind kind, uint32_t parts, std::vector<uint16_t> part_of_key = {}) {
  Merge merge;
  merge.start(kind, parts, part_of_key);
  return merge;
}

TEST(Merge, PutsValuesBackInTheOrderOfTheKeysWhateverPartAnswersFirst) {
  Merge merge = started(MergeKind::kValues, 2, {0, 1, 0, 1, 1});
  EXPECT_FALSE(merge.add(1, "*3\r\n$1\r\nb\r\n$-1\r\n$0\r\n\r\n"));
  EXPECT_TRUE(merge.add(0, "*2\r\n$1\r\na\r\n$2\r\ncc\r\n"));
  EXPECT_EQ(merge.result(), "*5\r\n$1\r\na\r\n$1\r\nb\r\n$2\r\ncc\r\n$-1\r\n$0\r\n\r\n");
}

TEST(Merge, TakesTheNullsOfResp3AsTheyAre) {
  Merge merge = started(MergeKind::kValues, 2, {1, 0});
  merge.add(0, "*1\r\n_\r\n");
  EXPECT_TRUE(merge.add(1, "*1\r\n$1\r\na\r\n"));
  EXPECT_EQ(merge.result(), "*2\r\n$1\r\na\r\n_\r\n");
}

TEST(Merge, AddsCountsUp) {
  Merge merge = started(MergeKind::kSum, 3);
  merge.add(2, ":2\r\n");
  merge.add(0, ":0\r\n");
  EXPECT_TRUE(merge.add(1, ":40\r\n"));
  EXPECT_EQ(merge.result(), ":42\r\n");
}

TEST(Merge, AnswersOkWhenEveryPartDid) {
  Merge merge = started(MergeKind::kOk, 2);
  merge.add(0, "+OK\r\n");
  EXPECT_TRUE(merge.add(1, "+OK\r\n"));
  EXPECT_EQ(merge.result(), "+OK\r\n");
}

TEST(Merge, AnswersTheErrorOfTheFirstPartThatFailed) {
  for (const MergeKind kind : {MergeKind::kValues, MergeKind::kSum, MergeKind::kOk}) {
    Merge merge = started(kind, 3, {0, 1, 2});
    merge.add(2, "-OOM late\r\n");
    merge.add(0, kind == MergeKind::kValues ? "*1\r\n$1\r\na\r\n" : kind == MergeKind::kSum ? ":1\r\n" : "+OK\r\n");
    EXPECT_TRUE(merge.add(1, "-LOADING early\r\n"));
    EXPECT_EQ(merge.result(), "-LOADING early\r\n");
  }
}

TEST(Merge, AnswersAnErrorWhenAServerLies) {
  const std::vector<std::string> lies = {
      "", ":1\r\n", "*1\r\n", "*2\r\n$1\r\na\r\n", "*1\r\n$9\r\na\r\n", "$1\r\na\r\n", "*"};
  for (const std::string& lie : lies) {
    Merge merge = started(MergeKind::kValues, 2, {0, 1, 0});
    merge.add(0, lie);
    merge.add(1, "*1\r\n$1\r\nb\r\n");
    EXPECT_TRUE(merge.result().starts_with("-ERR slipring:")) << lie;
  }
  Merge sum = started(MergeKind::kSum, 1);
  EXPECT_TRUE(sum.add(0, "+OK\r\n"));
  EXPECT_TRUE(sum.result().starts_with("-ERR slipring:"));
}

TEST(Merge, StartsAfreshAfterALieAndAfterAnError) {
  Merge merge = started(MergeKind::kValues, 1, {0});
  merge.add(0, "*1\r\n$9\r\na\r\n");
  EXPECT_TRUE(merge.result().starts_with("-ERR"));
  std::vector<uint16_t> keys = {0};
  merge.start(MergeKind::kValues, 1, keys);
  EXPECT_TRUE(merge.add(0, "*1\r\n$1\r\na\r\n"));
  EXPECT_EQ(merge.result(), "*1\r\n$1\r\na\r\n");
}

TEST(Merge, OfAnySplitEqualsTheUnsplitReply) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto parts = static_cast<uint32_t>(random.below(6) + 1);
    std::vector<uint16_t> part_of_key;
    std::vector<std::string> of_part(parts);
    std::vector<size_t> sizes(parts);
    std::string all;
    const size_t keys = random.below(50) + 1;
    for (size_t i = 0; i < keys; ++i) {
      const auto part = static_cast<uint16_t>(random.below(parts));
      std::string value;
      if (random.chance(0.2)) {
        value = "$-1\r\n";
      } else {
        resp::append_bulk(value, std::string(random.below(20), '\n'));
      }
      all += value;
      of_part[part] += value;
      ++sizes[part];
      part_of_key.push_back(part);
    }
    Merge merge;
    merge.start(MergeKind::kValues, parts, part_of_key);
    for (uint32_t part = parts; part-- > 0;) {
      std::string reply;
      resp::append_array_header(reply, sizes[part]);
      EXPECT_EQ(merge.add(static_cast<uint16_t>(part), reply + of_part[part]), part == 0);
    }
    std::string expected;
    resp::append_array_header(expected, keys);
    ASSERT_EQ(merge.result(), expected + all) << "seed " << seed;
  }
}

}  // namespace
}  // namespace slipring::router
