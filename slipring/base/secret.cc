#include "slipring/base/secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cstdint>

#include "slipring/base/check.h"

namespace slipring {

std::string random_secret() {
  uint64_t words[2];
  SLIPRING_CHECK(getrandom(words, sizeof words, 0) == sizeof words, "the kernel has random bytes");
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

}  // namespace slipring
