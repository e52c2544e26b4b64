// The queue of MULTI: commands wait here until EXEC, which sends them to one server as one contiguous MULTI .. EXEC on
// the connection that all clients share. Whether their keys share a server is decided at EXEC, under the snapshot of
// that moment.
//
// Invariant: bytes() counts all that is held. No I/O. Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/protocol/resp/request.h"

namespace slipring::router {

class Transaction {
 public:
  void queue(const resp::Args& command, std::vector<std::string_view>& keys);
  // A command was refused: EXEC will answer EXECABORT, as Redis does.
  void mark_refused() { refused_ = true; }

  bool refused() const { return refused_; }
  uint32_t commands() const { return commands_; }
  // The commands as they go to the server, one after the other.
  std::string_view wire() const { return wire_; }
  size_t bytes() const { return wire_.size() + keys_.size() * sizeof(resp::Slice); }
  size_t key_count() const { return keys_.size(); }
  std::string_view key(size_t i) const { return {wire_.data() + keys_[i].offset, keys_[i].size}; }

 private:
  bool refused_ = false;
  uint32_t commands_ = 0;
  std::string wire_;
  std::vector<resp::Slice> keys_;
};

}  // namespace slipring::router
