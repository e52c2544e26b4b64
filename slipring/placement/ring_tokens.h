// What all forms of `ring` share in building their tokens.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

// The bytes of a label's tokens: label || 0x00 || u32le(j).
class TokenBytes {
 public:
  explicit TokenBytes(std::string_view label) : bytes_(label) { bytes_.append(5, '\0'); }
  std::string_view of(uint32_t j) {
    char* end = bytes_.data() + bytes_.size();
    for (int i = 0; i < 4; ++i) end[i - 4] = static_cast<char>(j >> (8 * i));
    return bytes_;
  }

 private:
  std::string bytes_;
};

// Members in the order in which they win equal tokens: by label, then by name, bytewise.
std::vector<NodeIndex> members_by_label(const SchemeInput& input);

// Tokens in all. kInvalidArgument beyond kTokensMax.
Result<uint64_t> count_tokens(const SchemeInput& input, uint64_t vnodes);

}  // namespace slipring
