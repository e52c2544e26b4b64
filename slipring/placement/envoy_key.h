// The hash of a key in Envoy's consistent load balancers: XXH64 of what a route's hash policy takes, or, behind
// redis_proxy, MurmurHash64A of the key or of its hash tag.
// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "slipring/hash/murmur.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/hash_tag.h"
#include "slipring/placement/registry.h"

namespace slipring {

inline uint64_t envoy_murmur_hash_2(std::string_view s) {
  return murmur2_64a(s, 0xc70f6907);
}

inline constexpr ParameterInfo kEnvoyKeyHash = {"key_hash", ParameterType::kChoice, "xxh64", "xxh64|murmur2",
                                                "hash of the key: xxh64 by hash policies, murmur2 by redis_proxy"};
inline constexpr ParameterInfo kEnvoyTag = {"tag", ParameterType::kChoice, "none", "redis|none",
                                            "hash tag rule: redis is redis_proxy's enable_hashtagging"};

struct EnvoyKey {
  bool murmur = false;
  bool tagged = false;

  static EnvoyKey from(const Parameters& options) {
    return {options.text("key_hash") == "murmur2", options.text("tag") == "redis"};
  }
  std::string_view tag(std::string_view key) const { return tagged ? redis_hash_tag(key) : key; }
  uint64_t hash(std::string_view key) const { return murmur ? envoy_murmur_hash_2(tag(key)) : xxh64(tag(key), 0); }
};

}  // namespace slipring
