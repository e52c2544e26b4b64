// Counting is exact, quantiles are within their bound, and the text is what Prometheus reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "slipring/base/random.h"
#include "slipring/metrics/registry.h"
#include "slipring/metrics/testing.h"

namespace slipring::metrics {
namespace {

using testing::ExpositionReader;

TEST(Buckets, CoverAllValuesWithoutGapOrOverlap) {
  EXPECT_EQ(bucket_of(0), 0u);
  for (size_t b = 0; b + 1 < kBuckets; ++b) {
    EXPECT_EQ(bucket_of(bucket_max(b)), b);
    EXPECT_EQ(bucket_of(bucket_max(b) + 1), b + 1);
  }
  EXPECT_EQ(bucket_max(kBuckets - 1), (uint64_t{1} << kValueBits) - 1);
  EXPECT_EQ(bucket_of(UINT64_MAX), kBuckets - 1);
}

TEST(Buckets, AreWithinAThirtySecondOfTheirValues) {
  for (size_t b = 1; b < kBuckets; ++b) {
    const double low = static_cast<double>(bucket_max(b - 1) + 1);
    EXPECT_LE((static_cast<double>(bucket_max(b)) - low) / low, 1.0 / 32);
  }
}

TEST(HistogramData, QuantilesAreTooHighByAThirtySecondAtMost) {
  Random random(1);
  for (const uint64_t bound : {10u, 1000u, 1'000'000u, 1'000'000'000u}) {
    HistogramData data;
    std::vector<uint64_t> values(1000);
    for (uint64_t& value : values) data.record(value = random.below(bound));
    std::sort(values.begin(), values.end());
    for (const double q : {0.001, 0.5, 0.9, 0.99, 1.0}) {
      const uint64_t exact = values[static_cast<size_t>(q * 1000) - 1];
      EXPECT_GE(data.quantile(q), exact) << bound << " " << q;
      EXPECT_LE(data.quantile(q), exact + exact / 32) << bound << " " << q;
    }
    EXPECT_EQ(data.quantile(1), values.back());
    EXPECT_EQ(data.max, values.back());
  }
}

TEST(HistogramData, AnEmptyOneAnswersZero) {
  const HistogramData empty;
  EXPECT_EQ(empty.quantile(0.5), 0u);
  EXPECT_EQ(empty.count_below_power(40), 0u);
}

TEST(HistogramData, QuantilesOutsideTheirRangeAreClamped) {
  HistogramData data;
  data.record(3);
  data.record(7);
  EXPECT_EQ(data.quantile(-1), 3u);
  EXPECT_EQ(data.quantile(2), 7u);
}

TEST(HistogramData, ValuesBeyondTheRangeKeepTheirMax) {
  HistogramData data;
  data.record(uint64_t{1} << 50);
  EXPECT_EQ(data.quantile(0.5), uint64_t{1} << 50);
  EXPECT_EQ(data.count_below_power(40), 0u);
}

TEST(HistogramData, MergingIsRecordingBoth) {
  Random random(2);
  HistogramData a;
  HistogramData b;
  HistogramData both;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = random.next() >> random.below(64);
    (i % 3 == 0 ? a : b).record(value);
    both.record(value);
  }
  a.merge(b);
  EXPECT_EQ(a, both);
}

TEST(HistogramData, CountsBelowPowersOfTwoAreExact) {
  HistogramData data;
  for (uint64_t v = 0; v < 5000; ++v) data.record(v);
  for (int power = 0; power <= 12; ++power) EXPECT_EQ(data.count_below_power(power), uint64_t{1} << power) << power;
  EXPECT_EQ(data.count_below_power(13), 5000u);
}

TEST(Histogram, ReadsWhatWasRecorded) {
  Histogram histogram;
  HistogramData same;
  for (uint64_t v = 1; v < 1'000'000; v = v * 3 + 1) {
    histogram.record(v);
    same.record(v);
  }
  EXPECT_EQ(histogram.read(), same);
}

enum : size_t { kCommands, kClients, kWait };
constexpr MetricInfo kTable[] = {
    {Kind::kCounter, "slipring_test_commands_total", "Commands."},
    {Kind::kGauge, "slipring_test_clients", "Clients now."},
    {Kind::kHistogram, "slipring_test_wait_seconds", "Waiting.", 1e-6},
};

std::map<std::string, double> read(const std::string& text) {
  auto samples = ExpositionReader::read(text);
  EXPECT_TRUE(samples) << samples.error().message << "\n" << text;
  return samples ? *samples : std::map<std::string, double>{};
}

TEST(Registry, AddsUpTheSetsOfAllThreads) {
  Registry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto set = registry.make_set(kTable);
      for (int i = 0; i < 1000; ++i) {
        set->add(kCommands);
        set->record(kWait, 100);
      }
      set->set(kClients, 5);
    });
  }
  // Reading while they write is allowed and gives a valid text.
  EXPECT_TRUE(ExpositionReader::read(registry.expose()));
  for (std::thread& thread : threads) thread.join();
  const auto samples = read(registry.expose());
  EXPECT_EQ(samples.at("slipring_test_commands_total"), 4000) << "the counts of ended threads stay";
  EXPECT_EQ(samples.at("slipring_test_clients"), 20);
  EXPECT_EQ(samples.at("slipring_test_wait_seconds_count"), 4000);
  EXPECT_NEAR(samples.at("slipring_test_wait_seconds_sum"), 0.4, 1e-9);
  EXPECT_EQ(samples.at("slipring_test_wait_seconds_bucket{le=\"6.3e-05\"}"), 0);
  EXPECT_EQ(samples.at("slipring_test_wait_seconds_bucket{le=\"0.000127\"}"), 4000);
}

