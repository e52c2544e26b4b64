// Incremental parser of client requests: RESP arrays of bulk strings, and inline commands with Redis's quoting rules.
// It looks at one command at the start of a contiguous buffer and keeps its place, so a command that arrives in N
// pieces costs O(its bytes), not O(N * its bytes); arguments are slices of the buffer, nothing is copied (an inline
// command is rewritten once as the array it stands for). Every number a client sends is bounded before it is used, and
// nothing is reserved on a client's word.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipring::resp {

// Bounds on what a client may send; the defaults are Redis's own where it has one.
struct RequestLimits {
  uint32_t args_max = 1024 * 1024;
  uint32_t bulk_bytes_max = 512u << 20;
  // An inline line, and the length line of an array or bulk.
  uint32_t line_bytes_max = 64u << 10;
  // One whole command; offsets are 32 bits wide, so at most 4 GB - 1.
  uint32_t request_bytes_max = 1u << 30;
};
// What a client may send before it has given a password.
inline constexpr uint32_t kUnauthenticatedArgsMax = 10;
inline constexpr uint32_t kUnauthenticatedBulkBytesMax = 16384;

enum class ParseStatus : uint8_t { kNeedMore, kDone, kError };

// Part of a byte string: [offset, offset + size).
struct Slice {
  uint32_t offset = 0;
  uint32_t size = 0;
};

// The arguments of a command, its name first: slices over the bytes they stand in. A view; lives as long as both.
class Args {
 public:
  Args() = default;
  Args(std::string_view bytes, std::span<const Slice> slices) : bytes_(bytes), slices_(slices) {}
  size_t size() const { return slices_.size(); }
  bool empty() const { return slices_.empty(); }
  // REQUIRES: i < size().
  std::string_view operator[](size_t i) const { return {bytes_.data() + slices_[i].offset, slices_[i].size}; }
  std::span<const Slice> slices() const { return slices_; }
  // The whole command as an array of bulk strings, as a server takes it.
  std::string_view wire() const { return bytes_; }

 private:
  std::string_view bytes_;
  std::span<const Slice> slices_;
};

class RequestParser {
 public:
  explicit RequestParser(RequestLimits limits = {}) : limits_(limits) {}

  // Parses the command that starts at buffer[0]. After kNeedMore call again with the same bytes at the start (they may
  // have moved in memory) and more behind them. After kDone a further call starts the next command, so the caller drops
  // length() bytes first. kError is final: the framing is lost, error() is what to answer before closing.
  ParseStatus parse(std::string_view buffer);

  // The rest is valid after kDone, until the next call of parse().
  // Bytes of the buffer that the command takes; more than 0.
  size_t length() const { return pos_; }
  // No arguments: an empty line or array, which Redis passes over without an answer. `buffer` as given to parse().
  Args args(std::string_view buffer) const {
    return {inline_wire_.empty() ? buffer.substr(0, pos_) : std::string_view(inline_wire_), slices_};
  }
  // Text of a Redis error without "-" and CRLF: "ERR Protocol error: ...".
  const std::string& error() const { return error_; }
  // A lower bound on the bytes the buffer must hold before parse() can get on; 0 if unknown. Lets a reader make room
  // for a large value at once; it is a client's claim, so bound what is reserved for it.
  size_t wants() const { return bulk_left_ < 0 ? 0 : pos_ + static_cast<size_t>(bulk_left_) + 2; }

  // Narrower bounds apply, with Redis's errors for them, while a password is still due.
  void set_authenticated(bool authenticated) { authenticated_ = authenticated; }
  const RequestLimits& limits() const { return limits_; }

 private:
  enum class Line : uint8_t { kMore, kWhole, kTooLong };

  void start();
  ParseStatus parse_array(std::string_view buffer);
  ParseStatus parse_inline(std::string_view buffer);
  ParseStatus read_array_header(std::string_view buffer);
  ParseStatus read_bulk_header(std::string_view buffer);
  ParseStatus read_bulk(std::string_view buffer);
  Line find_line(std::string_view buffer, char end, size_t& at);
  ParseStatus fail(std::string_view why);

  RequestLimits limits_;
  bool authenticated_ = true;
  ParseStatus status_ = ParseStatus::kDone;
  size_t pos_ = 0;          // everything before it is parsed
  size_t scanned_ = 0;      // no end of the current line before it
  int64_t args_left_ = -1;  // -1: the array's header is not read yet
  int64_t bulk_left_ = -1;  // -1: the bulk's header is not read yet
  std::vector<Slice> slices_;
  std::string inline_wire_;
  std::string error_;
};

// Splits a line by Redis's quoting rules: blanks separate; "..." with \n \r \t \b \a \xHH and \c = c; '...' with \'
// only; a closing quote must be followed by a blank or the end. False if quotes are not balanced. Cost: O(line).
bool split_inline(std::string_view line, std::vector<std::string>& out);

}  // namespace slipring::resp
