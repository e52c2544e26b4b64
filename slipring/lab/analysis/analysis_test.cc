// The analyses against theory. Figures of many rings are within 10 % of it with far fewer rings than the documented
// 2,000 (docs/lab.md, whose examples run with the optimised program).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "slipring/lab/analysis/balance.h"
#include "slipring/lab/analysis/capacity.h"
#include "slipring/lab/analysis/cascade.h"
#include "slipring/lab/analysis/hashes.h"
#include "slipring/lab/analysis/karger.h"
#include "slipring/lab/analysis/maglev.h"
#include "slipring/lab/analysis/misses.h"
#include "slipring/lab/analysis/moves.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/lab/analysis/statistics.h"
#include "slipring/lab/analysis/svg.h"

namespace slipring::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SystemClock kClock;

const ReportTable& table_of(const Report& report, const std::string& key) {
  for (const ReportTable& table : report.tables) {
    if (table.key == key) return table;
  }
  ADD_FAILURE() << "no table " << key;
  static const ReportTable kNone;
  return kNone;
}

double number(const ReportTable& table, size_t row, const std::string& column) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key == column) return std::get<double>(table.rows.at(row).at(i));
  }
  ADD_FAILURE() << "no column " << column;
  return 0;
}

// ---- rings

TEST(Rings, SharesSumToOneAndAreThoseOfTheNativeRing) {
  const std::vector<double> shares = ring_shares(7, 40, 3);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
  const auto ring = make_scheme({"ring", {{"vnodes", "40"}, {"seed", "3"}}}, numbered_members(7)).value();
  const auto map = ring->ownership().value();
  std::vector<double> exact(7);
  uint64_t before = map.ranges.back().end;
  for (const OwnedRange& range : map.ranges) {
    exact[range.owner] += static_cast<double>(range.end - before) * 0x1.0p-64;
    before = range.end;
  }
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(shares[i], exact[i], 1e-9) << i;
}

TEST(Rings, TheSpreadIsWhatTheorySays) {
  EXPECT_NEAR(theory_stdev(2, 50), 0.0995, 1e-4);
  EXPECT_NEAR(theory_stdev(100, 100), 0.0995, 1e-4);
  EXPECT_NEAR(theory_stdev(100, 512), 0.0440, 1e-4);
  for (const auto& [nodes, vnodes, rings] :
       {std::tuple(2, 50, 1000), std::tuple(2, 200, 1000), std::tuple(20, 100, 60)}) {
    const double theory = theory_stdev(static_cast<uint64_t>(nodes), static_cast<uint64_t>(vnodes));
    const double measured =
        measured_stdev(static_cast<uint64_t>(nodes), static_cast<uint64_t>(vnodes), static_cast<uint64_t>(rings));
    EXPECT_NEAR(measured / theory, 1, 0.1) << nodes << " nodes, " << vnodes << " vnodes";
  }
}

TEST(Rings, AJoiningNodeTakesItsShare) {
  const std::vector<double> shares = joining_shares(3, 100, 500);
  EXPECT_NEAR(mean_of(shares), 0.25, 0.025);
  EXPECT_NEAR(percentile_of(shares, 0.05), 0.215, 0.01);
  EXPECT_NEAR(percentile_of(shares, 0.95), 0.29, 0.01);
}

TEST(Statistics, OfSmallSamples) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_EQ(percentile_of(values, 0.5), 2);
  EXPECT_EQ(percentile_of(values, 0), 1);
  EXPECT_EQ(percentile_of(values, 1), 4);
  EXPECT_EQ(mean_of({}), 0);
  const Spread spread = spread_of(std::vector<double>{1, 3, 7}, std::vector<double>{0.5, 0.5, 0});
  EXPECT_DOUBLE_EQ(spread.max, 3 / 5.5);
  EXPECT_DOUBLE_EQ(spread.min, 1 / 5.5);
}

// ---- keys

TEST(Keys, SyntheticOnesAreTheSameEveryTime) {
  const KeySet a = synthetic_keys(100, KeyShape::kUniform, 7);
  const KeySet b = synthetic_keys(100, KeyShape::kUniform, 7);
  EXPECT_EQ(a.keys[99].name, b.keys[99].name);
  EXPECT_NE(a.keys[0].name, synthetic_keys(1, KeyShape::kUniform, 8).keys[0].name);
  EXPECT_EQ(synthetic_keys(5, KeyShape::kZipf, 1).keys[4].lookups, 0.2);
}

