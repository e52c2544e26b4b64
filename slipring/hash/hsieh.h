// SuperFastHash of Paul Hsieh as twemproxy has it: it starts from 0 instead of the length, and of the tails only the
// last byte of one of 3 bytes is sign-extended. Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

uint32_t hsieh(std::string_view s);

}  // namespace slipring
