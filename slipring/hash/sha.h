// SHA-1 and SHA-256 (FIPS 180-4) in one call, without allocation. Here they place keys as other systems do; they are
// not for secrets. Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slipring {

using Sha1Digest = std::array<uint8_t, 20>;
using Sha256Digest = std::array<uint8_t, 32>;

Sha1Digest sha1(std::string_view s);
Sha256Digest sha256(std::string_view s);

}  // namespace slipring