TEST(Keys, OfAFileWithSizes) {
  const KeySet set = parse_keys("a\t10\nb c\r\n\nd\t0", "keys.txt").value();
  ASSERT_EQ(set.keys.size(), 3u);
  EXPECT_TRUE(set.has_bytes);
  EXPECT_EQ(set.keys[0].bytes, 10u);
  EXPECT_EQ(set.keys[1].name, "b c");
  EXPECT_EQ(parse_keys("", "f").error().code, Code::kInvalidArgument);
  EXPECT_THAT(parse_keys("a\nb\tx\n", "f").error().message, HasSubstr("f: line 2"));
  EXPECT_FALSE(parse_keys("b\t-1\n", "f"));
}

// ---- moves

TEST(Moves, ByRemainderBetweenTwoCounts) {
  EXPECT_DOUBLE_EQ(modulo_moved_share(3, 4), 0.75);
  EXPECT_DOUBLE_EQ(modulo_moved_share(4, 5), 0.8);
  EXPECT_DOUBLE_EQ(modulo_moved_share(10, 20), 0.5);
  EXPECT_DOUBLE_EQ(modulo_moved_share(100, 101), 1 - 1.0 / 101);
  EXPECT_DOUBLE_EQ(modulo_moved_share(5, 5), 0);
  for (const uint64_t a : {3u, 6u, 10u}) {
    for (const uint64_t b : {4u, 9u, 15u}) {
      uint64_t moved = 0;
      for (uint64_t h = 0; h < a * b; ++h) moved += h % a != h % b ? 1 : 0;
      EXPECT_NEAR(modulo_moved_share(a, b), static_cast<double>(moved) / static_cast<double>(a * b), 1e-12) << a << b;
    }
  }
}

TEST(Moves, TheSevenHashes) {
  const std::vector<uint64_t> hashes = {18358617, 26143584, 18131146, 35863496, 77581703, 38164978, 22530351};
  const std::vector<std::string> before = {"A", "B", "C", "D"};
  const std::vector<std::string> after = {"A", "C", "D"};
  EXPECT_THAT(analyse_remainders(hashes, before, after).notes,
              ElementsAre("3 of 7 keys change their server.", "6 of 7 keys change their index."));
}

TEST(Moves, ARemovedNodesLoadFallsOnMany) {
  MovesInput input;
  input.before = {{"ring", {{"vnodes", "100"}}}, numbered_members(10)};
  input.after = input.before;
  input.after.members.erase(input.after.members.begin() + 1);
  input.change = "remove n2";
  const Report report = analyse_moves(input, synthetic_keys(2000, KeyShape::kSequential, 1)).value();
  EXPECT_THAT(report.notes, ElementsAre("The load of n2 falls on 9 of the 9 nodes that stay."));
  const ReportTable& moved = table_of(report, "moved");
  EXPECT_NEAR(number(moved, 0, "share"), 0.1, 0.03);
  EXPECT_NEAR(number(moved, 1, "share"), 0.1, 1e-9);
  // One vnode: it falls on one.
  input.before.spec.options["vnodes"] = input.after.spec.options["vnodes"] = "1";
  EXPECT_THAT(analyse_moves(input, synthetic_keys(10, KeyShape::kSequential, 1))->notes,
              ElementsAre("The load of n2 falls on 1 of the 9 nodes that stay."));
}

TEST(Moves, WhatCannotBeMadeIsRefused) {
  MovesInput input;
  input.before = {{"ring", {}}, numbered_members(2)};
  input.after = {{"rong", {}}, numbered_members(2)};
  EXPECT_THAT(analyse_moves(input, synthetic_keys(1, KeyShape::kUniform, 1)).error().message, HasSubstr("after"));
}

// ---- balance, karger, hashes

