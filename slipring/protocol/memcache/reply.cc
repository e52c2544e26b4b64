#include "slipring/protocol/memcache/reply.h"

#include <algorithm>
#include <charconv>

namespace slipring::memcache {
namespace {

// The n-th word (0 = first) of a line whose words are parted by single blanks; empty if there is none.
std::string_view word(std::string_view line, int n) {
  for (; n > 0; --n) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line.substr(0, line.find(' '));
}

bool parse_size(std::string_view text, uint64_t& out) {
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, out);
  return r.ec == std::errc() && r.ptr == end;
}

}  // namespace

ReplyShape shape_of(Verb verb) {
  switch (verb) {
    case Verb::kGet:
    case Verb::kGets:
    case Verb::kGat:
    case Verb::kGats:
      return ReplyShape::kItems;
    case Verb::kStats:
      return ReplyShape::kStats;
    case Verb::kMetaGet:
    case Verb::kMetaSet:
    case Verb::kMetaDelete:
    case Verb::kMetaArithmetic:
      return ReplyShape::kMeta;
    default:
      return ReplyShape::kLine;
  }
}

void ReplyScanner::expect(ReplyShape shape) {
  shape_ = shape;
  if (status_ == ParseStatus::kError) return;
  status_ = ParseStatus::kNeedMore;
  line_.clear();
  in_block_ = false;
  length_ = 0;
}

bool ReplyScanner::bad(const char* why) {
  error_ = why;
  status_ = ParseStatus::kError;
  return false;
}

ParseStatus ReplyScanner::scan(std::string_view chunk) {
  used_ = 0;
  size_t at = 0;
  while (at < chunk.size() && status_ == ParseStatus::kNeedMore) {
    if (!(in_block_ ? take_block(chunk, at) : take_line(chunk, at))) break;
  }
  used_ = at;
  length_ += at;
  return status_;
}

bool ReplyScanner::take_line(std::string_view chunk, size_t& at) {
  if (line_.ends_with('\n')) line_.clear();
  const size_t end = chunk.find('\n', at);
  const size_t stop = end == std::string_view::npos ? chunk.size() : end + 1;
  if (line_.size() + (stop - at) > limits_.line_bytes_max) return bad("reply: line too long");
  line_.append(chunk.substr(at, stop - at));
  at = stop;
  return end == std::string_view::npos || finish_line();
}

bool ReplyScanner::finish_line() {
  if (!line_.ends_with("\r\n")) return bad("reply: line without CR");
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - 2);
  const std::string_view first = word(line, 0);
  if (shape_ == ReplyShape::kItems && first == "VALUE") return open_block(word(line, 3));
  if (shape_ == ReplyShape::kMeta && first == "VA") return open_block(word(line, 1));
  if (shape_ == ReplyShape::kStats && (first == "STAT" || first == "ITEM")) return true;
  status_ = ParseStatus::kDone;
  line_.resize(line.size());
  return true;
}

bool ReplyScanner::open_block(std::string_view bytes) {
  if (!parse_size(bytes, block_left_)) return bad("reply: bad length of a block");
  if (block_left_ > limits_.block_bytes_max) return bad("reply: block too long");
  block_left_ += 2;
  in_block_ = true;
  return true;
}

bool ReplyScanner::take_block(std::string_view chunk, size_t& at) {
  const auto n = static_cast<size_t>(std::min<uint64_t>(block_left_, chunk.size() - at));
  for (size_t i = 0; block_left_ <= n + 1 && i < n; ++i) {
    const uint64_t left = block_left_ - i;
    const char c = chunk[at + i];
    if ((left == 2 && c != '\r') || (left == 1 && c != '\n')) return bad("reply: block not followed by CRLF");
  }
  at += n;
  block_left_ -= n;
  if (block_left_ > 0) return true;
  in_block_ = false;
  if (shape_ != ReplyShape::kMeta) return true;
  status_ = ParseStatus::kDone;
  line_.resize(line_.size() - 2);
  return true;
}

bool ReplyScanner::is_error() const {
  const std::string_view first = word(line_, 0);
  return first == "ERROR" || first == "CLIENT_ERROR" || first == "SERVER_ERROR";
}

bool ItemReader::next(Item& item) {
  const size_t end = rest_.find("\r\n");
  if (end == std::string_view::npos) return false;
  const std::string_view line = rest_.substr(0, end);
  uint64_t bytes = 0;
  if (word(line, 0) != "VALUE" || !parse_size(word(line, 3), bytes)) {
    ended_ = line == "END" && rest_.size() == end + 2;
    return false;
  }
  if (rest_.size() < end + 4 || bytes > rest_.size() - end - 4) return false;
  const size_t size = static_cast<size_t>(bytes);
  item = {word(line, 1), word(line, 2), word(line, 4), rest_.substr(end + 2, size), rest_.substr(0, end + size + 4)};
  rest_.remove_prefix(item.whole.size());
  return true;
}

}  // namespace slipring::memcache
