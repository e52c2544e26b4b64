#include "slipring/placement/modulo.h"

#include "slipring/placement/key_hash.h"

namespace slipring {
namespace {

class Modulo final : public OrdinalScheme {
 public:
  explicit Modulo(const SchemeInput& input) : OrdinalScheme(input.members), hash_(input.options) {}

  NodeIndex owner(std::string_view key) const override { return static_cast<NodeIndex>(hash_(key) % member_count()); }
  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", hash_(key)), .range = fmt::format("remainder {}", owner(key))};
  }

 private:
  KeyHash hash_;
};

Result<std::unique_ptr<const Scheme>> make_modulo(const SchemeInput& input) {
  return std::make_unique<Modulo>(input);
}

}  // namespace

const SchemeDefinition& modulo_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "modulo",
               .system = "slipring",
               .source = "common practice",
               .summary = "hash of the key modulo the number of nodes, in ordinal order",
               .options = KeyHash::options(),
               .disruption = "adding or removing one of n nodes moves about n/(n+1) of all keys",
               .cost = "O(1), no memory"},
      .make = make_modulo};
  return definition;
}

}  // namespace slipring
