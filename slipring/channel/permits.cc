#include "slipring/channel/permits.h"

#include <algorithm>

namespace slipring::channel {

void Permits::admit(const std::string& address, const std::string& run_id) {
  admitted_[address] = run_id;
}

bool Permits::is_barred(uint64_t generation) const {
  return generation <= barred_through_ && !kept_.contains(generation);
}

void Permits::bar(std::span<const uint64_t> keep, uint64_t newest) {
  std::set<uint64_t> kept;
  for (const uint64_t generation : keep) {
    if (!is_barred(generation)) kept.insert(generation);
  }
  kept_ = std::move(kept);
  barred_through_ = std::max(barred_through_, newest);
}

PermitAnswer Permits::judge(const PermitRequest& request, uint64_t given,
                                     const std::vector<uint64_t>* attempt) const {
  const uint64_t generation = request.generation;
  if (generation == 0 || generation != given || is_barred(generation)) return PermitAnswer::kFenced;
  // Whoever is not asked to acknowledge the open attempt waits for its end.
  if (attempt != nullptr && !std::binary_search(attempt->begin(), attempt->end(), generation)) {
    return PermitAnswer::kWait;
  }
  const auto process = admitted_.find(request.address);
  const bool admitted = process != admitted_.end() && process->second == request.run_id;
  return admitted ? PermitAnswer::kGranted : PermitAnswer::kWait;
}

}  // namespace slipring::channel
