// Strict text -> number conversions for operators' and clients' input: the whole text or an error, no locale, no
// leading blanks or plus sign, no octal, no silent wrap.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring {

// kInvalidArgument if `text` is no decimal integer; kOutOfRange outside [min, max] (both included).
Result<int64_t> parse_i64(std::string_view text, int64_t min, int64_t max);
Result<uint64_t> parse_u64(std::string_view text, uint64_t min, uint64_t max);
// A decimal with at most three places, in thousandths: "1.5" -> 1500, in [min, max] thousandths (both included).
Result<int64_t> parse_milli(std::string_view text, int64_t min, int64_t max);
// Thousandths -> shortest decimal: 1500 -> "1.5", 1000 -> "1".
std::string format_milli(int64_t milli);
// "250ms", "10s", "5m", "2h", "0" -> milliseconds, at most 365 days.
Result<int64_t> parse_duration_ms(std::string_view text);
// "8mb", "512kb", "1gb", "123" (bytes; factors of 1024) -> bytes.
Result<uint64_t> parse_bytes(std::string_view text);
// "host:port" or "[v6]:port"; host not empty, port 1 to 65535 (0 too if allow_port_zero).
struct HostPort {
  std::string host;
  uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
};
Result<HostPort> parse_host_port(std::string_view text, bool allow_port_zero = false);
std::string format_host_port(const HostPort& address);

}  // namespace slipring
