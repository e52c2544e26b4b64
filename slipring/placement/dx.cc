#include "slipring/placement/dx.h"

#include <bit>

#include "slipring/hash/murmur.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/key_hash.h"

namespace slipring {
namespace {

class Dx final : public Scheme {
 public:
  Dx(const SchemeInput& input, uint64_t places)
      : Scheme(input.members.size()), hash_(input.options), working_(places), mask_(places - 1) {
    for (size_t i = 0; i < input.members.size(); ++i) {
      working_[i] = input.members[i].weight_milli > 0;
      working_count_ += working_[i];
    }
  }

  NodeIndex owner(std::string_view key) const override {
    NodeIndex first = kNoNode;
    preference_list(key, std::span(&first, 1));
    return first;
  }

  // Along the sequence, and after eight rounds' worth of it simply in ordinal order, so that the walk ends.
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const size_t want = std::min(out.size(), working_count_);
    const uint64_t hash = hash_(key);
    IndexSet chosen;
    const auto visit = [&](uint64_t place) {
      if (!working_[place]) return;
      const auto m = static_cast<NodeIndex>(place);
      const size_t at = chosen.size();
      if (chosen.insert(m)) out[at] = m;
    };
    for (uint64_t step = 0; step < 8 * working_.size() && chosen.size() < want; ++step) {
      visit(murmur3_mix64(hash + step * 0x9e3779b97f4a7c15) & mask_);
    }
    for (uint64_t place = 0; chosen.size() < want; ++place) visit((hash + place) & mask_);
    return want;
  }

  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", hash_(key)), .range = fmt::format("place {}", owner(key))};
  }

 private:
  KeyHash hash_;
  std::vector<bool> working_;  // by place
  uint64_t mask_;
  size_t working_count_ = 0;
};

Result<std::unique_ptr<const Scheme>> make_dx(const SchemeInput& input) {
  const uint64_t members = input.members.size();
  uint64_t places = input.options.unsigned_integer("places");
  if (places == 0) places = std::bit_ceil(members);
  if (!std::has_single_bit(places) || places < members) {
    return fail(Code::kInvalidArgument,
                fmt::format("option places: {}: must be a power of two of at least {} nodes", places, members));
  }
  for (const Member& m : input.members) {
    if (m.weight_milli != 0 && m.weight_milli != 1000) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: weight must be 0 (not working) or 1", m.name));
    }
  }
  return std::make_unique<Dx>(input, places);
}

}  // namespace

const SchemeDefinition& dx_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "dx",
               .system = "slipring",
               .source = "Dong and Wang, DxHash: A Scalable Consistent Hash Based on the Pseudo-Random Sequence, arXiv "
                         "2107.07930",
               .summary = "even shares without points; only who works matters, not the order of changes",
               .options =
                   KeyHash::options({{"places", ParameterType::kUnsigned, "0", "0..1048576",
                                      "a power of two, for the largest fleet; 0: the least that holds the nodes"}}),
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "only the share of the node while the number of places stays",
               .cost = "O(places / working nodes); 1 bit a place"},
      .make = make_dx};
  return definition;
}

}  // namespace slipring
