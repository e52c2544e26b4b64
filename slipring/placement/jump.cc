#include "slipring/placement/jump.h"

#include "slipring/placement/key_hash.h"

namespace slipring {
namespace {

class Jump final : public OrdinalScheme {
 public:
  explicit Jump(const SchemeInput& input) : OrdinalScheme(input.members), hash_(input.options) {}

  NodeIndex owner(std::string_view key) const override {
    return jump_hash(hash_(key), static_cast<uint32_t>(member_count()));
  }
  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", hash_(key)), .range = fmt::format("bucket {}", owner(key))};
  }

 private:
  KeyHash hash_;
};

Result<std::unique_ptr<const Scheme>> make_jump(const SchemeInput& input) {
  return std::make_unique<Jump>(input);
}

}  // namespace

uint32_t jump_hash(uint64_t key, uint32_t buckets) {
  int64_t bucket = -1;
  int64_t next = 0;
  while (next < int64_t{buckets}) {
    bucket = next;
    key = key * 2862933555777941757u + 1;
    const double spread = static_cast<double>(int64_t{1} << 31) / static_cast<double>((key >> 33) + 1);
    next = static_cast<int64_t>(static_cast<double>(bucket + 1) * spread);
  }
  return static_cast<uint32_t>(bucket);
}

const SchemeDefinition& jump_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "jump",
               .system = "slipring",
               .source = "Lamping and Veach, A Fast, Minimal Memory, Consistent Hash Algorithm, arXiv 1406.2294",
               .summary = "jump hash over the nodes in ordinal order; only the last node may be removed",
               .options = KeyHash::options(),
               .disruption = "1/n when a node is added or removed at the end; nearly all keys when another is removed",
               .cost = "O(log n), no memory"},
      .make = make_jump};
  return definition;
}

}  // namespace slipring
