// A module's metrics are a table, one line each with its documentation; a thread counts into its own set of them
// without locks, and the registry adds the sets up when somebody asks.
//
//   enum : size_t { kCommands, kWait };
//   constexpr MetricInfo kTable[] = {
//       {Kind::kCounter, "slipring_router_commands_total", "Commands read from clients."},
//       {Kind::kHistogram, "slipring_router_hold_seconds", "How long commands waited in a hold.", 1e-6},
//   };
//
// Invariant: counters never fall: a set stays with the registry when its thread has ended.
// Thread-safety: a MetricSet has one writing thread and any readers; the registry any thread, locking only itself.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/metrics/exposition.h"

namespace slipring::metrics {

struct MetricInfo {
  Kind kind = Kind::kCounter;
  std::string_view name;
  std::string_view help;
  double unit = 1;  // histograms: the exposed unit of one recorded unit
};

class MetricSet {
 public:
  // REQUIRES: the table outlives the set.
  MetricSet(std::span<const MetricInfo> table, Labels labels);

  // REQUIRES of all three: `index` names an entry of that kind. Only the owning thread.
  void add(size_t index, uint64_t n = 1) {
    values_[index].store(values_[index].load(std::memory_order_relaxed) + static_cast<int64_t>(n),
                         std::memory_order_relaxed);
  }
  void set(size_t index, int64_t value) { values_[index].store(value, std::memory_order_relaxed); }
  void record(size_t index, uint64_t value) { histograms_[index]->record(value); }

  // Any thread.
  int64_t value(size_t index) const { return values_[index].load(std::memory_order_relaxed); }
  HistogramData histogram(size_t index) const { return histograms_[index]->read(); }
  void collect(Exposition& out) const;

 private:
  std::span<const MetricInfo> table_;
  Labels labels_;
  std::vector<std::atomic<int64_t>> values_;
  std::vector<std::unique_ptr<Histogram>> histograms_;  // null for the other kinds
};

class Registry {
 public:
  // A set for the calling thread, or whichever will write it. Sets of one table and equal labels are shown as their
  // sum.
  std::shared_ptr<MetricSet> make_set(std::span<const MetricInfo> table, Labels labels = {});

  // Asked at every exposition, for what is known elsewhere (epochs, nodes, plans): `source` may run on any thread, must
  // not call the registry, and is dropped when `owner` is gone.
  void add_source(std::weak_ptr<const void> owner, std::function<void(Exposition&)> source);

  std::string expose();

 private:
  struct Source {
    std::weak_ptr<const void> owner;
    std::function<void(Exposition&)> collect;
  };
  std::mutex mutex_;
  std::vector<std::shared_ptr<MetricSet>> sets_;
  std::vector<Source> sources_;
};

}  // namespace slipring::metrics
