// SipHash-2-4 of Aumasson and Bernstein, 64-bit result, 128-bit key given as two little-endian words.
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

uint64_t siphash24(std::string_view s, uint64_t key0, uint64_t key1);

}  // namespace slipring
