#include "slipring/base/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace slipring {
namespace {

template <typename Int>
Result<Int> parse_int(std::string_view text, Int min, Int max) {
  Int value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc::result_out_of_range) {
    return fail(Code::kOutOfRange, fmt::format("\"{}\": must be {} to {}", text.substr(0, 64), min, max));
  }
  if (ec != std::errc() || end != text.data() + text.size()) {
    return fail(Code::kInvalidArgument, fmt::format("\"{}\": no decimal integer", text.substr(0, 64)));
  }
  if (value < min || value > max) {
    return fail(Code::kOutOfRange, fmt::format("{}: must be {} to {}", value, min, max));
  }
  return value;
}

struct Unit {
  std::string_view suffix;
  uint64_t factor;
};

// The number in front of the first unit that `text` ends with, times its factor; units are tried in order.
template <size_t N>
Result<uint64_t> parse_with_unit(std::string_view text, const Unit (&units)[N], uint64_t max, std::string_view what) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.suffix)) continue;
    auto number = parse_u64(text.substr(0, text.size() - unit.suffix.size()), 0, max / unit.factor);
    if (!number && number.error().code == Code::kInvalidArgument) {
      return fail(Code::kInvalidArgument, fmt::format("\"{}\": no {}", text.substr(0, 64), what));
    }
    if (!number) return fail(number.error());
    return *number * unit.factor;
  }
  return fail(Code::kInvalidArgument, fmt::format("\"{}\": no {}", text.substr(0, 64), what));
}

}  // namespace

Result<int64_t> parse_i64(std::string_view text, int64_t min, int64_t max) { return parse_int(text, min, max); }
Result<uint64_t> parse_u64(std::string_view text, uint64_t min, uint64_t max) { return parse_int(text, min, max); }

Result<int64_t> parse_milli(std::string_view text, int64_t min, int64_t max) {
  const auto bad = [&] {
    return fail(Code::kInvalidArgument,
                fmt::format("\"{}\": no decimal with at most three places", text.substr(0, 64)));
  };
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  const size_t dot = digits.find('.');
  std::string_view whole = digits.substr(0, dot);
  std::string_view places = dot == std::string_view::npos ? std::string_view() : digits.substr(dot + 1);
  if (whole.empty() || (dot != std::string_view::npos && places.empty()) || places.size() > 3) return bad();
  std::string joined(whole);
  joined.append(places).append(3 - places.size(), '0');
  if (joined.find_first_not_of("0123456789") != std::string::npos) return bad();
  auto value = parse_i64((negative ? "-" : "") + joined, min, max);
  if (!value) {
    return fail(value.error().code,
                fmt::format("{}: must be {} to {}", text.substr(0, 64), format_milli(min), format_milli(max)));
  }
  return *value;
}

std::string format_milli(int64_t milli) {
  const bool negative = milli < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(milli) : static_cast<uint64_t>(milli);
  std::string text = fmt::format("{}{}.{:03}", negative ? "-" : "", magnitude / 1000, magnitude % 1000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

Result<int64_t> parse_duration_ms(std::string_view text) {
  static constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  static constexpr uint64_t kMax = 365ull * 24 * 3'600'000;
  if (text == "0") return 0;
  auto ms = parse_with_unit(text, kUnits, kMax, "duration such as 250ms, 10s, 5m or 2h");
  if (!ms) return fail(ms.error());
  return static_cast<int64_t>(*ms);
}

Result<uint64_t> parse_bytes(std::string_view text) {
  static constexpr Unit kUnits[] = {{"kb", 1ull << 10}, {"mb", 1ull << 20}, {"gb", 1ull << 30}, {"b", 1}, {"", 1}};
  std::string lower(text.substr(0, 64));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return parse_with_unit(lower, kUnits, std::numeric_limits<int64_t>::max(), "size such as 512kb, 8mb or 1gb");
}

Result<HostPort> parse_host_port(std::string_view text, bool allow_port_zero) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::kInvalidArgument, fmt::format("address \"{}\": {}", text.substr(0, 300), why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad("no port; write host:port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad("an IPv6 address is written [address]:port");
  }
  if (host.empty() || host.size() > 253) return bad("host must have 1 to 253 characters");
  for (char c : host) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                    c == '-' || c == '_' || c == ':' || c == '%';
    if (!ok) return bad("host has a character that no host name or address has");
  }
  auto port = parse_u64(text.substr(colon + 1), allow_port_zero ? 0 : 1, 65535);
  if (!port) return bad("port must be 1 to 65535");
  return HostPort{std::string(host), static_cast<uint16_t>(*port)};
}

std::string format_host_port(const HostPort& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), address.host, address.port);
}

}  // namespace slipring
