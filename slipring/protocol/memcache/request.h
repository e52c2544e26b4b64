// Incremental parser of memcached requests, text and meta protocol: one line of words, for storage commands a block of
// data behind it. It looks at one command at the start of a contiguous buffer and keeps its place, so a command that
// arrives in N pieces costs O(its bytes); words and data are slices of the buffer, nothing is copied.
//
// What memcached answers with an error line on a connection that goes on (unknown command, bad numbers, a key too long)
// is a whole command here too, with problem() set; only a line without end loses the framing.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace slipring::memcache {

// The protocol's own bound on keys (base64 keys of the meta protocol are bounded decoded and encoded alike).
inline constexpr size_t kKeyBytesMax = 250;

struct RequestLimits {
  // One command line; a get with many keys may be this long.
  uint32_t line_bytes_max = 64u << 10;
  // memcached's default -I; a larger block is refused.
  uint32_t value_bytes_max = 1u << 20;
};

enum class Verb : uint8_t {
  kUnknown,
  // Text.
  kGet,
  kGets,
  kGat,
  kGats,
  kSet,
  kAdd,
  kReplace,
  kAppend,
  kPrepend,
  kCas,
  kDelete,
  kIncr,
  kDecr,
  kTouch,
  kFlushAll,
  kVersion,
  kVerbosity,
  kStats,
  kQuit,
  // Meta.
  kMetaGet,
  kMetaSet,
  kMetaDelete,
  kMetaArithmetic,
  kMetaNoop,
  kMetaDebug,
};
// "get", "mg", ...; "" for kUnknown.
std::string_view verb_name(Verb verb);

enum class ParseStatus : uint8_t { kNeedMore, kDone, kError };

enum class Problem : uint8_t { kNone, kUnknownCommand, kBadFormat, kBadDelete, kBadKey, kBadDataChunk, kTooLarge };
// The line memcached answers, with CRLF; "" for kNone.
std::string_view problem_reply(Problem problem);

struct Slice {
  uint32_t offset = 0;
  uint32_t size = 0;
};

class RequestParser {
 public:
  explicit RequestParser(RequestLimits limits = {}) : limits_(limits) {}

  // As resp::RequestParser::parse(): after kNeedMore call again with the same bytes and more behind them; after kDone a
  // further call starts the next command; kError is final (a line longer than the limit).
  ParseStatus parse(std::string_view buffer);

  // Valid after kDone. Bytes that the command takes, data and its CRLF included.
  size_t length() const { return length_; }
  // Bytes behind length() that belong to a block that is too large: to be dropped as they come, never kept.
  uint64_t swallow_bytes() const { return swallow_bytes_; }
  Verb verb() const { return verb_; }
  Problem problem() const { return problem_; }
  // All words of the line, the command first.
  std::span<const Slice> words() const { return words_; }
  // The keys among them; empty with a problem.
  std::span<const Slice> keys() const { return std::span(words_).subspan(first_key_, key_count_); }
  bool has_data() const { return data_bytes_ >= 0; }
  // The block, without its CRLF. REQUIRES: has_data().
  Slice data() const { return {static_cast<uint32_t>(line_bytes_), static_cast<uint32_t>(data_bytes_)}; }
  // Text protocol: the client wants no answer. (Meta: flag q, see has_flag().)
  bool noreply() const { return noreply_; }
  // A flag of a meta command, by its letter; its argument follows the letter in the word.
  bool has_flag(std::string_view buffer, char letter) const;
  bool is_meta() const { return verb_ >= Verb::kMetaGet; }

 private:
  void start();
  ParseStatus parse_line(std::string_view buffer);
  ParseStatus parse_data(std::string_view buffer);
  void split(std::string_view line);
  void understand(std::string_view buffer);
  void understand_keys(size_t first, size_t count);
  void understand_storage(std::string_view buffer);
  void understand_meta(std::string_view buffer);
  void take_noreply(std::string_view buffer, size_t at);
  void expect_data(int64_t bytes);

  std::string_view word(std::string_view buffer, size_t i) const {
    return buffer.substr(words_[i].offset, words_[i].size);
  }

  RequestLimits limits_;
  ParseStatus status_ = ParseStatus::kDone;
  Verb verb_ = Verb::kUnknown;
  Problem problem_ = Problem::kNone;
  bool noreply_ = false;
  size_t scanned_ = 0;       // no line end before it
  size_t line_bytes_ = 0;    // 0: the line is not whole yet
  int64_t data_bytes_ = -1;  // -1: no data block
  uint64_t swallow_bytes_ = 0;
  size_t length_ = 0;
  size_t first_key_ = 0;
  size_t key_count_ = 0;
  std::vector<Slice> words_;
};

}  // namespace slipring::memcache
