#include "slipring/placement/go_jump.h"

#include <fmt/format.h>

#include "slipring/hash/xx.h"
#include "slipring/placement/jump.h"

namespace slipring {
namespace {

class GoJump final : public OrdinalScheme {
 public:
  explicit GoJump(std::span<const Member> members) : OrdinalScheme(members) {}

  NodeIndex owner(std::string_view key) const override {
    return jump_hash(xxh64(key), static_cast<uint32_t>(member_count()));
  }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", xxh64(key)), .range = fmt::format("bucket {}", owner(key))};
  }
};

Result<std::unique_ptr<const Scheme>> make_go_jump(const SchemeInput& input) {
  return std::make_unique<GoJump>(input.members);
}

}  // namespace

const SchemeDefinition& go_jump_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "go-jump",
               .system = "dgryski/go-jump ba001c3f with XXH64",
               .source = "Lamping and Veach, arXiv 1406.2294",
               .summary = "jump consistent hash of XXH64 over the ordinals",
               .disruption = "none but the new share when the last node is added or removed; no other may go",
               .cost = "O(log n), no memory"},
      .make = make_go_jump};
  return definition;
}

}  // namespace slipring
