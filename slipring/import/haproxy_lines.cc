#include "slipring/import/haproxy_lines.h"

#include <fmt/format.h>

namespace slipring::import {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class LineSplitter {
 public:
  LineSplitter(std::string_view line, size_t number, const Draft& draft)
      : line_(line), number_(number), draft_(draft) {}

  Result<HaproxyLine> split() {
    HaproxyLine out;
    while (skip_blanks()) {
      if (out.words.empty()) out.at = here();
      if (out.words.size() == kHaproxyWordsMax)
        return draft_.broken(here(), fmt::format("more than {} words", kHaproxyWordsMax));
      SLIPRING_ASSIGN(std::string word, take_word());
      out.words.push_back(std::move(word));
    }
    return out;
  }

 private:
  Mark here() const { return {number_, at_ + 1}; }
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  // False at the end of the line, or where a comment begins.
  bool skip_blanks() {
    while (at_ < line_.size() && blank(line_[at_])) ++at_;
    return at_ < line_.size() && line_[at_] != '#';
  }

  Result<std::string> take_word() {
    std::string word;
    while (at_ < line_.size() && !blank(line_[at_]) && line_[at_] != '#') {
      const char c = line_[at_];
      if (c == '\'' || c == '"') {
        SLIPRING_TRY(take_quoted(c, word));
      } else if (c == '\\') {
        SLIPRING_TRY(take_escape(word));
      } else {
        word.push_back(c);
        ++at_;
      }
    }
    return word;
  }

  Status take_quoted(char quote, std::string& word) {
    const Mark start = here();
    for (++at_; at_ < line_.size() && line_[at_] != quote;) {
      if (quote == '"' && line_[at_] == '\\') {
        SLIPRING_TRY(take_escape(word));
      } else if (quote == '"' && line_[at_] == '$') {
        return draft_.broken(here(), "an environment variable: write its value");
      } else {
        word.push_back(line_[at_++]);
      }
    }
    if (at_ >= line_.size()) return draft_.broken(start, "the quote is not closed");
    ++at_;
    return {};
  }

  Status take_escape(std::string& word) {
    const Mark start = here();
    if (at_ + 1 >= line_.size()) return draft_.broken(start, "a line ends with \\");
    const char c = line_[at_ + 1];
    at_ += 2;
    if (c == 'x') return take_hex(start, word);
    word.push_back(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
    return {};
  }

  Status take_hex(Mark start, std::string& word) {
    if (line_.size() - at_ < 2) return draft_.broken(start, "\\x: two digits must follow");
    const int high = hex_digit(line_[at_]);
    const int low = hex_digit(line_[at_ + 1]);
    if (high < 0 || low < 0 || (high == 0 && low == 0) || high > 7)
      return draft_.broken(start, "\\x: two digits of an ASCII byte must follow");
    word.push_back(static_cast<char>(high * 16 + low));
    at_ += 2;
    return {};
  }

  std::string_view line_;
  size_t number_;
  const Draft& draft_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<HaproxyLine>> split_haproxy(std::string_view text, const Draft& draft) {
  std::vector<HaproxyLine> lines;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    SLIPRING_ASSIGN(HaproxyLine line, LineSplitter(text.substr(0, end), number, draft).split());
    if (!line.words.empty()) lines.push_back(std::move(line));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

}  // namespace slipring::import
