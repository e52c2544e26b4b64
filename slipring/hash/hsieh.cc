#include "slipring/hash/hsieh.h"

#include "slipring/hash/load.h"

namespace slipring {
namespace {

uint32_t signed_byte(char c) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
}

uint32_t fold_tail(uint32_t h, const char* p, size_t left) {
  switch (left) {
    case 3:
      h += load_le16(p);
      h ^= h << 16;
      h ^= signed_byte(p[2]) << 18;
      return h + (h >> 11);
    case 2:
      h += load_le16(p);
      h ^= h << 11;
      return h + (h >> 17);
    case 1:
      h += static_cast<uint8_t>(p[0]);
      h ^= h << 10;
      return h + (h >> 1);
    default:
      return h;
  }
}

}  // namespace

uint32_t hsieh(std::string_view s) {
  if (s.empty()) return 0;
  uint32_t h = 0;
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 4; p += 4, left -= 4) {
    h += load_le16(p);
    h = (h << 16) ^ ((uint32_t{load_le16(p + 2)} << 11) ^ h);
    h += h >> 11;
  }
  h = fold_tail(h, p, left);
  h ^= h << 3;
  h += h >> 5;
  h ^= h << 4;
  h += h >> 17;
  h ^= h << 25;
  return h + (h >> 6);
}

}  // namespace slipring
