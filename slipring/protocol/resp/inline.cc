// Redis's quoting rules for inline commands.
#include "slipring/protocol/resp/request.h"

namespace slipring::resp {
namespace {

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// The escape at s[i] == '\\' inside double quotes, s[i + 1] exists; answers its last index.
size_t read_escape(std::string_view s, size_t i, std::string& word) {
  if (s[i + 1] == 'x' && i + 3 < s.size() && hex_digit(s[i + 2]) >= 0 && hex_digit(s[i + 3]) >= 0) {
    word.push_back(static_cast<char>(hex_digit(s[i + 2]) * 16 + hex_digit(s[i + 3])));
    return i + 3;
  }
  word.push_back(unescape(s[i + 1]));
  return i + 1;
}

// The quoted part that opens at s[i]; leaves i behind its closing quote. False if it does not close, or runs into text.
bool read_quoted(std::string_view s, size_t& i, std::string& word) {
  const char quote = s[i];
  for (++i; i < s.size(); ++i) {
    if (s[i] == quote) {
      ++i;
      return i == s.size() || is_blank(s[i]);
    }
    const bool escape = s[i] == '\\' && i + 1 < s.size();
    if (escape && quote == '"') {
      i = read_escape(s, i, word);
    } else if (escape && s[i + 1] == '\'') {
      word.push_back(s[++i]);
    } else {
      word.push_back(s[i]);
    }
  }
  return false;
}

}  // namespace

bool split_inline(std::string_view line, std::vector<std::string>& out) {
  size_t i = 0;
  while (true) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i == line.size()) return true;
    std::string& word = out.emplace_back();
    while (i < line.size() && !is_blank(line[i])) {
      if (line[i] != '"' && line[i] != '\'') {
        word.push_back(line[i++]);
      } else if (!read_quoted(line, i, word)) {
        return false;
      } else {
        break;
      }
    }
  }
}

}  // namespace slipring::resp
