// Passwords and ids from the kernel's random source.
#pragma once

#include <string>

namespace slipring {

// 128 random bits as 32 lower-case hex digits.
std::string random_secret();

}  // namespace slipring
