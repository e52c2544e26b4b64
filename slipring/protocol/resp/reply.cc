#include "slipring/protocol/resp/reply.h"

#include <algorithm>
#include <cstring>

namespace slipring::resp {
namespace {

bool is_text_type(char c) {
  return c == '+' || c == '-' || c == ':' || c == '_' || c == '#' || c == ',' || c == '(';
}
bool is_bulk_type(char c) {
  return c == '$' || c == '!' || c == '=';
}
bool is_pair_type(char c) {
  return c == '%' || c == '|';
}
bool is_length_type(char c) {
  return is_bulk_type(c) || is_pair_type(c) || c == '*' || c == '~' || c == '>';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// May `c` stand at `index` of a text line of this type? + and - take any byte; CR and LF never come here.
bool fits(char type, uint64_t index, char c) {
  switch (type) {
    case ':':
    case '(':
      return is_digit(c) || (index == 0 && (c == '-' || c == '+'));
    case '#':
      return index == 0 && (c == 't' || c == 'f');
    case ',':
      return is_digit(c) || (c != '\0' && std::strchr("+-.eEinfaN", c) != nullptr);
    case '_':
      return false;
    default:
      return true;
  }
}

}  // namespace

void ReplyScanner::start() {
  status_ = ParseStatus::kNeedMore;
  state_ = State::kType;
  type_ = 0;
  length_ = 0;
  depth_ = 0;
}

bool ReplyScanner::bad(const char* why) {
  error_ = why;
  status_ = ParseStatus::kError;
  return false;
}

ParseStatus ReplyScanner::scan(std::string_view chunk) {
  used_ = 0;
  if (status_ == ParseStatus::kError) return status_;
  if (status_ == ParseStatus::kDone) start();
  size_t at = 0;
  while (at < chunk.size() && status_ == ParseStatus::kNeedMore && step(chunk, at)) {
  }
  used_ = at;
  length_ += at;
  return status_;
}

// Takes at least one byte, or fails.
bool ReplyScanner::step(std::string_view chunk, size_t& at) {
  switch (state_) {
    case State::kType:
      return take_type(chunk[at++]);
    case State::kLength:
      return take_length(chunk, at);
    case State::kText:
      return take_text(chunk, at);
    case State::kBulk:
      take_bulk(chunk, at);
      return true;
    case State::kCr:
      if (chunk[at++] != '\r') return bad("reply: bulk not followed by CRLF");
      state_ = State::kLf;
      return true;
    case State::kLf:
      if (chunk[at++] != '\n') return bad("reply: CR without LF");
      return finish_line();
  }
  return false;
}

bool ReplyScanner::take_type(char c) {
  item_ = c;
  value_ = 0;
  digits_ = 0;
  text_bytes_ = 0;
  negative_ = false;
  line_is_length_ = is_length_type(c);
  if (!line_is_length_ && !is_text_type(c)) return bad("reply: unknown type byte");
  if (depth_ == 0 && c != '|') type_ = c;
  if (c == '>' && depth_ > 0) return bad("reply: push inside another reply");
  state_ = line_is_length_ ? State::kLength : State::kText;
  return true;
}

bool ReplyScanner::take_length(std::string_view chunk, size_t& at) {
  constexpr uint32_t kDigitsMax = 12;
  while (at < chunk.size()) {
    const char c = chunk[at++];
    if (is_digit(c)) {
      value_ = value_ * 10 + static_cast<uint64_t>(c - '0');
      if (++digits_ > kDigitsMax) return bad("reply: length out of bounds");
    } else if (c == '-' && digits_ == 0 && !negative_) {
      negative_ = true;
    } else if (c == '\r' && digits_ > 0) {
      state_ = State::kLf;
      return true;
    } else {
      return bad("reply: bad length");
    }
  }
  return true;
}

bool ReplyScanner::take_text(std::string_view chunk, size_t& at) {
  while (at < chunk.size()) {
    const char c = chunk[at++];
    if (c == '\r') {
      state_ = State::kLf;
      return finish_text();
    }
    if (c == '\n' || !fits(item_, text_bytes_, c)) return bad("reply: bad byte in a line");
    if (++text_bytes_ > limits_.line_bytes_max) return bad("reply: line too long");
  }
  return true;
}

// At the CR of a text line: is it long enough to be what its type says?
bool ReplyScanner::finish_text() {
  const bool may_be_empty = item_ == '+' || item_ == '-' || item_ == '_';
  return may_be_empty || text_bytes_ > 0 || bad("reply: empty value");
}

void ReplyScanner::take_bulk(std::string_view chunk, size_t& at) {
  const uint64_t n = std::min<uint64_t>(value_, chunk.size() - at);
  at += static_cast<size_t>(n);
  value_ -= n;
  if (value_ == 0) state_ = State::kCr;
}

// Behind the LF of a line, or of a bulk's end.
bool ReplyScanner::finish_line() {
  if (line_is_length_) return finish_length();
  finish_item();
  return true;
}

bool ReplyScanner::finish_length() {
  line_is_length_ = false;
  if (negative_) {
    const bool null = value_ == 1 && digits_ == 1 && (item_ == '$' || item_ == '*');
    if (!null) return bad("reply: negative length");
    finish_item();
    return true;
  }
  if (is_bulk_type(item_)) {
    if (value_ > limits_.bulk_bytes_max) return bad("reply: bulk too long");
    if (item_ == '=' && value_ < 4) return bad("reply: verbatim string without its format");
    state_ = value_ == 0 ? State::kCr : State::kBulk;
    return true;
  }
  if (value_ > limits_.count_max) return bad("reply: too many elements");
  return open(is_pair_type(item_) ? 2 * value_ : value_, item_ == '|');
}

bool ReplyScanner::open(uint64_t items, bool attribute) {
  state_ = State::kType;
  if (items == 0) {
    if (!attribute) finish_item();
    return true;
  }
  if (depth_ == stack_.size()) return bad("reply: nested too deep");
  stack_[depth_++] = {items, attribute};
  return true;
}

// An item is whole; so are the aggregates that it was the last of. An attribute is no item: what it describes follows.
void ReplyScanner::finish_item() {
  state_ = State::kType;
  while (depth_ > 0) {
    Frame& top = stack_[depth_ - 1];
    if (--top.left > 0) return;
    --depth_;
    if (top.attribute) return;
  }
  status_ = ParseStatus::kDone;
}

}  // namespace slipring::resp
