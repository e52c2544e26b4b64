// Whatever the scheme: bad input is refused with a reason, and good input gives one answer.
#include "slipring/placement/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "slipring/placement/registry.h"

namespace slipring {
namespace {

using ::testing::HasSubstr;

std::vector<Member> members(std::initializer_list<const char*> names) {
  std::vector<Member> made;
  for (const char* name : names) made.push_back({.name = name});
  return made;
}

std::string scheme_error(const SchemeSpec& spec, const std::vector<Member>& list) {
  auto made = make_scheme(spec, list);
  return made ? "no error" : made.error().to_string();
}

TEST(Schemes, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT(scheme_error({.name = "rong"}, members({"a"})),
              HasSubstr("invalid_argument: scheme \"rong\": unknown; there are: "));
  EXPECT_THAT(scheme_error({.name = "rong"}, members({"a"})), HasSubstr("modulo"));
}

TEST(Schemes, AnUnknownOptionListsTheAllowedOnes) {
  EXPECT_THAT(scheme_error({.name = "modulo", .options = {{"vnods", "3"}}}, members({"a"})),
              HasSubstr("option \"vnods\": unknown; allowed: seed"));
}

TEST(Schemes, AnUnknownAttributeNamesTheNode) {
  auto list = members({"a", "b"});
  list[1].attributes["rack"] = "r1";
  EXPECT_THAT(scheme_error({.name = "modulo"}, list), HasSubstr("node b: attribute"));
}

TEST(Schemes, OptionsOutOfRangeAreRefused) {
  for (const char* bad : {"", "x", "-1", "1.5", "18446744073709551616", " 1"}) {
    EXPECT_THAT(scheme_error({.name = "modulo", .options = {{"seed", bad}}}, members({"a"})), HasSubstr("must be")) << bad;
  }
}

TEST(Schemes, MembersAreChecked) {
  const SchemeSpec spec{.name = "modulo"};
  EXPECT_THAT(scheme_error(spec, {}), HasSubstr("no nodes"));
  EXPECT_THAT(scheme_error(spec, members({"a", "b", "a"})), HasSubstr("node a: named twice"));
  EXPECT_THAT(scheme_error(spec, members({"a b"})), HasSubstr("node name \"a b\""));
  for (const int64_t weight : {int64_t{-1}, kWeightMilliMax + 1, INT64_MIN, INT64_MAX}) {
    auto list = members({"a"});
    list[0].weight_milli = weight;
    EXPECT_THAT(scheme_error(spec, list), HasSubstr("must be 0 to 1000")) << weight;
  }
}

TEST(Schemes, AWeightIsRefusedWhereThereAreNone) {
  auto list = members({"a", "b"});
  list[1].weight_milli = 2000;
  EXPECT_THAT(scheme_error({.name = "modulo"}, list), HasSubstr("node b: weight 2: scheme modulo has no weights"));
}

TEST(Schemes, NodeNamesHaveOneTo64SafeBytes) {
  for (const std::string& good : {std::string("a"), std::string(64, 'x'), std::string("A-z_0.9")}) {
    EXPECT_TRUE(check_node_name(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string(65, 'x'), std::string("a:1"), std::string("\xc3\xa4"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(check_node_name(bad)) << bad;
  }
}

TEST(Schemes, EveryDefinitionDocumentsItself) {
  std::set<std::string_view> names;
  for (const SchemeDefinition* definition : all_schemes()) {
    const SchemeInfo& info = definition->info;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(find_scheme(info.name), definition);
    for (const std::string_view text : {info.system, info.source, info.summary, info.disruption, info.cost}) {
      EXPECT_FALSE(text.empty()) << info.name;
    }
    for (const ParameterInfo& option : info.options) {
      EXPECT_FALSE(option.doc.empty()) << info.name << " " << option.name;
      if (option.default_value.empty()) continue;
      const Parameters::Values value = {{std::string(option.name), std::string(option.default_value)}};
      EXPECT_TRUE(Parameters::check(info.options, value, "default")) << info.name << " " << option.name;
    }
  }
}

TEST(Schemes, WithoutListsOfTheirOwnMembersFollowInOrdinalOrder) {
  auto scheme = *make_scheme({.name = "modulo"}, members({"a", "b", "c", "d"}));
  std::vector<NodeIndex> list(6);
  const NodeIndex owner = scheme->owner("k");
  ASSERT_EQ(scheme->preference_list("k", list), 4u);
  for (NodeIndex i = 0; i < 4; ++i) EXPECT_EQ(list[i], (owner + i) % 4);
}

TEST(Options, AreSplitAtTheFirstEqualsSignAndOverridesAtTheLast) {
  EXPECT_EQ(parse_option("label=a=b")->first, "label");
  EXPECT_EQ(parse_option("label=a=b")->second, "a=b");
  EXPECT_EQ(parse_option("override.key.a=b=n1")->first, "override.key.a=b");
  EXPECT_EQ(parse_option("override.key.a=b=n1")->second, "n1");
  EXPECT_FALSE(parse_option("label"));
  EXPECT_FALSE(parse_option("=x"));
}

}  // namespace
}  // namespace slipring
