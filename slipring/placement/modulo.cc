#include "slipring/placement/modulo.h"

#include <fmt/format.h>

#include "slipring/hash/xx.h"

namespace slipring {
namespace {

class Modulo final : public OrdinalScheme {
 public:
  Modulo(const SchemeInput& input, uint64_t seed) : OrdinalScheme(input.members), seed_(seed) {}

  NodeIndex owner(std::string_view key) const override {
    return static_cast<NodeIndex>(xxh3_64(key, seed_) % member_count());
  }

  Explanation explain(std::string_view key) const override {
    const uint64_t hash = xxh3_64(key, seed_);
    return {.point = fmt::format("{:016x}", hash), .range = fmt::format("slot {}", hash % member_count())};
  }

 private:
  uint64_t seed_;
};

Result<std::unique_ptr<const Scheme>> make(const SchemeInput& input) {
  return std::make_unique<Modulo>(input, input.options.unsigned_integer("seed"));
}

}  // namespace

const SchemeDefinition& modulo_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "modulo",
               .system = "slipring",
               .source = "common practice",
               .summary = "hash of the key modulo the number of nodes, in ordinal order",
               .options = {{"seed", ParameterType::kUnsigned, "0", "", "seed of XXH3-64"}},
               .disruption = "adding or removing one of n nodes moves about n/(n+1) of all keys",
               .cost = "O(1), no memory"},
      .make = make};
  return definition;
}

}  // namespace slipring
