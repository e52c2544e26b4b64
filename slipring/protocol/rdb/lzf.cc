#include "slipring/protocol/rdb/lzf.h"

#include <cstring>

namespace slipring::rdb {
namespace {

// Copies `n` bytes from `distance` back; source and target may overlap, which repeats a pattern.
void copy_back(char* to, size_t distance, size_t n) {
  const char* from = to - distance;
  if (distance >= n) {
    std::memcpy(to, from, n);
  } else {
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

}  // namespace

// A control byte c < 32: c + 1 literal bytes follow. Else a match: its length is c >> 5 (7: one more byte is added)
// plus 2; its distance is the low 5 bits of c and the next byte, plus 1.
bool lzf_decompress(std::string_view in, size_t size, std::string& out) {
  const size_t start = out.size();
  if (size > in.size() * kLzfGrowthMax) return false;
  out.resize(start + size);
  char* const base = out.data() + start;
  size_t done = 0;
  size_t i = 0;
  while (i < in.size()) {
    const auto c = static_cast<uint8_t>(in[i++]);
    if (c < 32) {
      const size_t n = c + size_t{1};
      if (n > in.size() - i || n > size - done) return false;
      std::memcpy(base + done, in.data() + i, n);
      i += n;
      done += n;
      continue;
    }
    size_t n = c >> 5;
    if (n == 7) {
      if (i == in.size()) return false;
      n += static_cast<uint8_t>(in[i++]);
    }
    n += 2;
    if (i == in.size()) return false;
    const size_t distance = (size_t{c} & 31) * 256 + static_cast<uint8_t>(in[i++]) + 1;
    if (distance > done || n > size - done) return false;
    copy_back(base + done, distance, n);
    done += n;
  }
  return done == size;
}

}  // namespace slipring::rdb
