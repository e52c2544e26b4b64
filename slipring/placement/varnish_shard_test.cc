#include "slipring/placement/varnish_shard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slipring/hash/load.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

SchemeSpec shard(const std::map<std::string, std::string>& options) {
  return {"varnish-shard", options};
}

uint32_t last_word(const std::string& text) {
  return load_le32(sha256(text).data() + 28);
}

TEST(VarnishShard, BeyondTheLastPointTheLastOneOwns) {
  const std::vector<Member> members = labelled({"b1", "b2", "b3", "b4"});
  std::vector<std::pair<uint32_t, NodeIndex>> points;
  for (NodeIndex m = 0; m < 4; ++m) points.emplace_back(last_word(members[m].label + "0"), m);
  std::sort(points.begin(), points.end());
  const auto scheme = scheme_of(shard({{"replicas", "1"}}), members);
  for (const std::string& key : some_keys()) {
    const auto next = std::lower_bound(points.begin(), points.end(), std::pair<uint32_t, NodeIndex>(last_word(key), 0));
    EXPECT_EQ(scheme->owner(key), next == points.end() ? points.back().second : next->second);
  }
}

// Its bisection of two points starts at the second and stops there.
TEST(VarnishShard, OfTwoPointsInAllTheSecondAlwaysOwns) {
  const std::vector<Member> members = labelled({"b1", "b2"});
  const NodeIndex higher = last_word("b10") > last_word("b20") ? 0 : 1;
  EXPECT_EQ(owners_of(shard({{"replicas", "1"}}), members), std::vector<NodeIndex>(some_keys().size(), higher));
}

TEST(VarnishShard, NumbersArePointsThemselves) {
  const std::vector<Member> members = labelled({"b1", "b2", "b3"});
  const std::vector<std::string> numbers = {"0", std::to_string(last_word("user:1")), "4294967295"};
  const auto by_number = owners_of(shard({{"by", "number"}}), members, numbers);
  EXPECT_EQ(by_number[1], owners_of(shard({}), members, {"user:1"})[0]);
}

TEST(VarnishShard, TheBackendSideHashesUrlAndHost) {
  const std::vector<Member> members = labelled({"b1", "b2", "b3", "b4", "b5"});
  const std::vector<std::string> urls = {"/a", "/b?c=1", "/", "/long/path/to/something"};
  const auto client = owners_of(shard({{"by", "hash"}, {"host", "h"}}), members, urls);
  EXPECT_EQ(client, owners_of(shard({{"by", "url"}}), members, urls));
  std::vector<std::string> numbers;
  for (const std::string& url : urls) {
    const std::string request = url + std::string(1, '\0') + "h" + std::string(1, '\0');
    numbers.push_back(std::to_string(load_be32(sha256(request).data())));
  }
  EXPECT_EQ(owners_of(shard({{"by", "hash"}, {"side", "backend"}, {"host", "h"}}), members, urls),
            owners_of(shard({{"by", "number"}}), members, numbers));
}

TEST(VarnishShard, AltIsTheNthFurtherBackendAndStopsAtTheLast) {
  const std::vector<Member> members = labelled({"b1", "b2", "b3", "b4"});
  const auto plain = scheme_of(shard({}), members);
  for (size_t alt = 0; alt < 6; ++alt) {
    const auto scheme = scheme_of(shard({{"alt", std::to_string(alt)}}), members);
    for (const std::string& key : some_keys()) {
      std::vector<NodeIndex> list(4);
      ASSERT_EQ(plain->preference_list(key, list), 4u);
      EXPECT_EQ(scheme->owner(key), list[std::min<size_t>(alt, 3)]);
      NodeIndex first = kNoNode;
      scheme->preference_list(key, {&first, 1});
      EXPECT_EQ(first, scheme->owner(key));
    }
  }
}

TEST(VarnishShard, WeightsMayBeFractionsFromOneOn) {
  std::vector<Member> members = labelled({"b1", "b2"});
  members[0].weight_milli = 1500;
  EXPECT_EQ(refusal(shard({}), members), "accepted");
  members[0].weight_milli = 999;
  EXPECT_NE(refusal(shard({}), members).find("must be 0, or 1 or more"), std::string::npos);
  EXPECT_NE(refusal(shard({}), labelled({"b1", "b1"})).find("used twice"), std::string::npos);
}

}  // namespace
}  // namespace slipring
