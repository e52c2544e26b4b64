#include "slipring/placement/furc.h"

#include <array>
#include <bit>
#include <string>

#include "slipring/hash/load.h"
#include "slipring/hash/murmur.h"
#include "slipring/hash/spooky.h"

namespace slipring {
namespace {

constexpr uint64_t kSeed = 4193360111;
constexpr uint32_t kSpookySeed = 0xface2014;
constexpr uint32_t kTriesMax = 32;
constexpr uint32_t kGap = 23;  // bits between two bits of a number

// The bits of a key. Reading goes forward with short steps back: at most one number's tries, 32 * 23 * 23 bits, so a
// window of 512 words holds all that is still asked for.
class BitStream {
 public:
  explicit BitStream(std::string_view key) { words_[0] = murmur2_64a(key, kSeed); }

  uint32_t bit(uint32_t i) { return static_cast<uint32_t>(word(i / 64) >> (i % 64)) & 1; }

  uint32_t next_32(uint32_t i) {
    const uint32_t shift = i % 64;
    const uint64_t low = word(i / 64) >> shift;
    if (shift <= 32) return static_cast<uint32_t>(low);
    return static_cast<uint32_t>(low | word(i / 64 + 1) << (64 - shift));
  }

 private:
  static constexpr uint32_t kWindow = 512;

  uint64_t word(uint32_t n) {
    for (; newest_ < n; ++newest_) {
      char bytes[8];
      store_le64(bytes, words_[newest_ % kWindow]);
      words_[(newest_ + 1) % kWindow] = murmur2_64a({bytes, sizeof bytes}, kSeed);
    }
    return words_[n % kWindow];
  }

  uint32_t newest_ = 0;
  std::array<uint64_t, kWindow> words_;
};

// Reads numbers from a part of the stream that begins at bit `start`.
class NumberReader {
 public:
  NumberReader(BitStream& bits, uint32_t start, uint32_t bits_max)
      : bits_(bits), start_(start), top_(start + bits_max), at_(top_) {}

  // The next number below n; 0 when the stream says so or after kTriesMax larger ones. REQUIRES: called once.
  uint32_t next_below(uint32_t n) {
    for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
      while (bits_.bit(at_) == 0) {
        if (--top_ == start_) {
          at_ += kGap;
          return 0;
        }
        at_ = top_;
      }
      at_ += kGap;
      const uint32_t number = read_number();
      if (number < n) return number;
    }
    return 0;
  }

  // The first bit not read yet.
  uint32_t position() const { return at_; }

 private:
  // The leading one stands for itself; below it one bit for every place.
  uint32_t read_number() {
    uint32_t number = 1;
    for (uint32_t place = start_; place + 1 < top_; ++place) {
      number = number << 1 | bits_.bit(at_);
      at_ += kGap;
    }
    return number;
  }

  BitStream& bits_;
  uint32_t start_;
  uint32_t top_;
  uint32_t at_;
};

uint64_t acceptance(double weight) {
  return static_cast<uint64_t>(weight * UINT32_MAX);
}

// "0" to "9", then "01", "11", ...: decimal digits, the last one first.
void append_salt(std::string& key, uint32_t salt) {
  do {
    key.push_back(static_cast<char>('0' + salt % 10));
    salt /= 10;
  } while (salt > 0);
}

}  // namespace

uint32_t furc_hash(std::string_view key, uint32_t n) {
  if (n <= 1) return 0;
  BitStream bits(key);
  return NumberReader(bits, 0, static_cast<uint32_t>(std::bit_width(n - 1))).next_below(n);
}

uint32_t weighted_furc_hash(std::string_view key, std::span<const double> weights) {
  const auto n = static_cast<uint32_t>(weights.size());
  if (n <= 1) return 0;
  BitStream bits(key);
  uint32_t start = 0;
  uint32_t next = 0;
  for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
    NumberReader reader(bits, start, static_cast<uint32_t>(std::bit_width(n - 1)));
    const uint32_t number = reader.next_below(n);
    if (weights[number] == 1) return number;
    start = reader.position();
    next = bits.next_32(start);
    if (next < acceptance(weights[number])) return number;
  }
  return next % n;
}

uint32_t weighted_ch3_hash(std::string_view key, std::span<const double> weights) {
  const auto n = static_cast<uint32_t>(weights.size());
  std::string salted(key);
  uint32_t number = 0;
  for (uint32_t tries = 0; tries < kTriesMax; ++tries) {
    number = furc_hash(salted, n);
    if (spooky2_32(salted, kSpookySeed) < acceptance(weights[number])) return number;
    salted.resize(key.size());
    append_salt(salted, tries);
  }
  return number;
}

}  // namespace slipring
