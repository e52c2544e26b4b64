#include "slipring/lab/analysis/hashes.h"

#include <fmt/format.h>

#include <cmath>

#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/hash/load.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/murmur.h"
#include "slipring/hash/sha.h"
#include "slipring/hash/xx.h"
#include "slipring/lab/analysis/statistics.h"

namespace slipring::lab {
namespace {

constexpr Millis kHashMeasureFor{20};
constexpr size_t kAtOnce = 1 << 14;

struct NamedHash {
  const char* name;
  int bits;
  uint64_t (*hash)(std::string_view);
};

// The first eight bytes of the digests, as rings take them.
const NamedHash kHashes[] = {
    {"SHA-1", 64, [](std::string_view s) { return load_be64(sha1(s).data()); }},
    {"MD5", 64, [](std::string_view s) { return load_be64(md5(s).data()); }},
    {"MurmurHash3", 32, [](std::string_view s) { return uint64_t{murmur3_32(s, 0)}; }},
    {"CRC32", 32, [](std::string_view s) { return uint64_t{crc32(s)}; }},
    {"FNV-1a", 64, [](std::string_view s) { return fnv1a_64(s); }},
    {"XXH3", 64, [](std::string_view s) { return xxh3_64(s); }},
};

// By the upper bits: a ring and a range map use those.
uint64_t bucket_of(uint64_t hash, int bits, uint64_t buckets) {
  const uint64_t top = bits == 64 ? hash : hash << (64 - bits);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(top) * buckets) >> 64);
}

double nanos_of(const NamedHash& h, const KeySet& set, const Clock& clock) {
  uint64_t done = 0;
  uint64_t sink = 0;
  Nanos spent{0};
  const MonoTime begin = clock.now();
  while (spent < kHashMeasureFor) {
    for (size_t i = 0; i < std::min(set.keys.size(), kAtOnce); ++i, ++done) sink ^= h.hash(set.keys[i].name);
    spent = clock.now() - begin;
  }
  // `sink` is used, so the hashes are computed.
  return static_cast<double>(spent.count()) / static_cast<double>(done) + (sink == 1 ? 1e-12 : 0);
}

}  // namespace

Report analyse_hashes(const KeySet& set, uint64_t buckets, const Clock& clock) {
  Report report;
  const auto count = static_cast<double>(set.keys.size());
  const auto n = static_cast<double>(buckets);
  const double theory = std::sqrt((n - 1) / count);
  report.title = fmt::format("Hash functions over {} buckets, {}", buckets, set.origin);
  ReportTable table{"hashes",
                    "Hash functions",
                    {{"hash", "hash"},
                     {"bits", "bits", Unit::kCount},
                     {"stdev", "stdev by upper bits", Unit::kShare},
                     {"deviation", "from theory, in sigmas", Unit::kNumber},
                     {"low_deviation", "lower bits, in sigmas", Unit::kNumber},
                     {"max", "max/mean", Unit::kFactor},
                     {"nanos", "a key", Unit::kNanos}},
                    {}};
  Plot plot{"Cost of a key", Plot::Kind::kBars, "hash function", "ns", false, {}, {{"ns", {}}}};
  const std::vector<double> fair(buckets, 1 / n);
  // The chi-squared statistic has mean n - 1 and variance 2 (n - 1).
  const auto sigmas = [&](const Spread& s) { return (s.stdev * s.stdev * count - (n - 1)) / std::sqrt(2 * (n - 1)); };
  for (const NamedHash& h : kHashes) {
    std::vector<double> upper(buckets);
    std::vector<double> lower(buckets);
    for (const LabKey& key : set.keys) {
      const uint64_t hash = h.hash(key.name);
      upper[bucket_of(hash, h.bits, buckets)] += 1;
      lower[hash % buckets] += 1;
    }
    const Spread up = spread_of(upper, fair);
    const double nanos = nanos_of(h, set, clock);
    table.add({std::string(h.name), static_cast<double>(h.bits), up.stdev, sigmas(up), sigmas(spread_of(lower, fair)),
               up.max, nanos});
    plot.series[0].points.emplace_back(static_cast<double>(plot.labels.size()), nanos);
    plot.labels.emplace_back(h.name);
  }
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  report.notes.push_back(
      fmt::format("Theory: random buckets have a standard deviation of {:.3f} % (the square root of (buckets - 1) / "
                  "keys). Within 3 sigmas "
                  "nothing can be said against a hash; far below 0 the keys are spread more evenly than at random.",
                  theory * 100));
  return report;
}

}  // namespace slipring::lab
