#include "slipring/placement/cassandra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/fleet_for_test.h"

namespace slipring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kMurmur3 = CassandraPartitioner::kMurmur3;
constexpr auto kRandom = CassandraPartitioner::kRandom;

std::string token_text(CassandraPartitioner partitioner, std::string_view key) {
  return format_cassandra_token(partitioner, cassandra_point(partitioner, key));
}

// One node a zone, tokens 0, 100, 200, ...
std::vector<Member> token_fleet(std::initializer_list<const char*> zones) {
  std::vector<Member> members;
  for (const char* zone : zones) {
    const size_t i = members.size();
    members.push_back(
        {.name = "n" + std::to_string(i), .zone = zone, .attributes = {{"tokens", std::to_string(100 * i)}}});
  }
  return members;
}

// The replicas of a key whose token is below all of the fleet's: the walk begins at the first node.
std::vector<NodeIndex> replicas(const SchemeSpec& spec, const std::vector<Member>& members) {
  const auto scheme = make_scheme(spec, members);
  if (!scheme) {
    ADD_FAILURE() << scheme.error().message;
    return {};
  }
  return dynamic_cast<const CassandraScheme&>(**scheme).replicas("");
}

SchemeSpec network(const char* replication) {
  return {.name = "cassandra", .options = {{"strategy", "network"}, {"replication", replication}}};
}

TEST(Cassandra, Murmur3TokensAreThoseOfTheDriversTests) {
  EXPECT_EQ(token_text(kMurmur3, "123"), "-7468325962851647638");
  std::string repeated;
  for (int i = 0; i < 10; ++i) repeated.append("\x00\xff\x10\xfa\x99", 5);
  EXPECT_EQ(token_text(kMurmur3, repeated), "5837342703291459765");
  EXPECT_EQ(token_text(kMurmur3, "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe"), "-8927430733708461935");
  EXPECT_EQ(token_text(kMurmur3, "\x10\x10\x10\x10\x10\x10\x10\x10"), "1446172840243228796");
  EXPECT_EQ(token_text(kMurmur3, "9223372036854775807"), "7162290910810015547");
}

TEST(Cassandra, RandomTokensAreAbsoluteValuesOfMd5) {
  EXPECT_EQ(token_text(kRandom, "key:0"), "43165277441755697383734458181411559037");
  EXPECT_EQ(token_text(kRandom, "key:1"), "163187080176693569302766573010322712926");
}

TEST(Cassandra, TheEmptyKeyHasTheLowestTokenOfEachPartitioner) {
  EXPECT_EQ(token_text(kMurmur3, ""), "-9223372036854775808");
  EXPECT_EQ(token_text(kRandom, ""), "-1");
  EXPECT_LT(cassandra_point(kRandom, ""), *parse_cassandra_token(kRandom, "0"));
}

TEST(Cassandra, TokensAreReadAndWrittenInDecimal) {
  for (const char* text : {"-9223372036854775808", "-1", "0", "9223372036854775807"}) {
    EXPECT_EQ(format_cassandra_token(kMurmur3, *parse_cassandra_token(kMurmur3, text)), text);
  }
  for (const char* text : {"-1", "0", "170141183460469231731687303715884105728"}) {
    EXPECT_EQ(format_cassandra_token(kRandom, *parse_cassandra_token(kRandom, text)), text);
  }
  EXPECT_LT(*parse_cassandra_token(kMurmur3, "-5"), *parse_cassandra_token(kMurmur3, "5"));
  for (const char* bad : {"", "x", "9223372036854775808", "1.5", " 1"}) {
    EXPECT_FALSE(parse_cassandra_token(kMurmur3, bad)) << bad;
  }
  for (const char* bad : {"", "-2", "1x", "170141183460469231731687303715884105729",
                          "999999999999999999999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_cassandra_token(kRandom, bad)) << bad;
  }
}

TEST(Cassandra, SimpleStrategyTakesDistinctNodesClockwise) {
  auto members = token_fleet({"dc1/r1", "dc1/r1", "dc1/r1"});
  members[0].attributes["tokens"] = "0,50";
  const SchemeSpec spec{.name = "cassandra", .options = {{"replication_factor", "2"}}};
  EXPECT_THAT(replicas(spec, members), ElementsAre(0, 1));
  const auto scheme = *make_scheme(spec, members);
  EXPECT_THAT(list_for_test(*scheme, "", 9), ElementsAre(0, 1, 2));
  EXPECT_EQ(scheme->explain("").range, "(200, 0]");
}

TEST(Cassandra, NetworkStrategyPrefersNewRacks) {
  const auto members = token_fleet({"dc1/r1", "dc1/r1", "dc1/r2", "dc1/r3"});
  EXPECT_THAT(replicas(network("dc1:3"), members), ElementsAre(0, 2, 3));
}

TEST(Cassandra, NetworkStrategyRepeatsRacksOnlyAsOftenAsItMust) {
  const auto members = token_fleet({"dc1/r1", "dc1/r1", "dc1/r1", "dc1/r2", "dc1/r2"});
  EXPECT_THAT(replicas(network("dc1:3"), members), ElementsAre(0, 1, 3));
}

TEST(Cassandra, NetworkStrategyWalksOnceOverAllDataCentres) {
  const auto members = token_fleet({"dc1/r1", "dc2/r1", "dc1/r2", "dc2/r2"});
  EXPECT_THAT(replicas(network("dc1:2,dc2:1"), members), ElementsAre(0, 1, 2));
}

TEST(Cassandra, NetworkStrategyLeavesOutOtherDataCentres) {
  const auto members = token_fleet({"dc1/r1", "dc2/r1", "dc1/r2", "dc3/r1"});
  EXPECT_THAT(replicas(network("dc2:3,dc9:2,dc3:0"), members), ElementsAre(1));
  const auto scheme = *make_scheme(network("dc2:3,dc9:2"), members);
  EXPECT_EQ(scheme->owner(""), 1u);
  EXPECT_THAT(list_for_test(*scheme, "", 4), ElementsAre(1, 0, 2, 3));
}

TEST(Cassandra, WhatCannotBePlacedIsRefused) {
  auto members = token_fleet({"dc1/r1", "dc1/r1"});
  EXPECT_THAT(error_for_test(network("dc2:3"), members), HasSubstr("no node is in any of its data centres"));
  for (const char* bad : {"", "dc1", "dc1:", ":3", "dc1:x", "dc1:1,dc1:2", "dc1:-1"}) {
    EXPECT_THAT(error_for_test(network(bad), members), HasSubstr("option replication")) << bad;
  }
  EXPECT_THAT(error_for_test({.name = "cassandra", .options = {{"replication", "dc1:1"}}}, members),
              HasSubstr("only with strategy=network"));
  SchemeSpec both = network("dc1:1");
  both.options["replication_factor"] = "1";
  EXPECT_THAT(error_for_test(both, members), HasSubstr("only with strategy=simple"));
  members[1].attributes["tokens"] = "7,0";
  EXPECT_THAT(error_for_test({.name = "cassandra"}, members), HasSubstr("token 0: named by n0 and by n1"));
  members[1].attributes.clear();
  EXPECT_THAT(error_for_test({.name = "cassandra"}, members), HasSubstr("node n1: token \"\""));
  members[1].attributes["tokens"] = "9223372036854775808";
  EXPECT_THAT(error_for_test({.name = "cassandra"}, members), HasSubstr("node n1: token"));
}

}  // namespace
}  // namespace slipring
