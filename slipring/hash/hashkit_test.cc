#include "slipring/hash/hashkit.h"

#include <gtest/gtest.h>

#include "slipring/hash/chained_crc.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/hash/jenkins.h"
#include "slipring/hash/murmur.h"

namespace slipring {
namespace {

const std::string kAscii = "The quick brown fox jumps over the lazy dog";
const std::string kHigh = "caf\xc3\xa9";

TEST(Hashkit, SignedVariantsAgreeWithThePlainOnesOnAscii) {
  for (size_t n = 0; n <= kAscii.size(); ++n) {
    const std::string_view key(kAscii.data(), n);
    EXPECT_EQ(fnv1_32_signed(key), fnv1_32(key));
    EXPECT_EQ(fnv1a_32_signed(key), fnv1a_32(key));
    EXPECT_EQ(fnv1_64_low_signed(key), static_cast<uint32_t>(fnv1_64(key)));
    EXPECT_EQ(fnv1a_64_low_signed(key), static_cast<uint32_t>(fnv1a_64(key)));
    EXPECT_EQ(one_at_a_time_signed(key), one_at_a_time(key));
  }
}

TEST(Hashkit, SignedVariantsDifferOnBytesAbove0x7f) {
  EXPECT_NE(fnv1_32_signed(kHigh), fnv1_32(kHigh));
  EXPECT_NE(fnv1a_32_signed(kHigh), fnv1a_32(kHigh));
  EXPECT_NE(fnv1_64_low_signed(kHigh), static_cast<uint32_t>(fnv1_64(kHigh)));
  EXPECT_NE(fnv1a_64_low_signed(kHigh), static_cast<uint32_t>(fnv1a_64(kHigh)));
  EXPECT_NE(one_at_a_time_signed(kHigh), one_at_a_time(kHigh));
}

// The byte 0xff as a signed number is -1: FNV-1a of it is (basis ^ 0xffffffff) * prime.
TEST(Hashkit, AHighByteIsANegativeNumber) {
  EXPECT_EQ(fnv1a_32_signed("\xff"), (kFnvBasis32 ^ 0xffffffffu) * kFnvPrime32);
  EXPECT_EQ(fnv1_32_signed("\xff"), (kFnvBasis32 * kFnvPrime32) ^ 0xffffffffu);
}

TEST(Hashkit, TheUnmaskedCrc16HasTheUsualOneInItsLowHalf) {
  for (size_t n = 0; n <= kAscii.size(); ++n) {
    const std::string_view key(kAscii.data(), n);
    EXPECT_EQ(crc16_unmasked(key) & 0xffff, crc16_xmodem(key));
  }
  EXPECT_GT(crc16_unmasked("123456789"), 0xffffu);
  EXPECT_LE(crc16_unmasked("1"), 0xffffu);
}

TEST(Hashkit, FifteenBitsOfTheCrc32) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32_15_bits("123456789"), 0x4bf4u);
  EXPECT_EQ(crc32_15_bits(""), 0u);
}

// MD5("") = d41d8cd9..., MD5("abc") = 90015098... read little endian.
TEST(Hashkit, Md5GivesItsFirstWordLittleEndian) {
  EXPECT_EQ(md5_first_word(""), 0xd98c1dd4u);
  EXPECT_EQ(md5_first_word("abc"), 0x98500190u);
}

TEST(Hashkit, SeedsDependOnTheLength) {
  EXPECT_EQ(murmur2_length_seed("abc"), murmur2_32("abc", 0xdeadbeefu * 3));
  EXPECT_EQ(murmur3_length_seed("abcd"), murmur3_32("abcd", 0xdeadbeefu * 4));
  EXPECT_EQ(jenkins_lookup3_13("abc"), jenkins_lookup3("abc", 13));
}

TEST(ChainedCrc, EachPointHashesTheOneBeforeIt) {
  ChainedCrc32 chain("a", "80");
  const std::string front = std::string("a\0", 2) + "80";
  const uint32_t first = chain.next();
  EXPECT_EQ(first, crc32(front + std::string(4, '\0')));
  std::string bytes(4, '\0');
  store_le32(bytes.data(), first);
  EXPECT_EQ(chain.next(), crc32(front + bytes));
}

}  // namespace
}  // namespace slipring
