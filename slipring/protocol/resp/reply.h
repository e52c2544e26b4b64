// Replies of RESP2 and RESP3. ReplyScanner finds the end of one whole reply in a stream of pieces: it keeps only its
// own state, so pieces may be passed on at once and a reply of N bytes costs O(N) however it is cut. ReplyReader then
// walks over a reply that lies whole in memory, item by item, without building a tree.
// A server may lie: lengths, depth, counts and line sizes are bounded, nothing is reserved on its word.
// Thread-safety: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "slipring/protocol/resp/request.h"

namespace slipring::resp {

struct ReplyLimits {
  uint64_t bulk_bytes_max = 4ull << 30;
  uint64_t line_bytes_max = 1u << 20;  // a status, an error, a big number
  uint64_t count_max = 0x7fffffff;     // elements of one aggregate (pairs of a map)
};
// Nesting of aggregates; a deeper reply is an error.
inline constexpr size_t kReplyDepthMax = 128;

class ReplyScanner {
 public:
  explicit ReplyScanner(ReplyLimits limits = {}) : limits_(limits) {}

  // Takes the next bytes of the stream. kDone: the reply ended inside `chunk`, used() says how many of its bytes were
  // the reply's; the next call starts the next reply. kNeedMore: all of `chunk` was used. kError is final.
  ParseStatus scan(std::string_view chunk);
  size_t used() const { return used_; }
  // Bytes of this reply so far.
  uint64_t length() const { return length_; }
  // First byte of the reply proper (attributes before it do not count): + - : $ * _ # , ( ! = % ~ >; 0 before it came.
  char type() const { return type_; }
  bool is_push() const { return type_ == '>'; }
  bool is_error() const { return type_ == '-' || type_ == '!'; }
  // "reply: bad length" and the like; for a log or an error to the client, never with bytes of the server in it.
  const char* error() const { return error_; }

 private:
  enum class State : uint8_t { kType, kLength, kText, kBulk, kCr, kLf };
  struct Frame {
    uint64_t left = 0;
    bool attribute = false;
  };

  void start();
  bool step(std::string_view chunk, size_t& at);
  bool take_type(char c);
  bool take_length(std::string_view chunk, size_t& at);
  bool take_text(std::string_view chunk, size_t& at);
  void take_bulk(std::string_view chunk, size_t& at);
  bool finish_line();
  bool finish_text();
  bool finish_length();
  bool open(uint64_t items, bool attribute);
  void finish_item();
  bool bad(const char* why);

  ReplyLimits limits_;
  ParseStatus status_ = ParseStatus::kDone;
  State state_ = State::kType;
  bool line_is_length_ = false;  // what the CRLF that comes ends: a length line or a text line
  bool negative_ = false;
  char item_ = 0;  // type of the item being read
  char type_ = 0;
  uint32_t digits_ = 0;  // of the length being read
  uint64_t value_ = 0;   // the length being read; then bytes of a bulk still to come
  uint64_t text_bytes_ = 0;
  uint64_t length_ = 0;
  size_t used_ = 0;
  size_t depth_ = 0;
  const char* error_ = "";
  std::array<Frame, kReplyDepthMax> stack_;
};

// One item of a reply. For an aggregate `number` is the count of items that follow it as its own (twice the pairs of a
// map or attribute); for ':' and '#' the value; `text` is the content of strings, errors, doubles and big numbers
// (a verbatim string without its format).
struct ReplyItem {
  char type = 0;
  bool null = false;
  int64_t number = 0;
  std::string_view text;

  bool is_error() const { return type == '-' || type == '!'; }
  bool is_string() const { return (type == '$' && !null) || type == '+' || type == '='; }
  bool is_aggregate() const { return !null && (type == '*' || type == '%' || type == '~' || type == '>'); }
};

class ReplyReader {
 public:
  // `reply`: one whole reply (or several). The reader never leaves it, whatever is in it.
  explicit ReplyReader(std::string_view reply) : rest_(reply) {}

  // The next item in reading order; attributes are passed over. False at the end or at a malformed item (ok() tells).
  bool next(ReplyItem& item);
  // Next item as what it must be; false (and ok() false) if it is something else.
  bool next_string(std::string_view& text);
  bool next_int(int64_t& value);
  // A set or push is an array too; a map is one of 2 * pairs.
  bool next_array(int64_t& count);
  // Passes over the next item with all that belongs to it.
  bool skip();
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  bool next_raw(ReplyItem& item);
  bool take_line(std::string_view& line);
  bool bad() { return ok_ = false; }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace slipring::resp
