// Whatever a number is formatted to is parsed back to it, and any text gives a value in range or an error.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/base/parse.h"

namespace slipring {
namespace {

TEST(ParseProperty, IntegersComeBack) {
  EXPECT_TRUE(rc::check([](int64_t n) { RC_ASSERT(*parse_i64(std::to_string(n), INT64_MIN, INT64_MAX) == n); }));
  EXPECT_TRUE(rc::check([](uint64_t n) { RC_ASSERT(*parse_u64(std::to_string(n), 0, UINT64_MAX) == n); }));
}

TEST(ParseProperty, ThousandthsComeBack) {
  EXPECT_TRUE(rc::check([](int32_t n) { RC_ASSERT(*parse_milli(format_milli(n), INT32_MIN, INT32_MAX) == n); }));
}

TEST(ParseProperty, AnyTextIsAValueInRangeOrAnError) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    if (auto n = parse_i64(text, -5, 1000)) RC_ASSERT(*n >= -5 && *n <= 1000);
    if (auto n = parse_milli(text, 0, 1000)) RC_ASSERT(*n >= 0 && *n <= 1000);
    if (auto ms = parse_duration_ms(text)) RC_ASSERT(*ms >= 0);
    if (auto address = parse_host_port(text)) {
      RC_ASSERT(address->port != 0);
      RC_ASSERT(!address->host.empty());
      RC_ASSERT(*parse_host_port(format_host_port(*address)) == *address);
    }
    static_cast<void>(parse_bytes(text));
  }));
}

TEST(ParseProperty, NumbersNearTheirBoundsAreJudgedExactly) {
  EXPECT_TRUE(rc::check([](int16_t low, int16_t high, int16_t n) {
    RC_PRE(low <= high);
    RC_ASSERT(parse_i64(std::to_string(n), low, high).has_value() == (n >= low && n <= high));
    RC_ASSERT(parse_milli(format_milli(n), low, high).has_value() == (n >= low && n <= high));
  }));
}

}  // namespace
}  // namespace slipring
