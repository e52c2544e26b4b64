#include "slipring/import/nginx_blocks.h"

#include <fmt/format.h>

namespace slipring::import {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const Draft& draft) : text_(text), draft_(draft) {}

  // Up to the end of the text (depth 0) or the '}' of a block that began at `start`.
  Result<std::vector<NginxDirective>> parse_block(Mark start, size_t depth) {
    std::vector<NginxDirective> out;
    if (depth > kNginxDepthMax) return draft_.broken(start, "too many blocks within each other");
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) {
        if (depth > 0) return draft_.broken(start, "the block is not closed");
        return out;
      }
      if (text_[at_] == '}') {
        if (depth == 0) return draft_.broken(here(), "'}' closes no block");
        step();
        return out;
      }
      SLIPRING_ASSIGN(NginxDirective directive, parse_directive(depth));
      out.push_back(std::move(directive));
    }
  }

 private:
  Mark here() const { return {line_, at_ - line_start_ + 1}; }
  void step() {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  void skip_blanks() {
    bool comment = false;
    while (at_ < text_.size() && (comment || blank(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') comment = true;
      if (text_[at_] == '\n') comment = false;
      step();
    }
  }

  Result<NginxDirective> parse_directive(size_t depth) {
    NginxDirective out;
    out.at = here();
    if (++count_ > kNginxDirectivesMax) return draft_.broken(out.at, "too many directives");
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) return draft_.broken(out.at, "the directive does not end with ';'");
      const char c = text_[at_];
      if (c == '}') return draft_.broken(here(), "'}' where a ';' must stand");
      if (c != ';' && c != '{') {
        SLIPRING_ASSIGN(std::string word, parse_word());
        out.words.push_back(std::move(word));
        continue;
      }
      if (out.words.empty()) return draft_.broken(here(), fmt::format("'{}' without a directive", c));
      const Mark start = here();
      step();
      if (c == ';') return out;
      out.is_block = true;
      SLIPRING_ASSIGN(out.children, parse_block(start, depth + 1));
      return out;
    }
  }

  Result<std::string> parse_word() {
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') return parse_quoted(quote);
    std::string word;
    while (at_ < text_.size() && !blank(text_[at_]) && text_[at_] != ';' && text_[at_] != '{' && text_[at_] != '}') {
      // ${name} is a variable, no block.
      if (text_[at_] == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '{') {
        SLIPRING_TRY(take_variable(word));
      } else {
        take_byte(word);
      }
    }
    return word;
  }

  Status take_variable(std::string& word) {
    const Mark start = here();
    while (at_ < text_.size() && text_[at_] != '}') {
      if (blank(text_[at_])) return draft_.broken(start, "${ is not closed");
      take_byte(word);
    }
    if (at_ == text_.size()) return draft_.broken(start, "${ is not closed");
    take_byte(word);
    return {};
  }

  Result<std::string> parse_quoted(char quote) {
    const Mark start = here();
    step();
    std::string word;
    while (at_ < text_.size() && text_[at_] != quote) take_byte(word);
    if (at_ == text_.size()) return draft_.broken(start, "the quote is not closed");
    step();
    return word;
  }

  // One byte, or two of which the first is '\'; as nginx does, only some escapes lose it.
  void take_byte(std::string& word) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      const char next = text_[at_ + 1];
      step();
      if (next == 'n' || next == 't' || next == 'r') {
        word.push_back(next == 'n' ? '\n' : next == 't' ? '\t' : '\r');
        step();
        return;
      }
      if (next != '"' && next != '\'' && next != '\\') word.push_back('\\');
    }
    word.push_back(text_[at_]);
    step();
  }

  std::string_view text_;
  const Draft& draft_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t line_start_ = 0;
  size_t count_ = 0;
};

}  // namespace

Result<std::vector<NginxDirective>> parse_nginx(std::string_view text, const Draft& draft) {
  return Parser(text, draft).parse_block({}, 0);
}

}  // namespace slipring::import
