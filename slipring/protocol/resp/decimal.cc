#include "slipring/protocol/resp/decimal.h"

#include <limits>

namespace slipring::resp {

bool parse_decimal(std::string_view text, int64_t& out) {
  constexpr size_t kTextMax = 20;
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || text.size() > kTextMax) return false;
  if (digits[0] == '0' && text.size() != 1) return false;
  uint64_t v = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    v = v * 10 + static_cast<uint64_t>(c - '0');  // at most 20 digits: may wrap only from 19 digits up, checked below
  }
  const uint64_t bound = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  if (digits.size() > 19 || v > bound) return false;
  out = static_cast<int64_t>(negative ? 0 - v : v);
  return true;
}

}  // namespace slipring::resp
