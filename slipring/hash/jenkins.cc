#include "slipring/hash/jenkins.h"

#include "slipring/hash/load.h"

namespace slipring {
namespace {

struct Words {
  uint32_t a, b, c;
};

void mix(Words& w) {
  w.a = (w.a - w.c) ^ std::rotl(w.c, 4);
  w.c += w.b;
  w.b = (w.b - w.a) ^ std::rotl(w.a, 6);
  w.a += w.c;
  w.c = (w.c - w.b) ^ std::rotl(w.b, 8);
  w.b += w.a;
  w.a = (w.a - w.c) ^ std::rotl(w.c, 16);
  w.c += w.b;
  w.b = (w.b - w.a) ^ std::rotl(w.a, 19);
  w.a += w.c;
  w.c = (w.c - w.b) ^ std::rotl(w.b, 4);
  w.b += w.a;
}

void finish(Words& w) {
  w.c = (w.c ^ w.b) - std::rotl(w.b, 14);
  w.a = (w.a ^ w.c) - std::rotl(w.c, 11);
  w.b = (w.b ^ w.a) - std::rotl(w.a, 25);
  w.c = (w.c ^ w.b) - std::rotl(w.b, 16);
  w.a = (w.a ^ w.c) - std::rotl(w.c, 4);
  w.b = (w.b ^ w.a) - std::rotl(w.a, 14);
  w.c = (w.c ^ w.b) - std::rotl(w.b, 24);
}

void add(Words& w, const char* twelve_bytes) {
  w.a += load_le32(twelve_bytes);
  w.b += load_le32(twelve_bytes + 4);
  w.c += load_le32(twelve_bytes + 8);
}

}  // namespace

uint32_t one_at_a_time(std::string_view s) {
  uint32_t h = 0;
  for (const char c : s) {
    h += static_cast<uint8_t>(c);
    h += h << 10;
    h ^= h >> 6;
  }
  h += h << 3;
  h ^= h >> 11;
  return h + (h << 15);
}

uint32_t jenkins_lookup3(std::string_view s, uint32_t initval) {
  const uint32_t start = 0xdeadbeef + static_cast<uint32_t>(s.size()) + initval;
  Words w = {start, start, start};
  const char* p = s.data();
  size_t left = s.size();
  for (; left > 12; p += 12, left -= 12) {
    add(w, p);
    mix(w);
  }
  if (left == 0) return w.c;
  char last[12] = {};
  std::memcpy(last, p, left);
  add(w, last);
  finish(w);
  return w.c;
}

}  // namespace slipring
