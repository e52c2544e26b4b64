// Reads one RESP2 reply as a tree out of a growing buffer. Resumable: a call that needs more bytes keeps its place, so
// a large reply that arrives in pieces costs no more than its length.
//
// Limits: nesting 32 levels, bulk strings 1 GB, 16 M items an array; a server that exceeds them or answers nonsense is
// an error (kDataLoss). Thread-safety: one owner.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/store/redis/client.h"

namespace slipring::redis {

class ReplyReader {
 public:
  // `bytes` starts at the same place in every call until a reply was given. nullopt: more bytes are needed.
  Result<std::optional<Reply>> next(std::string_view bytes);
  // How many bytes the reply took.
  size_t consumed() const { return at_; }

 private:
  struct Open {
    Reply array;
    size_t missing;
  };
  // True when one element was read into `into`, false when bytes are missing.
  Result<bool> element(std::string_view bytes, Reply& into, size_t& items);
  size_t at_ = 0;
  std::vector<Open> stack_;
};

}  // namespace slipring::redis
