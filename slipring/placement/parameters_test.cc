// A value is what its table line says, or the whole set is refused with that line in the message.
#include "slipring/placement/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/index_set.h"

namespace slipring {
namespace {

using ::testing::HasSubstr;

constexpr ParameterInfo kTable[] = {
    {"turns", ParameterType::kInteger, "-1", "-5..5", "an integer"},
    {"seed", ParameterType::kUnsigned, "7", "", "an unsigned integer"},
    {"load", ParameterType::kDecimal, "1.25", "1..10", "a decimal"},
    {"wide", ParameterType::kFlag, "false", "", "a flag"},
    {"mode", ParameterType::kChoice, "fast", "fast|slow", "a choice"},
    {"label", ParameterType::kText, "", "", "a text"},
};

std::string parameters_error(const Parameters::Values& values) {
  auto checked = Parameters::check(kTable, values, "option");
  return checked ? "no error" : checked.error().message;
}

TEST(Parameters, DefaultsStandInForWhatIsNotGiven) {
  const Parameters::Values none;
  const Parameters p = *Parameters::check(kTable, none, "option");
  EXPECT_EQ(p.integer("turns"), -1);
  EXPECT_EQ(p.unsigned_integer("seed"), 7u);
  EXPECT_EQ(p.decimal("load"), 1.25);
  EXPECT_FALSE(p.flag("wide"));
  EXPECT_EQ(p.text("mode"), "fast");
  EXPECT_EQ(p.text("label"), "");
  EXPECT_FALSE(p.given("mode"));
}

TEST(Parameters, GivenValuesAreRead) {
  const Parameters::Values values = {{"turns", "5"},   {"seed", "18446744073709551615"},
                                     {"load", "2.5"},  {"wide", "true"},
                                     {"mode", "slow"}, {"label", "a=b"}};
  const Parameters p = *Parameters::check(kTable, values, "option");
  EXPECT_EQ(p.integer("turns"), 5);
  EXPECT_EQ(p.unsigned_integer("seed"), UINT64_MAX);
  EXPECT_EQ(p.decimal("load"), 2.5);
  EXPECT_TRUE(p.flag("wide"));
  EXPECT_EQ(p.text("mode"), "slow");
  EXPECT_EQ(p.text("label"), "a=b");
  EXPECT_TRUE(p.given("mode"));
}

TEST(Parameters, WrongValuesNameTheLineOfTheTable) {
  const std::multimap<std::string, std::string> wrong = {
      {"turns", "6"},  {"turns", "-6"},   {"turns", "1.0"}, {"turns", ""},         {"turns", "+1"}, {"seed", "-1"},
      {"seed", "1e3"}, {"load", "0.999"}, {"load", "nan"},  {"load", "inf"},       {"load", "1,5"}, {"load", "10.1"},
      {"wide", "yes"}, {"wide", "TRUE"},  {"mode", "fas"},  {"mode", "fast|slow"}, {"mode", ""},
  };
  for (const auto& [name, value] : wrong) {
    EXPECT_THAT(parameters_error({{name, value}}), HasSubstr("option " + name + ": \"" + value + "\": must be ")) << value;
  }
  EXPECT_THAT(parameters_error({{"turns", "6"}}), HasSubstr("must be integer -5..5"));
  EXPECT_THAT(parameters_error({{"mode", "x"}}), HasSubstr("must be fast|slow"));
}

TEST(Parameters, UnknownNamesListTheKnownOnes) {
  EXPECT_THAT(parameters_error({{"lode", "1"}}),
              HasSubstr("option \"lode\": unknown; allowed: turns, seed, load, wide, mode, label"));
  EXPECT_THAT(Parameters::check({}, {{"x", "1"}}, "attribute").error().message, HasSubstr("allowed: none"));
}

TEST(Parameters, HugeValuesAreCutInMessages) {
  EXPECT_LT(parameters_error({{"mode", std::string(100'000, 'x')}}).size(), 300u);
  EXPECT_LT(parameters_error({{std::string(100'000, 'x'), "1"}}).size(), 300u);
}

TEST(IndexSet, KeepsEveryIndexOnceBelowAndBeyondItsArray) {
  IndexSet set;
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(set.contains(i * 37));
    EXPECT_TRUE(set.insert(i * 37));
    EXPECT_FALSE(set.insert(i * 37));
    EXPECT_EQ(set.size(), i + 1);
  }
  for (uint32_t i = 0; i < 3700; ++i) EXPECT_EQ(set.contains(i), i % 37 == 0) << i;
  EXPECT_FALSE(set.contains(UINT32_MAX));
}

}  // namespace
}  // namespace slipring
