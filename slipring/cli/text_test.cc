#include "slipring/cli/text.h"

#include <gtest/gtest.h>

namespace slipring::cli {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"NAME", ">KEYS", "STATE"});
  table.add({"n1", "1", "up"});
  table.add({"cache-a", "1,000", ""});
  EXPECT_EQ(table.text("  "), "  NAME      KEYS  STATE\n  n1           1  up\n  cache-a  1,000\n");
}

TEST(Table, WithoutRowsThereIsNoText) {
  EXPECT_EQ(Table({"A"}).text(), "");
}

TEST(Table, CharactersOfSeveralBytesTakeOnePlace) {
  Table table({"A", "B"});
  table.add({"\xc3\xbc", "1"});
  table.add({"x", "2"});
  EXPECT_EQ(table.text(), "A  B\n\xc3\xbc  1\nx  2\n");
}

TEST(Human, CountsHaveThousandsSeparators) {
  EXPECT_EQ(human_count(uint64_t{0}), "0");
  EXPECT_EQ(human_count(uint64_t{999}), "999");
  EXPECT_EQ(human_count(uint64_t{1000}), "1,000");
  EXPECT_EQ(human_count(uint64_t{1234567}), "1,234,567");
  EXPECT_EQ(human_count(std::optional<uint64_t>()), "-");
}

TEST(Human, BytesKeepThreeDigits) {
  EXPECT_EQ(human_bytes(uint64_t{0}), "0 B");
  EXPECT_EQ(human_bytes(uint64_t{1023}), "1023 B");
  EXPECT_EQ(human_bytes(uint64_t{1536}), "1.5 KB");
  EXPECT_EQ(human_bytes(uint64_t{123} << 20), "123 MB");
  EXPECT_EQ(human_bytes((uint64_t{1} << 30) - 1), "1.0 GB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16.0 EB");
}

TEST(Human, DurationsTakeTheUnitThatFits) {
  EXPECT_EQ(human_duration(0), "0 ms");
  EXPECT_EQ(human_duration(1500), "1.5 s");
  EXPECT_EQ(human_duration(125'000), "2 min 5 s");
  EXPECT_EQ(human_duration(600'000), "10 min");
  EXPECT_EQ(human_duration(10'920'000), "3 h 2 min");
  EXPECT_EQ(human_micros(950), "950 us");
  EXPECT_EQ(human_micros(12'340), "12.3 ms");
  EXPECT_EQ(human_micros(1'500'000), "1.5 s");
}

TEST(Human, SharesRatesAndTimes) {
  EXPECT_EQ(human_share(0.25123), "25.12 %");
  EXPECT_EQ(human_rate(12345.6, "keys"), "12,345 keys/s");
  EXPECT_EQ(human_rate(2048, "bytes"), "2.0 KB/s");
  EXPECT_EQ(human_rate(-1, "keys"), "0 keys/s");
  EXPECT_EQ(human_time(1'796'112'000'000), "2026-12-01 08:00:00 UTC");
}

TEST(Printable, KeysCannotDriveATerminal) {
  EXPECT_EQ(printable("user:1 \xc3\xbc"), "user:1 \xc3\xbc");
  EXPECT_EQ(printable("\x1b[2J\n\t\x7f"), "\\x1b[2J\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("back\\slash"), "back\\\\slash");
}

TEST(Printable, MalformedUtf8IsEscapedByteByByte) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a control character of the second block";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "abc"),
            "\\xe2\\x80\\xaeabc")
      << "right-to-left override";
}

TEST(Printable, LongKeysAreCut) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace slipring::cli
