// Checks on programmer errors. They stay on in production and end the process with the place and the reason.
//
// Invariant: input from outside never reaches one. Thread-safety: any thread.
#pragma once

namespace slipring {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace slipring

// SLIPRING_CHECK(i < n, "index from our own table").
#define SLIPRING_CHECK(condition, why)                                              \
  do {                                                                              \
    if (!(condition)) [[unlikely]]                                                  \
      ::slipring::check_failed(__FILE__, __LINE__, #condition, why);                \
  } while (false)
