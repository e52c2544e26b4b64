// One client command that was split over several servers (MGET, MSET, DEL, UNLINK, EXISTS, TOUCH): collects the answers
// of its parts and makes the one reply. If a part fails, the client gets that part's error (of the first part in the
// order of the keys that failed); the other parts have been carried out, as each server is its own.
//
// Invariant: every part answers exactly once. No I/O. Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/protocol/resp/reply.h"

namespace slipring::router {

enum class MergeKind : uint8_t {
  kValues,  // arrays of values, put back in the order of the keys
  kSum,     // integers, added
  kOk,      // statuses, all OK
};

class Merge {
 public:
  // part_of_key[i]: the part that holds the i-th key; parts hold their keys in the order of the command.
  void start(MergeKind kind, uint32_t parts, std::vector<uint16_t>& part_of_key);
  const std::vector<uint16_t>& part_of_key() const { return part_of_key_; }
  // True when it was the last part.
  bool add(uint16_t part, std::string_view reply);
  // The whole reply. REQUIRES: add() answered true. Valid until start().
  std::string_view result();

 private:
  void note_error(uint16_t part, std::string_view reply);
  void merge_values();

  MergeKind kind_ = MergeKind::kOk;
  uint32_t left_ = 0;
  uint32_t error_part_ = UINT32_MAX;
  int64_t sum_ = 0;
  std::vector<uint16_t> part_of_key_;
  std::vector<std::string> replies_;
  std::string result_;
  resp::ReplyScanner scanner_;
};

}  // namespace slipring::router