TEST(Registry, KeepsLabelsApart) {
  Registry registry;
  const auto a = registry.make_set(kTable, {{"pool", "a"}});
  const auto b = registry.make_set(kTable, {{"pool", "b"}});
  a->add(kCommands, 3);
  b->add(kCommands, 4);
  b->set(kClients, -1);
  const auto samples = read(registry.expose());
  EXPECT_EQ(samples.at("slipring_test_commands_total{pool=\"a\"}"), 3);
  EXPECT_EQ(samples.at("slipring_test_commands_total{pool=\"b\"}"), 4);
  EXPECT_EQ(samples.at("slipring_test_clients{pool=\"b\"}"), -1);
  EXPECT_EQ(a->value(kCommands), 3);
  EXPECT_EQ(b->histogram(kWait).count, 0u);
}

TEST(Registry, AsksSourcesWhileTheirOwnersLive) {
  Registry registry;
  auto epoch = std::make_shared<int>(7);
  registry.add_source(
      epoch, [raw = epoch.get()](Exposition& out) { out.add(Kind::kGauge, "slipring_epoch", "Epoch.", {}, *raw); });
  EXPECT_EQ(read(registry.expose()).at("slipring_epoch"), 7);
  *epoch = 8;
  EXPECT_EQ(read(registry.expose()).at("slipring_epoch"), 8);
  epoch.reset();
  EXPECT_EQ(registry.expose(), "");
}

TEST(Exposition, ReadsAsItShould) {
  Exposition out;
  out.add(Kind::kGauge, "b", "Second.", {{"node", "n1"}, {"epoch", "7"}}, 1.5);
  out.add(Kind::kCounter, "a_total", "First.", {}, 2);
  out.add(Kind::kGauge, "b", "Second.", {{"epoch", "7"}, {"node", "n1"}}, 1);
  out.add(Kind::kGauge, "b", "Second.", {{"epoch", "7"}, {"node", "n0"}}, -3);
  EXPECT_EQ(out.text(),
            "# HELP a_total First.\n"
            "# TYPE a_total counter\n"
            "a_total 2\n"
            "# HELP b Second.\n"
            "# TYPE b gauge\n"
            "b{epoch=\"7\",node=\"n0\"} -3\n"
            "b{epoch=\"7\",node=\"n1\"} 2.5\n");
  EXPECT_EQ(read(out.text()).size(), 3u);
}

