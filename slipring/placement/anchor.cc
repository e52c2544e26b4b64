#include "slipring/placement/anchor.h"

#include <algorithm>
#include <numeric>

#include "slipring/hash/murmur.h"
#include "slipring/placement/key_hash.h"

namespace slipring {
namespace {

// The paper's arrays. A bucket's `size_after` is the number of working buckets just after it was removed, 0 while it
// works; `successor` is who took its place then.
class Buckets {
 public:
  explicit Buckets(uint32_t capacity)
      : size_after_(capacity), working_(capacity), place_(capacity), successor_(capacity) {
    for (auto* array : {&working_, &place_, &successor_}) std::iota(array->begin(), array->end(), 0);
    count_ = capacity;
  }

  void remove(uint32_t bucket) {
    --count_;
    size_after_[bucket] = count_;
    const uint32_t last = working_[count_];
    working_[place_[bucket]] = last;
    successor_[bucket] = last;
    place_[last] = place_[bucket];
  }

  uint32_t find(uint64_t hash) const {
    uint32_t bucket = scale(hash, static_cast<uint32_t>(size_after_.size()));
    while (size_after_[bucket] > 0) {
      const uint32_t size = size_after_[bucket];
      hash = murmur3_mix64(hash + bucket + 1);
      uint32_t next = scale(hash, size);
      while (size_after_[next] >= size) next = successor_[next];
      bucket = next;
    }
    return bucket;
  }

 private:
  static uint32_t scale(uint64_t hash, uint32_t below) {
    return static_cast<uint32_t>((static_cast<unsigned __int128>(hash) * below) >> 64);
  }

  std::vector<uint32_t> size_after_;
  std::vector<uint32_t> working_;  // the working buckets, in [0, count_)
  std::vector<uint32_t> place_;    // where a bucket stands in working_
  std::vector<uint32_t> successor_;
  uint32_t count_;
};

class Anchor final : public OrdinalScheme {
 public:
  Anchor(const SchemeInput& input, Buckets buckets)
      : OrdinalScheme(input.members), hash_(input.options), buckets_(std::move(buckets)) {}

  NodeIndex owner(std::string_view key) const override { return buckets_.find(hash_(key)); }
  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:016x}", hash_(key)), .range = fmt::format("bucket {}", owner(key))};
  }

 private:
  KeyHash hash_;
  Buckets buckets_;
};

// Members of weight 0 in the order in which they were removed: those that `names` lists, then the others.
Result<std::vector<uint32_t>> removal_order(const SchemeInput& input, std::string_view names) {
  std::vector<uint32_t> order;
  std::vector<bool> listed(input.members.size());
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto is_named = [&](const Member& m) { return m.name == name; };
    const auto it = std::find_if(input.members.begin(), input.members.end(), is_named);
    const auto m = static_cast<uint32_t>(it - input.members.begin());
    if (it == input.members.end() || it->weight_milli != 0 || listed[m]) {
      return fail(Code::kInvalidArgument,
                  fmt::format("option removed: \"{}\": must be nodes of weight 0, each once", name));
    }
    listed[m] = true;
    order.push_back(m);
  }
  for (uint32_t m = 0; m < input.members.size(); ++m) {
    if (input.members[m].weight_milli == 0 && !listed[m]) order.push_back(m);
  }
  return order;
}

Result<std::unique_ptr<const Scheme>> make_anchor(const SchemeInput& input) {
  const auto members = static_cast<uint32_t>(input.members.size());
  uint64_t capacity = input.options.unsigned_integer("capacity");
  if (capacity == 0) capacity = members;
  if (capacity < members) {
    return fail(Code::kInvalidArgument, fmt::format("option capacity: {}: fewer than {} nodes", capacity, members));
  }
  for (const Member& m : input.members) {
    if (m.weight_milli != 0 && m.weight_milli != 1000) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: weight must be 0 (removed) or 1", m.name));
    }
  }
  SLIPRING_ASSIGN(const std::vector<uint32_t> removed, removal_order(input, input.options.text("removed")));
  Buckets buckets(static_cast<uint32_t>(capacity));
  for (auto b = static_cast<uint32_t>(capacity); b-- > members;) buckets.remove(b);
  for (const uint32_t b : removed) buckets.remove(b);
  return std::make_unique<Anchor>(input, std::move(buckets));
}

}  // namespace

const SchemeDefinition& anchor_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "anchor",
               .system = "slipring",
               .source = "Mendelson et al., AnchorHash: A Scalable Consistent Hash, arXiv 1812.09674",
               .summary = "even shares without points; nodes are appended, removed ones keep their place with weight 0",
               .options = KeyHash::options({{"capacity", ParameterType::kUnsigned, "0", "0..1000000",
                                             "nodes there may ever be; 0: as many as now"},
                                            {"removed", ParameterType::kText, "", "",
                                             "nodes of weight 0 in the order they went, commas between"}}),
               .weights = Weights::kUsed,
               .disruption = "only the share of the node, if nodes return in the reverse of the order they went",
               .cost = "O((1 + ln(capacity / alive))^2); 16 bytes a bucket"},
      .make = make_anchor};
  return definition;
}

}  // namespace slipring
