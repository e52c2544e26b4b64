#include "slipring/hash/utf.h"

#include <gtest/gtest.h>

namespace slipring {
namespace {

std::vector<uint16_t> units(std::string_view text) {
  std::vector<uint16_t> list;
  for_each_utf16_unit(text, [&](uint16_t unit) { list.push_back(unit); });
  return list;
}

TEST(Utf, TextBecomesUtf16Units) {
  EXPECT_EQ(units("a"), (std::vector<uint16_t>{'a'}));
  EXPECT_EQ(units("\xc3\xa9"), (std::vector<uint16_t>{0xe9}));
  EXPECT_EQ(units("\xe4\xb8\xad"), (std::vector<uint16_t>{0x4e2d}));
  EXPECT_EQ(units("\xf0\x9f\x98\x80"), (std::vector<uint16_t>{0xd83d, 0xde00}));
  EXPECT_TRUE(units("").empty());
}

// Overlong forms, surrogates, beyond U+10FFFF, cut off, stray continuation.
TEST(Utf, BytesThatAreNoUtf8StandForThemselves) {
  EXPECT_EQ(units("\x80"), (std::vector<uint16_t>{0x80}));
  EXPECT_EQ(units("\xc0\x80"), (std::vector<uint16_t>{0xc0, 0x80}));
  EXPECT_EQ(units("\xe0\x80\x80"), (std::vector<uint16_t>{0xe0, 0x80, 0x80}));
  EXPECT_EQ(units("\xed\xa0\x80"), (std::vector<uint16_t>{0xed, 0xa0, 0x80}));
  EXPECT_EQ(units("\xf4\x90\x80\x80"), (std::vector<uint16_t>{0xf4, 0x90, 0x80, 0x80}));
  EXPECT_EQ(units("\xe4\xb8"), (std::vector<uint16_t>{0xe4, 0xb8}));
  EXPECT_EQ(units("\xff"
                  "a"),
            (std::vector<uint16_t>{0xff, 'a'}));
}

TEST(Utf, WellFormednessIsTold) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_FALSE(is_utf8("a\xffz"));
}

TEST(Utf, LowBytesCutEveryCodePoint) {
  EXPECT_EQ(low_bytes("a\xc3\xa9\xc7\xa9\xff"), "a\xe9\xe9\xff");
  EXPECT_EQ(low_bytes("\xe4\xb8\xad"), "\x2d");
}

TEST(Utf, PythonWritesBytesWithItsOwnEscapes) {
  EXPECT_EQ(python_bytes_repr("abc"), "b'abc'");
  EXPECT_EQ(python_bytes_repr("it's"), "b\"it's\"");
  EXPECT_EQ(python_bytes_repr("it's \"x\""), "b'it\\'s \"x\"'");
  EXPECT_EQ(python_bytes_repr("\t\n\r\\"), "b'\\t\\n\\r\\\\'");
  EXPECT_EQ(python_bytes_repr(std::string_view("\0\x1f\x7f\xff", 4)), "b'\\x00\\x1f\\x7f\\xff'");
}

// Java: "abc".hashCode() = 96354, "".hashCode() = 0, "\u00e9".hashCode() = 233.
TEST(Utf, JavaHashCodes) {
  EXPECT_EQ(java_hash_code(""), 0u);
  EXPECT_EQ(java_hash_code("abc"), 96354u);
  EXPECT_EQ(java_hash_code("\xc3\xa9"), 233u);
  EXPECT_EQ(java_hash_code("\xf0\x9f\x98\x80"), 0xd83du * 31 + 0xde00u);
}

// Published FNV values of "a"; the 64-bit ones cut to 32 bits.
TEST(Utf, FnvOverUnitsIsFnvOnAscii) {
  EXPECT_EQ(fnv1_32_utf16("a"), 0x050c5d7eu);
  EXPECT_EQ(fnv1a_32_utf16("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1_64_utf16("a"), 0x8601b7beu);
  EXPECT_EQ(fnv1a_64_utf16("a"), 0x8601ec8cu);
}

TEST(Utf, Pjw24StaysBelowSixteenMillion) {
  EXPECT_EQ(pjw24_utf16("a"), 0x61u);
  EXPECT_EQ(pjw24_utf16("ab"), 0x672u);
  EXPECT_LE(pjw24_utf16(std::string(1000, '\x7e')), 0xffffffu);
  // Six characters: what leaves the 24 bits comes back in the low ones.
  EXPECT_EQ(pjw24_utf16("aaaaaa"), ((0x6777771u & 0xffffffu) ^ 0x6u));
}

}  // namespace
}  // namespace slipring
