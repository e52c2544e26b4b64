#include "slipring/metrics/registry.h"

#include <algorithm>

namespace slipring::metrics {

MetricSet::MetricSet(std::span<const MetricInfo> table, Labels labels)
    : table_(table), labels_(std::move(labels)), values_(table.size()), histograms_(table.size()) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].kind == Kind::kHistogram) histograms_[i] = std::make_unique<Histogram>();
  }
}

void MetricSet::collect(Exposition& out) const {
  for (size_t i = 0; i < table_.size(); ++i) {
    const MetricInfo& info = table_[i];
    if (info.kind == Kind::kHistogram) {
      out.add(info.name, info.help, labels_, histograms_[i]->read(), info.unit);
    } else {
      out.add(info.kind, info.name, info.help, labels_, static_cast<double>(value(i)));
    }
  }
}

std::shared_ptr<MetricSet> Registry::make_set(std::span<const MetricInfo> table, Labels labels) {
  auto set = std::make_shared<MetricSet>(table, std::move(labels));
  const std::lock_guard lock(mutex_);
  sets_.push_back(set);
  return set;
}

void Registry::add_source(std::weak_ptr<const void> owner, std::function<void(Exposition&)> source) {
  const std::lock_guard lock(mutex_);
  sources_.push_back({std::move(owner), std::move(source)});
}

std::string Registry::expose() {
  Exposition out;
  const std::lock_guard lock(mutex_);
  for (const auto& set : sets_) set->collect(out);
  std::erase_if(sources_, [](const Source& source) { return source.owner.expired(); });
  for (const Source& source : sources_) {
    // Held while it runs: the source may look into its owner.
    if (const auto owner = source.owner.lock()) source.collect(out);
  }
  return out.text();
}

}  // namespace slipring::metrics
