// The length of the commonest replies without a state machine: one line, or one bulk string, whole in memory.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace slipring::router {

// "0" or digits without a leading zero, after a "-" or not; short enough to be in range.
inline bool is_plain_number(std::string_view text) {
  constexpr size_t kDigitsMax = 18;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.size() > kDigitsMax || text[0] == '0') return text == "0";
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Bytes of the reply at the start of `bytes`; 0 if it is of another kind, not whole or not well-formed, which
// resp::ReplyScanner then finds out.
inline size_t quick_reply_length(std::string_view bytes) {
  constexpr size_t kLineMax = 64;  // longer lines are rare; the scanner takes them
  constexpr size_t kDigitsMax = 9;
  if (bytes.empty()) return 0;
  const char type = bytes[0];
  if (type == '$') {
    size_t n = 0;
    size_t at = 1;
    while (at < bytes.size() && at <= kDigitsMax && bytes[at] >= '0' && bytes[at] <= '9') {
      n = n * 10 + static_cast<size_t>(bytes[at++] - '0');
    }
    if (at == 1 || (bytes[1] == '0' && at > 2)) return 0;
    const size_t end = at + 2 + n + 2;
    if (end > bytes.size() || bytes[at] != '\r' || bytes[at + 1] != '\n') return 0;
    return bytes[end - 2] == '\r' && bytes[end - 1] == '\n' ? end : 0;
  }
  if (type != '+' && type != '-' && type != ':') return 0;
  const std::string_view line = bytes.substr(0, kLineMax);
  const size_t end = line.find_first_of("\r\n", 1);
  if (end == std::string_view::npos || end + 1 >= line.size() || line[end] != '\r' || line[end + 1] != '\n') return 0;
  if (type == ':' && !is_plain_number(line.substr(1, end - 1))) return 0;
  return end + 2;
}

}  // namespace slipring::router
