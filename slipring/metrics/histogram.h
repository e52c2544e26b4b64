// Log-linear histograms of whole numbers (microseconds, bytes): 32 equal buckets in every power of two, so a quantile
// is too high by at most 1/32 (3.1 %), whatever the range; below 32 it is exact. 9 kB each, merged by addition.
//
// Invariant: count, sum and max are exact; values of 2^40 and more are counted in the last bucket.
// Thread-safety: Histogram has one writer and any readers, without locks; a reader may see a value in one of count, sum
// and buckets before the others. HistogramData is a value.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace slipring::metrics {

inline constexpr int kSubBucketBits = 5;
inline constexpr int kValueBits = 40;
inline constexpr size_t kSubBuckets = size_t{1} << kSubBucketBits;
inline constexpr size_t kBuckets = (kValueBits - kSubBucketBits + 1) * kSubBuckets;

// The bucket of a value: below 32 the value itself, then the leading 6 bits count.
constexpr size_t bucket_of(uint64_t value) {
  if (value < kSubBuckets) return static_cast<size_t>(value);
  if (value >> kValueBits != 0) return kBuckets - 1;
  const int shift = std::bit_width(value) - 1 - kSubBucketBits;
  return (static_cast<size_t>(shift) << kSubBucketBits) + static_cast<size_t>(value >> shift);
}

// The largest value of a bucket.
constexpr uint64_t bucket_max(size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const size_t shift = (bucket >> kSubBucketBits) - 1;
  const uint64_t first = uint64_t{kSubBuckets + bucket % kSubBuckets} << shift;
  return first + (uint64_t{1} << shift) - 1;
}

struct HistogramData {
  std::array<uint64_t, kBuckets> buckets{};
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t max = 0;

  void record(uint64_t value);
  void merge(const HistogramData& other);
  // The value that at least the share q of all are at most; q is clamped to [0, 1]. 0 when empty.
  uint64_t quantile(double q) const;
  // How many values are at most 2^power - 1: exact, since powers of two are bounds of buckets. REQUIRES: 0 to 40.
  uint64_t count_below_power(int power) const;

  bool operator==(const HistogramData&) const = default;
};

class Histogram {
 public:
  // Cost: four relaxed loads and stores.
  void record(uint64_t value) {
    bump(buckets_[bucket_of(value)], 1);
    bump(count_, 1);
    bump(sum_, value);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  HistogramData read() const;

 private:
  static void bump(std::atomic<uint64_t>& counter, uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> sum_{0};
  std::atomic<uint64_t> max_{0};
};

}  // namespace slipring::metrics
