// How native schemes other than the ring hash a key: XXH3-64 (or XXH64) of its hash tag, with the pool's seed.
// Thread-safety: immutable.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "slipring/hash/xx.h"
#include "slipring/placement/hash_tag.h"
#include "slipring/placement/parameters.h"

namespace slipring {

class KeyHash {
 public:
  explicit KeyHash(const Parameters& options)
      : seed_(options.unsigned_integer("seed")),
        redis_tag_(options.text("tag") == "redis"),
        xxh3_(options.text("hash") == "xxh3") {}

  uint64_t operator()(std::string_view key) const { return xxh3_ ? xxh3_64(tag(key), seed_) : xxh64(tag(key), seed_); }
  std::string_view tag(std::string_view key) const { return redis_tag_ ? redis_hash_tag(key) : key; }
  // Of anything else that the scheme hashes with the pool's seed, such as labels.
  uint64_t of_label(std::string_view label) const { return xxh3_64(label, seed_); }

  // Equal for two schemes that hash every key alike.
  std::string describe() const {
    return fmt::format("{} seed {} tag {}", xxh3_ ? "xxh3-64" : "xxh64", seed_, redis_tag_ ? "redis" : "none");
  }

  // The options that the constructor reads, with those of the scheme behind them.
  static std::vector<ParameterInfo> options(std::vector<ParameterInfo> more = {}) {
    std::vector<ParameterInfo> all = {
        {"seed", ParameterType::kUnsigned, "0", "", "seed of the hash"},
        {"hash", ParameterType::kChoice, "xxh3", "xxh3|xxh64", "hash of the key"},
        {"tag", ParameterType::kChoice, "redis", "redis|none", "hash tag rule"},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  uint64_t seed_;
  bool redis_tag_;
  bool xxh3_;
};

}  // namespace slipring