TEST(Balance, CountsKeysBytesAndLookups) {
  BalanceInput input;
  input.members = numbered_members(4);
  input.members[3].weight_milli = 3000;
  input.vnodes = {16, 64};
  input.rings = 10;
  KeySet set = synthetic_keys(4000, KeyShape::kZipf, 1);
  for (LabKey& key : set.keys) key.bytes = 100;
  set.has_bytes = true;
  const Report report = analyse_balance(input, set, kClock).value();
  const ReportTable& nodes = table_of(report, "nodes");
  double keys = 0;
  double bytes = 0;
  for (size_t i = 0; i < 4; ++i) {
    keys += number(nodes, i, "keys");
    bytes += number(nodes, i, "bytes");
  }
  EXPECT_EQ(keys, 4000);
  EXPECT_EQ(bytes, 400'000);
  EXPECT_DOUBLE_EQ(number(nodes, 3, "fair"), 0.5);
  EXPECT_NEAR(number(nodes, 3, "share"), 0.5, 0.1);
  EXPECT_EQ(table_of(report, "vnodes").rows.size(), 2u);
  EXPECT_GT(number(table_of(report, "vnodes"), 0, "lookup"), 0);
}

TEST(Balance, NamesNoKeyWhenAskedNotTo) {
  BalanceInput input;
  input.members = numbered_members(2);
  KeySet set = parse_keys("secret:1\t5\nsecret:2\t9\n", "f").value();
  const auto first_key = [&] {
    return std::get<std::string>(table_of(*analyse_balance(input, set, kClock), "heaviest").rows.at(0).at(0));
  };
  EXPECT_EQ(first_key(), "secret:2");
  input.redact = true;
  EXPECT_EQ(first_key(), "(redacted 1)");
}

TEST(Karger, ARingHasTheSpreadOfTheoryAndMovesNothingBetweenOldNodes) {
  double spread = 0;
  constexpr int kRuns = 6;
  for (int seed = 1; seed <= kRuns; ++seed) {
    KargerInput input;
    input.specs = {{"ring", {}}, {"modulo", {}}};
    input.members = numbered_members(20);
    input.views = 30;
    input.seed = static_cast<uint64_t>(seed);
    const Report report = analyse_karger(input, synthetic_keys(300, KeyShape::kUniform, 1)).value();
    const ReportTable& table = table_of(report, "properties");
    spread += number(table, 0, "spread_mean") / kRuns;
    EXPECT_EQ(number(table, 0, "disorder"), 0);
    EXPECT_GT(number(table, 1, "disorder"), 0.8);
    EXPECT_GT(number(table, 1, "spread_mean"), 2 * number(table, 0, "spread_mean"));
  }
  EXPECT_NEAR(spread / theory_key_spread(30, 0.5), 1, 0.1);
  EXPECT_DOUBLE_EQ(theory_key_spread(7, 1), 1);
}

TEST(Hashes, GoodOnesAreWithinTheoryAndABadOneIsSeen) {
  const Report report = analyse_hashes(synthetic_keys(20'000, KeyShape::kUniform, 5), 64, kClock);
  const ReportTable& table = table_of(report, "hashes");
  ASSERT_EQ(table.rows.size(), 6u);
  for (const size_t row : {0u, 1u, 2u, 5u}) EXPECT_LT(std::abs(number(table, row, "deviation")), 5) << row;
}

// ---- fleets

TEST(Misses, TheCacheOfTheHandbook) {
  const auto outcomes = simulate_misses({}).value();
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_NEAR(outcomes[0].origin_first, 495'250, 0.5);
  EXPECT_NEAR(outcomes[1].origin_first, 29'750, 0.5);
  EXPECT_NEAR(outcomes[1].hit_ratio_first, 0.9405, 1e-9);
  EXPECT_FALSE(outcomes[0].passes);
  EXPECT_FALSE(outcomes[1].passes) << "94.05 % is below what was promised";
  EXPECT_GT(outcomes[0].failed_fills, 1e6);
  EXPECT_EQ(outcomes[1].failed_fills, 0);
  EXPECT_TRUE(outcomes[2].passes);
  EXPECT_TRUE(outcomes[3].passes);
  EXPECT_NEAR(outcomes[3].origin_first, 25'000, 0.5);
  EXPECT_GT(outcomes[0].seconds_to_recover, outcomes[1].seconds_to_recover);
}

TEST(Misses, PopularKeysComeBackSooner) {
  MissesInput input;
  MissesInput zipf;
  zipf.zipf = true;
  const auto even = simulate_misses(input).value();
  const auto uneven = simulate_misses(zipf).value();
  EXPECT_NEAR(uneven[1].origin_first, even[1].origin_first, 0.5);
  const auto soon = [](const MissesOutcome& o) { return o.origin.at(5); };
  EXPECT_LT(soon(uneven[1]), soon(even[1]));
}

TEST(Misses, AbsurdFiguresAreRefused) {
  const auto refused = [](auto change) {
    MissesInput input;
    change(input);
    return !simulate_misses(input).has_value();
  };
  EXPECT_TRUE(refused([](MissesInput& i) { i.hit_ratio = 1.5; }));
  EXPECT_TRUE(refused([](MissesInput& i) { i.change = 0; }));
  EXPECT_TRUE(refused([](MissesInput& i) { i.change = -100; }));
  EXPECT_TRUE(refused([](MissesInput& i) { i.servers = 0; }));
  EXPECT_TRUE(refused([](MissesInput& i) { i.lookups_per_second = -1; }));
  EXPECT_TRUE(refused([](MissesInput& i) { i.origin_capacity = std::numeric_limits<double>::quiet_NaN(); }));
}

TEST(Cascade, OneVnodeTakesAllDownAndManyDoNot) {
  CascadeInput input;
  input.nodes = 20;
  const CascadeOutcome one = run_cascade(input, 1);
  const CascadeOutcome many = run_cascade(input, 512);
  EXPECT_EQ(one.survivors, 0u);
  EXPECT_EQ(one.takers, 1u);
  EXPECT_EQ(many.survivors, 19u);
  EXPECT_EQ(many.takers, 19u);
  EXPECT_EQ(many.falls.size(), 1u);
  input.first = "n7";
  EXPECT_THAT(run_cascade(input, 512).falls[0], ElementsAre("n7"));
  input.first = "n21";
  EXPECT_FALSE(analyse_cascade(input));
  input.first = "";
  input.capacity = 0.5;
  EXPECT_FALSE(analyse_cascade(input));
}

TEST(Capacity, TwentyFourNodesInThreeZones) {
  CapacityInput input;
  input.before = numbered_members(24);
  for (size_t i = 0; i < 24; ++i) input.before[i].zone = "z" + std::to_string(i % 3);
  input.after = input.before;
  input.after.push_back({.name = "n25", .label = "", .weight_milli = 1000, .zone = "z0", .attributes = {}});
  const CapacityOutcome out = measure_capacity(input).value();
  EXPECT_EQ(out.tokens_before, 3072u);
  EXPECT_EQ(out.tokens_after, 3200u);
  EXPECT_EQ(out.zone_overlaps, 0u);
  // One of three replicas lies in z0, of which the ninth node takes a ninth.
  EXPECT_NEAR(out.moved, 1.0 / 27, 0.01);
  EXPECT_EQ(out.across_zones, 0) << "z0 held a replica of everything";
  EXPECT_NEAR(out.ideal, 1.0 / 25, 1e-9);
  input.after.push_back(input.after.back());
  EXPECT_FALSE(measure_capacity(input));
}

TEST(Capacity, WithoutZonesEveryNodeIsOne) {
  CapacityInput input;
  input.before = numbered_members(2);
  input.after = numbered_members(3);
  input.replicas = 3;
  const CapacityOutcome out = measure_capacity(input).value();
  EXPECT_NEAR(out.moved, 1.0 / 3, 1e-9) << "the third copy of everything";
  EXPECT_NEAR(out.across_zones, out.moved, 1e-9);
}

TEST(Maglev, LargerTablesBreakFewer) {
  MaglevInput input;
  input.connections = 10'000;
  input.table_sizes = {251, 16381};
  const Report report = analyse_maglev(input).value();
  const ReportTable& table = table_of(report, "survive");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_LT(number(table, 0, "others"), number(table, 1, "others"));
  EXPECT_EQ(number(table, 2, "others"), 1) << "a ring breaks none of them";
  EXPECT_LT(number(table, 3, "survive"), 0.2);
  input.table_sizes = {250};
  EXPECT_FALSE(analyse_maglev(input)) << "no prime";
  input.removed = "n11";
  EXPECT_FALSE(analyse_maglev(input));
}

// ---- plots

TEST(Svg, TicksAreRoundAndCover) {
  EXPECT_THAT(axis_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(axis_ticks(0, 1, 4), ElementsAre(0, 0.25, 0.5, 0.75, 1));
  const auto ticks = axis_ticks(3, 97'000, 6);
  EXPECT_LE(ticks.front(), 3);
  EXPECT_GE(ticks.back(), 97'000);
}

TEST(Svg, ADocumentWithEscapedTextAndAllPoints) {
  Plot lines{
      "a < b & c", Plot::Kind::kLines, "x", "y", true, {}, {{"one", {{1, 2}, {10, 3}, {100, 5}}}, {"two", {{1, 1}}}}};
  Plot bars{"bars", Plot::Kind::kBars, "node", "%", false, {"n1", "n2"}, {{"keys", {{0, 90}, {1, 110}}}}};
  const std::string svg = svg_of(std::vector<Plot>{lines, bars});
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  size_t circles = 0;
  for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++circles;
  EXPECT_EQ(circles, 4u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace slipring::lab
