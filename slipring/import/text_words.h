// A walk through a text that knows its line and column.
// Thread-safety: one owner.
#pragma once

#include <string>
#include <string_view>

#include "slipring/import/draft.h"

namespace slipring::import {

class TextWords {
 public:
  explicit TextWords(std::string_view text, size_t line = 1) : text_(text), line_(line) {}

  Mark here() const { return {line_, at_ - line_start_ + 1}; }
  // False at the end of the text.
  bool skip_blanks() {
    skip_any(" \t\r\n");
    return at_ < text_.size();
  }
  // Takes `word` if it stands here.
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    step(word.size());
    return true;
  }
  // What stands before the next of `ends`, or before the end of the text.
  std::string take_until(std::string_view ends) {
    const size_t found = text_.find_first_of(ends, at_);
    const size_t end = found == text_.npos ? text_.size() : found;
    std::string out(text_.substr(at_, end - at_));
    step(end - at_);
    return out;
  }
  std::string take_word() { return take_until(" \t\r\n"); }

 private:
  void skip_any(std::string_view bytes) {
    while (at_ < text_.size() && bytes.find(text_[at_]) != bytes.npos) step(1);
  }
  void step(size_t bytes) {
    for (; bytes > 0; --bytes) {
      if (text_[at_++] != '\n') continue;
      ++line_;
      line_start_ = at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_;
  size_t line_start_ = 0;
};

// Calls line(text, number) for every line, its end cut off; ends at the first error.
template <typename Line>
Status for_each_line(std::string_view text, Line line) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    if (one.ends_with('\r')) one.remove_suffix(1);
    SLIPRING_TRY(line(one, number));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

}  // namespace slipring::import
