#include "slipring/cli/node_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipring::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const Result<std::vector<Member>>& nodes) {
  return nodes ? "none" : nodes.error().message;
}

TEST(NodeList, EveryPartMayBeLeftOut) {
  EXPECT_THAT(*parse_node_list("a"), ElementsAre(Member{.name = "a"}));
  EXPECT_THAT(*parse_node_list("a,b"), ElementsAre(Member{.name = "a"}, Member{.name = "b"}));
  EXPECT_THAT(*parse_node_list("a=10.0.0.1:11211*2.5@dc1/rack2;id=7;down=true"),
              ElementsAre(Member{.name = "a",
                                 .label = "10.0.0.1:11211",
                                 .weight_milli = 2500,
                                 .zone = "dc1/rack2",
                                 .attributes = {{"down", "true"}, {"id", "7"}}}));
  EXPECT_THAT(
      *parse_node_list("a@z,b*0;k=,c=l"),
      ElementsAre(Member{.name = "a", .zone = "z"}, Member{.name = "b", .weight_milli = 0, .attributes = {{"k", ""}}},
                  Member{.name = "c", .label = "l"}));
}

TEST(NodeList, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_THAT(
      *parse_node_list(R"(a=[10.0.0.1:80/TCP\,State:active];tokens=1\,2,b=x\\y\*)"),
      ElementsAre(Member{.name = "a", .label = "[10.0.0.1:80/TCP,State:active]", .attributes = {{"tokens", "1,2"}}},
                  Member{.name = "b", .label = R"(x\y*)"}));
  EXPECT_EQ(parse_node_list("a\\")->front().name, "a\\");
}

TEST(NodeList, ErrorsNameTheNode) {
  EXPECT_EQ(error_of(parse_node_list("a,b*x")), "node 2: weight \"x\": must be 0 to 1000, at most three places");
  for (const char* bad : {"a*", "a*-1", "a*1001", "a*1.0001", "a* 1"}) {
    EXPECT_THAT(error_of(parse_node_list(bad)), HasSubstr("node 1: weight")) << bad;
  }
  EXPECT_EQ(error_of(parse_node_list("a;rack")), "node 1: write ;attribute=value");
  EXPECT_EQ(error_of(parse_node_list("a;=x")), "node 1: write ;attribute=value");
  EXPECT_EQ(error_of(parse_node_list("a;k=1;k=2")), "node 1: attribute k: given twice");
}

TEST(NodeLines, CommasPartNothingAndCommentsAreSkipped) {
  const auto nodes = parse_node_lines("# fleet\n\n  a;tokens=1,2 \r\nb=x,y*3@z");
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(*nodes, ElementsAre(Member{.name = "a", .attributes = {{"tokens", "1,2"}}},
                                  Member{.name = "b", .label = "x,y", .weight_milli = 3000, .zone = "z"}));
  EXPECT_TRUE(parse_node_lines("")->empty());
  EXPECT_EQ(error_of(parse_node_lines("a\n\nb;x")), "line 3: write ;attribute=value");
}

TEST(NodeToml, TablesHoldWhatTheLineFormHolds) {
  const auto nodes = parse_node_toml(
      "[[node]]\nname = \"a\"\nlabel = \"l\"\nweight = 1.5\nzone = \"z\"\n"
      "attributes = { id = 7, down = true, tokens = \"1,2\" }\n[[node]]\nname = \"b\"\n");
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(*nodes, ElementsAre(Member{.name = "a",
                                         .label = "l",
                                         .weight_milli = 1500,
                                         .zone = "z",
                                         .attributes = {{"down", "true"}, {"id", "7"}, {"tokens", "1,2"}}},
                                  Member{.name = "b"}));
}

TEST(NodeToml, WhatIsNoNodeIsRefusedWithItsPlace) {
  EXPECT_THAT(error_of(parse_node_toml("x = \n")), HasSubstr("line 1: "));
  EXPECT_THAT(error_of(parse_node_toml("nodes = 3")), HasSubstr("nodes: unknown"));
  EXPECT_THAT(error_of(parse_node_toml("node = [1, 2]")), HasSubstr("node: unknown"));
  EXPECT_THAT(error_of(parse_node_toml("[[node]]\nname = \"a\"\nport = 1")), HasSubstr("line 1: port: unknown"));
  EXPECT_THAT(error_of(parse_node_toml("[[node]]\nname = [\"a\"]")), HasSubstr("name: must be a text"));
  EXPECT_THAT(error_of(parse_node_toml("[[node]]\nattributes = 1")), HasSubstr("attributes: must be a table"));
  EXPECT_THAT(error_of(parse_node_toml("[[node]]\nweight = 1001")), HasSubstr("line 1: "));
}

}  // namespace
}  // namespace slipring::cli
