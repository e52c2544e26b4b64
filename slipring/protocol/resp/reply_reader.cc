#include "slipring/protocol/resp/decimal.h"
#include "slipring/protocol/resp/reply.h"

namespace slipring::resp {
namespace {

constexpr int64_t kCountMax = int64_t{1} << 40;

}  // namespace

bool ReplyReader::take_line(std::string_view& line) {
  const size_t cr = rest_.find('\r');
  if (cr == std::string_view::npos || cr + 1 >= rest_.size() || rest_[cr + 1] != '\n') return bad();
  line = rest_.substr(0, cr);
  rest_.remove_prefix(cr + 2);
  return true;
}

bool ReplyReader::next_raw(ReplyItem& item) {
  if (!ok_ || rest_.empty()) return false;
  item = {};
  item.type = rest_[0];
  rest_.remove_prefix(1);
  std::string_view line;
  if (!take_line(line)) return false;
  switch (item.type) {
    case '+':
    case '-':
    case ',':
    case '(':
      item.text = line;
      return true;
    case '_':
      item.null = true;
      return true;
    case '#':
      item.number = line == "t" ? 1 : 0;
      return true;
    case ':':
      return parse_decimal(line.substr(!line.empty() && line[0] == '+' ? 1 : 0), item.number) || bad();
    case '$':
    case '!':
    case '=':
    case '*':
    case '%':
    case '~':
    case '>':
    case '|':
      break;
    default:
      return bad();
  }
  if (!parse_decimal(line, item.number) || item.number < -1 || item.number > kCountMax) return bad();
  item.null = item.number < 0;
  if (item.null) item.number = 0;
  if (item.type == '%' || item.type == '|') item.number *= 2;
  const bool bulk = item.type == '$' || item.type == '!' || item.type == '=';
  if (!bulk || item.null) return true;
  const size_t bytes = static_cast<size_t>(item.number);
  if (rest_.size() < 2 || bytes > rest_.size() - 2) return bad();
  item.text = rest_.substr(item.type == '=' && bytes >= 4 ? 4 : 0, item.type == '=' && bytes >= 4 ? bytes - 4 : bytes);
  item.number = 0;
  rest_.remove_prefix(bytes + 2);
  return true;
}

bool ReplyReader::next(ReplyItem& item) {
  while (next_raw(item)) {
    if (item.type != '|') return true;
    for (int64_t i = 0, n = item.number; i < n; ++i) {
      if (!skip()) return bad();
    }
  }
  return false;
}

bool ReplyReader::next_string(std::string_view& text) {
  ReplyItem item;
  if (!next(item) || !item.is_string()) return bad();
  text = item.text;
  return true;
}

bool ReplyReader::next_int(int64_t& value) {
  ReplyItem item;
  if (!next(item) || item.type != ':') return bad();
  value = item.number;
  return true;
}

bool ReplyReader::next_array(int64_t& count) {
  ReplyItem item;
  if (!next(item) || !item.is_aggregate()) return bad();
  count = item.number;
  return true;
}

bool ReplyReader::skip() {
  ReplyItem item;
  for (int64_t left = 1; left > 0; --left) {
    if (!next_raw(item)) return bad();
    const bool opens = item.is_aggregate() || item.type == '|';
    if (opens) left += item.number;
    if (item.type == '|') ++left;  // what it describes follows
    if (left > kCountMax) return bad();
  }
  return true;
}

}  // namespace slipring::resp
