#include "slipring/protocol/resp/request.h"

#include <cstring>

#include "slipring/protocol/resp/decimal.h"
#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

constexpr size_t kSlicesKept = 1024;

// The short way for what nearly every client sends: `mark`, 1 to 9 digits without a leading zero, CRLF. False for
// anything else, which the exact (and slower) way then judges. On true `pos` is behind the line.
bool read_plain_header(std::string_view buffer, char mark, size_t& pos, int64_t& value) {
  const char* p = buffer.data() + pos;
  const char* end = buffer.data() + buffer.size();
  if (end - p < 4 || *p != mark || p[1] < '1' || p[1] > '9') return false;
  int64_t v = *++p - '0';
  const char* digits_end = p + 9;
  for (++p; p < end && p < digits_end && *p >= '0' && *p <= '9'; ++p) v = v * 10 + (*p - '0');
  if (end - p < 2 || p[0] != '\r' || p[1] != '\n') return false;
  pos = static_cast<size_t>(p + 2 - buffer.data());
  value = v;
  return true;
}

// A byte of the client inside an error line must not end that line.
char printable(char c) {
  return c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

}  // namespace

void RequestParser::start() {
  status_ = ParseStatus::kNeedMore;
  pos_ = 0;
  scanned_ = 0;
  args_left_ = -1;
  bulk_left_ = -1;
  inline_wire_.clear();
  slices_.clear();
  if (slices_.capacity() > kSlicesKept) slices_.shrink_to_fit();
}

ParseStatus RequestParser::fail(std::string_view why) {
  error_ = "ERR Protocol error: ";
  error_ += why;
  return status_ = ParseStatus::kError;
}

ParseStatus RequestParser::parse(std::string_view buffer) {
  if (status_ == ParseStatus::kError) return status_;
  if (status_ == ParseStatus::kDone) start();
  if (buffer.empty()) return status_;
  return buffer[0] == '*' ? parse_array(buffer) : parse_inline(buffer);
}

ParseStatus RequestParser::parse_array(std::string_view buffer) {
  if (args_left_ < 0) {
    if (const ParseStatus s = read_array_header(buffer); s != ParseStatus::kDone) return s;
  }
  while (args_left_ > 0) {
    if (bulk_left_ < 0) {
      if (const ParseStatus s = read_bulk_header(buffer); s != ParseStatus::kDone) return s;
    }
    if (const ParseStatus s = read_bulk(buffer); s != ParseStatus::kDone) return s;
  }
  return status_ = ParseStatus::kDone;
}

// Finds the end of the line at pos_: `at` is the place of `end`. The bound holds wherever the pieces were cut.
RequestParser::Line RequestParser::find_line(std::string_view buffer, char end, size_t& at) {
  const size_t from = std::max(pos_, scanned_);
  const size_t stop = std::min(buffer.size(), pos_ + limits_.line_bytes_max + 1);
  const void* hit = from < stop ? std::memchr(buffer.data() + from, end, stop - from) : nullptr;
  if (hit == nullptr) {
    scanned_ = stop;
    return buffer.size() > pos_ + limits_.line_bytes_max ? Line::kTooLong : Line::kMore;
  }
  at = static_cast<size_t>(static_cast<const char*>(hit) - buffer.data());
  scanned_ = at;
  return Line::kWhole;
}

ParseStatus RequestParser::read_array_header(std::string_view buffer) {
  int64_t count = 0;
  if (!read_plain_header(buffer, '*', pos_, count)) {
    size_t at = 0;
    const Line line = find_line(buffer, '\r', at);
    if (line == Line::kTooLong) return fail("too big mbulk count string");
    if (line == Line::kMore || at + 1 == buffer.size()) return status_;
    if (buffer[at + 1] != '\n' || !parse_decimal(buffer.substr(1, at - 1), count)) {
      return fail("invalid multibulk length");
    }
    pos_ = at + 2;
  }
  if (count > limits_.args_max) return fail("invalid multibulk length");
  if (count > kUnauthenticatedArgsMax && !authenticated_) return fail("unauthenticated multibulk length");
  args_left_ = std::max<int64_t>(count, 0);
  return ParseStatus::kDone;
}

ParseStatus RequestParser::read_bulk_header(std::string_view buffer) {
  int64_t bytes = 0;
  if (!read_plain_header(buffer, '$', pos_, bytes)) {
    if (pos_ == buffer.size()) return status_;
    size_t at = 0;
    const Line line = find_line(buffer, '\r', at);
    if (line == Line::kTooLong) return fail("too big bulk count string");
    if (buffer[pos_] != '$') return fail(std::string("expected '$', got '") + printable(buffer[pos_]) + "'");
    if (line == Line::kMore || at + 1 == buffer.size()) return status_;
    if (buffer[at + 1] != '\n' || !parse_decimal(buffer.substr(pos_ + 1, at - pos_ - 1), bytes)) {
      return fail("invalid bulk length");
    }
    pos_ = at + 2;
  }
  if (bytes < 0 || bytes > limits_.bulk_bytes_max) return fail("invalid bulk length");
  if (bytes > kUnauthenticatedBulkBytesMax && !authenticated_) return fail("unauthenticated bulk length");
  if (pos_ + static_cast<uint64_t>(bytes) + 2 > limits_.request_bytes_max) return fail("too big request");
  bulk_left_ = bytes;
  return ParseStatus::kDone;
}

ParseStatus RequestParser::read_bulk(std::string_view buffer) {
  const size_t bytes = static_cast<size_t>(bulk_left_);
  if (buffer.size() - pos_ < bytes + 2) return status_;
  if (buffer[pos_ + bytes] != '\r' || buffer[pos_ + bytes + 1] != '\n') return fail("bulk not followed by CRLF");
  slices_.push_back({static_cast<uint32_t>(pos_), static_cast<uint32_t>(bytes)});
  pos_ += bytes + 2;
  bulk_left_ = -1;
  --args_left_;
  return ParseStatus::kDone;
}

ParseStatus RequestParser::parse_inline(std::string_view buffer) {
  size_t at = 0;
  const Line line = find_line(buffer, '\n', at);
  if (line == Line::kTooLong) return fail("too big inline request");
  if (line == Line::kMore) return status_;
  std::vector<std::string> words;
  if (!split_inline(buffer.substr(0, at > 0 && buffer[at - 1] == '\r' ? at - 1 : at), words)) {
    return fail("unbalanced quotes in request");
  }
  pos_ = at + 1;
  if (!words.empty()) append_array_header(inline_wire_, words.size());
  for (const std::string& word : words) {
    append_bulk(inline_wire_, word);
    slices_.push_back(
        {static_cast<uint32_t>(inline_wire_.size() - word.size() - 2), static_cast<uint32_t>(word.size())});
  }
  return status_ = ParseStatus::kDone;
}

}  // namespace slipring::resp
