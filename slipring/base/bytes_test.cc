// What a writer wrote a reader reads; whatever is missing or too much makes the reader bad, for good and without harm.
#include "slipring/base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace slipring {
namespace {

TEST(Bytes, NumbersAreLittleEndianAndComeBack) {
  ByteWriter out;
  out.u8(0x01);
  out.u16(0x0302);
  out.u32(0x07060504);
  out.u64(0x0f0e0d0c0b0a0908);
  out.i64(-2);
  EXPECT_EQ(out.bytes(),
            std::string("\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf", 15) + "\xfe\xff\xff\xff\xff\xff\xff\xff");
  ByteReader in(out.bytes());
  EXPECT_EQ(in.u8(), 0x01);
  EXPECT_EQ(in.u16(), 0x0302);
  EXPECT_EQ(in.u32(), 0x07060504u);
  EXPECT_EQ(in.u64(), 0x0f0e0d0c0b0a0908u);
  EXPECT_EQ(in.i64(), -2);
  EXPECT_TRUE(in.done());
}

TEST(Bytes, StringsCarryTheirLength) {
  ByteWriter out;
  out.str("");
  out.str(std::string("a\0b", 3));
  out.raw("rest");
  ByteReader in(out.bytes());
  EXPECT_EQ(in.str(0), "");
  EXPECT_EQ(in.str(3), std::string("a\0b", 3));
  EXPECT_EQ(in.left(), 4u);
  EXPECT_EQ(in.raw(4), "rest");
  EXPECT_TRUE(in.done());
}

TEST(Bytes, TakingLeavesTheBytesToTheTaker) {
  ByteWriter out;
  out.u8(7);
  EXPECT_EQ(out.take(), "\7");
}

TEST(Bytes, AShortInputMakesTheReaderBadAndEveryLaterReadEmpty) {
  ByteReader in("\1\2\3");
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_TRUE(in.bad());
  EXPECT_EQ(in.u8(), 0) << "although three bytes are left";
  EXPECT_EQ(in.str(10), "");
  EXPECT_EQ(in.raw(0), "");
  EXPECT_EQ(in.count(1), 0u);
  EXPECT_FALSE(in.done());
}

TEST(Bytes, AStringLongerThanItsBoundIsRefused) {
  ByteWriter out;
  out.str("12345");
  ByteReader fits(out.bytes());
  EXPECT_EQ(fits.str(5), "12345");
  ByteReader refused(out.bytes());
  EXPECT_EQ(refused.str(4), "");
  EXPECT_TRUE(refused.bad());
}

TEST(Bytes, ALengthBeyondTheInputIsRefused) {
  ByteWriter out;
  out.u32(0xffffffff);
  ByteReader in(out.bytes());
  EXPECT_EQ(in.str(SIZE_MAX), "");
  EXPECT_TRUE(in.bad());
}

TEST(Bytes, ACountIsBoundedByWhatIsLeft) {
  ByteWriter out;
  out.u32(3);
  out.raw("123456");
  ByteReader fits(out.bytes());
  EXPECT_EQ(fits.count(2), 3u);
  ByteReader refused(out.bytes());
  EXPECT_EQ(refused.count(3), 0u);
  EXPECT_TRUE(refused.bad());
  ByteReader unchecked(out.bytes());
  EXPECT_EQ(unchecked.count(0), 3u) << "items of no bytes cannot be bounded by the input";
}

TEST(Bytes, ADecoderCanDeclareItsInputBad) {
  ByteReader in("");
  EXPECT_TRUE(in.done());
  in.mark_bad();
  EXPECT_TRUE(in.bad());
  EXPECT_FALSE(in.done());
}

TEST(BytesProperty, WhatWasWrittenIsRead) {
  EXPECT_TRUE(rc::check([](uint8_t a, uint16_t b, uint32_t c, uint64_t d, int64_t e, const std::string& s) {
    ByteWriter out;
    out.u8(a);
    out.str(s);
    out.u16(b);
    out.u32(c);
    out.u64(d);
    out.i64(e);
    ByteReader in(out.bytes());
    RC_ASSERT(in.u8() == a);
    RC_ASSERT(in.str(s.size()) == s);
    RC_ASSERT(in.u16() == b);
    RC_ASSERT(in.u32() == c);
    RC_ASSERT(in.u64() == d);
    RC_ASSERT(in.i64() == e);
    RC_ASSERT(in.done());
  }));
}

}  // namespace
}  // namespace slipring