TEST(Exposition, EscapesWhatTheFormatReserves) {
  Exposition out;
  out.add(Kind::kGauge, "g", "back\\slash\nand \"quotes\"", {{"v", "a\"b\\c\nd{}=,"}}, 1);
  EXPECT_EQ(out.text(),
            "# HELP g back\\\\slash\\nand \"quotes\"\n"
            "# TYPE g gauge\n"
            "g{v=\"a\\\"b\\\\c\\nd{}=,\"} 1\n");
  EXPECT_EQ(read(out.text()).size(), 1u);
}

TEST(Exposition, WritesNumbersThatHaveNoDigits) {
  Exposition out;
  out.add(Kind::kGauge, "a", "x", {}, HUGE_VAL);
  out.add(Kind::kGauge, "b", "x", {}, -HUGE_VAL);
  out.add(Kind::kGauge, "c", "x", {}, std::nan(""));
  out.add(Kind::kCounter, "d_total", "x", {}, 1e18);
  const auto samples = read(out.text());
  EXPECT_EQ(samples.at("a"), HUGE_VAL);
  EXPECT_EQ(samples.at("b"), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(samples.at("c")));
  EXPECT_EQ(samples.at("d_total"), 1e18);
}

TEST(Exposition, AnyLabelValueIsWrittenValid) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    std::string value(random.below(20), '\0');
    for (char& c : value) c = static_cast<char>(random.below(128));
    Exposition out;
    out.add(Kind::kGauge, "g", "h" + value, {{"v", value}}, 1);
    HistogramData data;
    data.record(random.next());
    out.add("h_seconds", "h", {{"v", value}}, data, 1e-6);
    EXPECT_EQ(read(out.text()).size(), 1u + 27 + 3) << out.text();
  }
}

TEST(ExpositionDeathTest, NamesAndKindsAreOurs) {
  Exposition out;
  out.add(Kind::kGauge, "g", "x", {}, 1);
  EXPECT_DEATH(out.add(Kind::kGauge, "no-name", "x", {}, 1), "named in our code");
  EXPECT_DEATH(out.add(Kind::kGauge, "1g", "x", {}, 1), "named in our code");
  EXPECT_DEATH(out.add(Kind::kGauge, "g", "x", {{"a b", ""}}, 1), "named in our code");
  EXPECT_DEATH(out.add(Kind::kCounter, "g", "x", {}, 1), "_total");
  EXPECT_DEATH(out.add("g", "x", {}, HistogramData{}), "one kind");
  EXPECT_DEATH(out.add(Kind::kHistogram, "h", "x", {}, 1), "no single value");
}

TEST(ExpositionReader, RefusesWhatPrometheusRefuses) {
  const std::string g = "# HELP g x\n# TYPE g gauge\n";
  const std::string h = "# HELP h x\n# TYPE h histogram\n";
  EXPECT_TRUE(ExpositionReader::read(g + "g 1\n"));
  EXPECT_TRUE(ExpositionReader::read(h + "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"));
  const std::string bad[] = {
      "g 1\n",
      "# TYPE g gauge\ng 1\n",
      "# HELP g x\ng 1\n",
      "# hello\n",
      g + "g 1",
      g + "g\n",
      g + "g one\n",
      g + "g 1 2\n",
      g + "other 1\n",
      g + "g 1\ng 1\n",
      g + "g{a=\"1\" 1\n",
      g + "g{a=\"1} 1\n",
      g + "g{a=1} 1\n",
      g + "g{=\"1\"} 1\n",
      g + "g{a=\"\\x\"} 1\n",
      g + "g 1\n" + g + "g{a=\"1\"} 1\n",
      "# HELP g x\n# TYPE g what\n",
      "# HELP g_total x\n# TYPE g_total counter\ng_total -1\n",
      h + "h 1\n",
      h + "h_bucket 1\n",
      h + "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
      h + "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
      h + "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
      h + "h_bucket{le=\"+Inf\"} 1\nh_count 1\n",
      h + "h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
  };
  for (const std::string& text : bad) EXPECT_FALSE(ExpositionReader::read(text)) << text;
}

}  // namespace
}  // namespace slipring::metrics
