// Passwords and ids from the kernel's random source.
//
// Invariant: 128 bits that nobody can guess; whoever holds one never prints it. Thread-safety: any thread.
#pragma once

#include <string>

namespace slipring {

// 128 random bits as 32 lower-case hex digits.
std::string random_secret();

}  // namespace slipring
