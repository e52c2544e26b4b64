// Standard base64 (RFC 4648 section 4, with padding) for the bytes of keys in JSON.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring::control {

std::string base64_encode(std::string_view bytes);
// Strict: no blanks, whole groups of four, padding at the end only, no stray bits. kInvalidArgument otherwise.
Result<std::string> base64_decode(std::string_view text);

}  // namespace slipring::control
