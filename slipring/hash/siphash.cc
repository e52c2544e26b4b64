#include "slipring/hash/siphash.h"

#include "slipring/hash/load.h"

namespace slipring {
namespace {

struct State {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t siphash24(std::string_view s, uint64_t key0, uint64_t key1) {
  State state = {key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261,
                 key1 ^ 0x7465646279746573};
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 8; p += 8, left -= 8) state.absorb(load_le64(p));
  uint64_t last = static_cast<uint64_t>(s.size()) << 56;
  for (size_t i = 0; i < left; ++i) last |= static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << (8 * i);
  state.absorb(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace slipring
