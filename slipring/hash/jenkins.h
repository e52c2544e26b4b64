// Hashes of Bob Jenkins: one-at-a-time, and lookup3 (hashlittle). Bytes are unsigned.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

uint32_t one_at_a_time(std::string_view s);
uint32_t jenkins_lookup3(std::string_view s, uint32_t initval);

}  // namespace slipring
