// The part of a request's key that mcrouter hashes: what stands before "|#|", the whole key where that is not in it.
// Thread-safety: pure.
#pragma once

#include <string_view>

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr ParameterInfo kMcrouterHashStop = {"hash_stop", ParameterType::kFlag, "false", "",
                                                    "hash only what stands before |#|, as mcrouter does with requests"};

class McrouterKey {
 public:
  explicit McrouterKey(const SchemeInput& input) : hash_stop_(input.options.flag("hash_stop")) {}
  std::string_view tag(std::string_view key) const { return hash_stop_ ? key.substr(0, key.find("|#|")) : key; }

 private:
  bool hash_stop_;
};

}  // namespace slipring
