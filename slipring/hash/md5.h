// MD5 (RFC 1321) in one call, without allocation or set-up: ketama hashes every key with it.
// Not for secrets. Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slipring {

using Md5Digest = std::array<uint8_t, 16>;

Md5Digest md5(std::string_view s);
// The digest as four little-endian words, as ketama reads it.
std::array<uint32_t, 4> md5_words(std::string_view s);

}  // namespace slipring
