// Replies of memcached. A reply does not say by itself where it ends, so the scanner is told what was asked (shape_of):
// one line; items until END; statistics until END; or a meta line with a block behind VA. It finds the end of a whole
// reply in a stream of pieces, keeping one line at most. ItemReader then walks over the items of a whole get reply, so
// that the replies of several nodes can be merged in the client's order.
// A server may lie: lines and blocks are bounded, nothing is reserved on its word.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipring/protocol/memcache/request.h"

namespace slipring::memcache {

enum class ReplyShape : uint8_t { kLine, kItems, kStats, kMeta };
ReplyShape shape_of(Verb verb);

struct ReplyLimits {
  uint64_t line_bytes_max = 8192;
  uint64_t block_bytes_max = uint64_t{1} << 30;
};

class ReplyScanner {
 public:
  explicit ReplyScanner(ReplyLimits limits = {}) : limits_(limits) {}

  // Before each reply. REQUIRES: no reply is half read.
  void expect(ReplyShape shape);
  // Takes the next bytes of the stream. kDone: the reply ended inside `chunk`, used() says how many bytes were its own.
  // kNeedMore: all was used. kError is final.
  ParseStatus scan(std::string_view chunk);
  size_t used() const { return used_; }
  uint64_t length() const { return length_; }
  // The last line of the reply, without CRLF: "END", "STORED", "HD ...", an error.
  std::string_view last_line() const { return line_; }
  // ERROR, CLIENT_ERROR ... or SERVER_ERROR ...
  bool is_error() const;
  // "reply: line too long" and the like, without bytes of the server.
  const char* error() const { return error_; }

 private:
  bool take_line(std::string_view chunk, size_t& at);
  bool take_block(std::string_view chunk, size_t& at);
  bool finish_line();
  bool open_block(std::string_view bytes);
  bool bad(const char* why);

  ReplyLimits limits_;
  ReplyShape shape_ = ReplyShape::kLine;
  ParseStatus status_ = ParseStatus::kDone;
  std::string line_;
  bool in_block_ = false;
  uint64_t block_left_ = 0;  // its CRLF included
  uint64_t length_ = 0;
  size_t used_ = 0;
  const char* error_ = "";
};

// One item of a get reply.
struct Item {
  std::string_view key;
  std::string_view flags;
  std::string_view cas;  // empty for get
  std::string_view data;
  // The item as it stands in the reply, from VALUE to the CRLF behind its data.
  std::string_view whole;
};

class ItemReader {
 public:
  // `reply`: one whole reply of shape kItems.
  explicit ItemReader(std::string_view reply) : rest_(reply) {}
  // False at the line that ends the reply, or at what is no item (ok() tells).
  bool next(Item& item);
  // The reply ended with END.
  bool ok() const { return ended_; }

 private:
  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace slipring::memcache
