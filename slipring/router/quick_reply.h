// The length of the commonest replies without a state machine: one line, or one bulk string, whole in memory.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace slipring::router {

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
  const size_t cr = line.find('\r');
  if (cr == std::string_view::npos || cr + 1 >= line.size() || line[cr + 1] != '\n') return 0;
  if (type == ':' && (cr == 1 || line.find_first_not_of("0123456789", line[1] == '-' ? 2 : 1) != cr)) return 0;
  return cr + 2;
}

}  // namespace slipring::router
