#include "slipring/metrics/histogram.h"

#include <algorithm>
#include <cmath>

#include "slipring/base/check.h"

namespace slipring::metrics {

void HistogramData::record(uint64_t value) {
  ++buckets[bucket_of(value)];
  ++count;
  sum += value;
  max = std::max(max, value);
}

void HistogramData::merge(const HistogramData& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets[i] += other.buckets[i];
  count += other.count;
  sum += other.sum;
  max = std::max(max, other.max);
}

uint64_t HistogramData::quantile(double q) const {
  const double rank = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count));
  const uint64_t wanted = std::max<uint64_t>(1, static_cast<uint64_t>(rank));
  uint64_t seen = 0;
  for (size_t i = 0; i + 1 < kBuckets; ++i) {
    seen += buckets[i];
    if (seen >= wanted) return std::min(bucket_max(i), max);
  }
  return max;
}

uint64_t HistogramData::count_below_power(int power) const {
  SLIPRING_CHECK(power >= 0 && power <= kValueBits, "a bound of the exposition's own table");
  // Values of 2^40 and more share the last bucket: only the total is beyond it.
  const size_t end = power == kValueBits ? kBuckets - 1 : bucket_of(uint64_t{1} << power);
  uint64_t below = 0;
  for (size_t i = 0; i < end; ++i) below += buckets[i];
  return below;
}

HistogramData Histogram::read() const {
  HistogramData data;
  for (size_t i = 0; i < kBuckets; ++i) data.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
  data.count = count_.load(std::memory_order_relaxed);
  data.sum = sum_.load(std::memory_order_relaxed);
  data.max = max_.load(std::memory_order_relaxed);
  return data;
}

}  // namespace slipring::metrics
