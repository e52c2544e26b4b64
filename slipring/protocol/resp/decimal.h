// The protocol's decimal integers: one canonical text a value, so a length can be read in one way only.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring::resp {

// "0", or an optional '-' and digits without a leading zero, inside int64. False otherwise, `out` unchanged. Redis
// reads lengths, counts and integer values by the same rule.
bool parse_decimal(std::string_view text, int64_t& out);

}  // namespace slipring::resp
