#include "slipring/placement/codis.h"

#include "slipring/hash/crc.h"
#include "slipring/placement/slot_owners.h"

namespace slipring {
namespace {

class Codis final : public SlotScheme {
 public:
  using SlotScheme::SlotScheme;

  uint32_t slot_of(std::string_view key) const override { return codis_slot(key); }
  std::string_view tag(std::string_view key) const override { return codis_tag(key); }
};

Result<std::unique_ptr<const Scheme>> make_codis(const SchemeInput& input) {
  SLIPRING_ASSIGN(std::vector<NodeIndex> owners, slot_owners(input, kCodisSlots));
  return std::make_unique<Codis>(input.members, "codis slots", std::move(owners));
}

}  // namespace

std::string_view codis_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  return close == std::string_view::npos ? key : key.substr(open + 1, close - open - 1);
}

uint32_t codis_slot(std::string_view key) {
  return crc32(codis_tag(key)) % kCodisSlots;
}

const SchemeDefinition& codis_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "codis",
               .system = "Codis (CodisLabs/codis de1ad026)",
               .source = "pkg/proxy/mapper.go of Codis",
               .summary = "CRC32 of the tag or key, 1024 slots, an explicit table of slots",
               .attributes = {kSlotsAttribute},
               .disruption = "only the slots that are given to or taken from a node",
               .cost = "O(1), 4 KiB"},
      .make = make_codis};
  return definition;
}

}  // namespace slipring
