// Text becomes a number only if all of it is one, inside its range.
#include "slipring/base/parse.h"

#include <gtest/gtest.h>

namespace slipring {
namespace {

TEST(Parse, IntegersAreWholeAndInRange) {
  EXPECT_EQ(*parse_i64("-5", -10, 10), -5);
  EXPECT_EQ(*parse_u64("18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1e3", "nan", "--1"}) {
    EXPECT_EQ(parse_i64(bad, -10, 10).error().code, Code::kInvalidArgument) << bad;
  }
  EXPECT_EQ(parse_i64("11", -10, 10).error().code, Code::kOutOfRange);
  EXPECT_EQ(parse_i64("99999999999999999999", -10, 10).error().code, Code::kOutOfRange);
}

TEST(Parse, WeightsAreThousandths) {
  EXPECT_EQ(*parse_milli("1", 0, 1'000'000), 1000);
  EXPECT_EQ(*parse_milli("0.001", 0, 1'000'000), 1);
  EXPECT_EQ(*parse_milli("1000", 0, 1'000'000), 1'000'000);
  EXPECT_EQ(*parse_milli("2.50", 0, 1'000'000), 2500);
  for (const char* bad : {"", ".", ".5", "1.", "1.0001", "nan", "inf", "1e9", "1,5", "- 1"}) {
    EXPECT_EQ(parse_milli(bad, 0, 1'000'000).error().code, Code::kInvalidArgument) << bad;
  }
  EXPECT_EQ(parse_milli("-1", 0, 1'000'000).error().code, Code::kOutOfRange);
  EXPECT_EQ(parse_milli("1000.001", 0, 1'000'000).error().code, Code::kOutOfRange);
  EXPECT_EQ(parse_milli("1000000000", 0, 1'000'000).error().code, Code::kOutOfRange);
}

TEST(Parse, MilliRoundTrips) {
  for (int64_t milli : {0, 1, 10, 100, 1000, 1500, 1001, 1'000'000, -1500}) {
    EXPECT_EQ(*parse_milli(format_milli(milli), -2'000'000, 2'000'000), milli);
  }
  EXPECT_EQ(format_milli(1500), "1.5");
  EXPECT_EQ(format_milli(1000), "1");
}

TEST(Parse, DurationsNameTheirUnit) {
  EXPECT_EQ(*parse_duration_ms("0"), 0);
  EXPECT_EQ(*parse_duration_ms("250ms"), 250);
  EXPECT_EQ(*parse_duration_ms("10s"), 10'000);
  EXPECT_EQ(*parse_duration_ms("5m"), 300'000);
  EXPECT_EQ(*parse_duration_ms("2h"), 7'200'000);
  for (const char* bad : {"", "10", "s", "-1s", "1d", "1.5s"}) EXPECT_FALSE(parse_duration_ms(bad)) << bad;
  EXPECT_FALSE(parse_duration_ms("99999999h"));
}

TEST(Parse, SizesCountInPowersOf1024) {
  EXPECT_EQ(*parse_bytes("8mb"), 8u << 20);
  EXPECT_EQ(*parse_bytes("512KB"), 512u << 10);
  EXPECT_EQ(*parse_bytes("17"), 17u);
  for (const char* bad : {"", "mb", "-1", "1tb", "99999999999gb"}) EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(Parse, AddressesHaveHostAndPort) {
  EXPECT_EQ(*parse_host_port("127.0.0.1:6400"), (HostPort{"127.0.0.1", 6400}));
  EXPECT_EQ(*parse_host_port("[::1]:6400"), (HostPort{"::1", 6400}));
  EXPECT_EQ(format_host_port(*parse_host_port("[::1]:6400")), "[::1]:6400");
  EXPECT_EQ(format_host_port({"a", 1}), "a:1");
  for (const char* bad : {"", "a", ":1", "a:", "a:0", "a:65536", "a:-1", "::1:5", "a b:1", "a\n:1"}) {
    EXPECT_FALSE(parse_host_port(bad)) << bad;
  }
  EXPECT_TRUE(parse_host_port("a:0", true));
}

}  // namespace
}  // namespace slipring
