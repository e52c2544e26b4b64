// The part of a key that decides where it lies. Redis Cluster's rule: the bytes between the first '{' and the first '}'
// after it, if there is at least one; otherwise the whole key. So "{}x" and "a}b{" count whole, "{{a}}" counts as "{a".
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace slipring {

inline std::string_view redis_hash_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) [[likely]]
    return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace slipring
