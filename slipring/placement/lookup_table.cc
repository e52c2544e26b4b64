#include "slipring/placement/lookup_table.h"

#include <fmt/format.h>

namespace slipring {

Explanation LookupTableScheme::explain(std::string_view key) const {
  const uint64_t hash = hash_of(key);
  return {.point = fmt::format("{:016x}", hash), .range = fmt::format("entry {}", hash % table_.size())};
}

bool is_prime(uint64_t n) {
  if (n < 2) return false;
  for (uint64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

}  // namespace slipring
