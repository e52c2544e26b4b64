#include "slipring/placement/slots.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "slipring/base/parse.h"
#include "slipring/placement/key_hash.h"
#include "slipring/placement/overrides.h"
#include "slipring/placement/zones.h"

namespace slipring {
namespace {

// The table as a circle for preference lists.
struct SlotCircle {
  const SlotTable& table;
  NodeIndex member(size_t slot) const { return table[slot]; }
  size_t wrap(size_t slot) const { return slot == table.size() ? 0 : slot; }
};

class Slots final : public Scheme {
 public:
  Slots(const SchemeInput& input, SlotTable table)
      : Scheme(input.members.size()), hash_(input.options), table_(std::move(table)) {
    std::vector<bool> owns(input.members.size());
    for (const NodeIndex m : table_) owns[m] = true;
    zones_ = Zones(input.members, owns);
  }

  NodeIndex owner(std::string_view key) const override { return table_[slot_of(hash_(key))]; }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    return zones_.preference_list(SlotCircle{table_}, slot_of(hash_(key)), out);
  }

  std::string_view tag(std::string_view key) const override { return hash_.tag(key); }

  Explanation explain(std::string_view key) const override {
    const uint64_t hash = hash_(key);
    return {.point = fmt::format("{:016x}", hash), .range = fmt::format("slot {} of {}", slot_of(hash), table_.size())};
  }

  // In points of the hash, so that placements with different numbers of slots compare exactly.
  std::optional<OwnershipMap> ownership() const override {
    OwnershipMap map{.space = hash_.describe(), .last = UINT64_MAX, .ranges = {}};
    for (size_t slot = 0; slot < table_.size(); ++slot) map.ranges.push_back({last_point_of(slot), table_[slot]});
    return map;
  }

 private:
  using Wide = unsigned __int128;
  size_t slot_of(uint64_t hash) const { return static_cast<size_t>((Wide{hash} * table_.size()) >> 64); }
  uint64_t last_point_of(size_t slot) const {
    const Wide next = ((Wide{slot} + 1) << 64) + table_.size() - 1;
    return static_cast<uint64_t>(next / table_.size() - 1);
  }

  KeyHash hash_;
  SlotTable table_;
  Zones zones_;
};

// How many slots are due to each member: floors of the exact shares, the rest by largest remainder. Of equal
// remainders those members come first that hold more slots already (`held`), so that fewer move; then the earlier one.
std::vector<uint64_t> due_slots(uint64_t slots, std::span<const Member> members, const std::vector<uint64_t>& held) {
  const auto weight = [&](size_t i) { return static_cast<uint64_t>(members[i].weight_milli); };
  uint64_t total = 0;
  for (size_t i = 0; i < members.size(); ++i) total += weight(i);
  std::vector<uint64_t> due(members.size());
  uint64_t left = slots;
  for (size_t i = 0; i < members.size(); ++i) left -= due[i] = slots * weight(i) / total;
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const bool a_has_more = held[a] > due[a];
    const bool b_has_more = held[b] > due[b];
    return std::tuple(slots * weight(a) % total, a_has_more) > std::tuple(slots * weight(b) % total, b_has_more);
  });
  for (const size_t i : order) {
    if (left == 0 || slots * weight(i) % total == 0) break;
    ++due[i];
    --left;
  }
  return due;
}

std::unordered_map<std::string_view, NodeIndex> index_by_name(std::span<const Member> members) {
  std::unordered_map<std::string_view, NodeIndex> index;
  for (size_t i = 0; i < members.size(); ++i) index.emplace(members[i].name, static_cast<NodeIndex>(i));
  return index;
}

struct SlotRange {
  uint64_t first = 0;
  uint64_t last = 0;
  NodeIndex owner = 0;
};

Result<SlotRange> parse_range(std::string_view text, uint64_t slots,
                              const std::unordered_map<std::string_view, NodeIndex>& index) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::kInvalidArgument, fmt::format("slots \"{}\": {}", text.substr(0, 80), why));
  };
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad("write first-last=node");
  const std::string_view numbers = text.substr(0, equals);
  const size_t dash = numbers.find('-');
  const auto first = parse_u64(numbers.substr(0, dash), 0, slots - 1);
  const auto last = dash == std::string_view::npos ? first : parse_u64(numbers.substr(dash + 1), 0, slots - 1);
  if (!first || !last || *first > *last) return bad(fmt::format("must be first-last=node within 0 to {}", slots - 1));
  const auto node = index.find(text.substr(equals + 1));
  if (node == index.end()) return bad("no node of that name");
  return SlotRange{*first, *last, node->second};
}

// The slots as they are owned: the table, or slots dealt out, each cut into `split`.
Result<SlotTable> make_table(const Parameters& options, std::span<const Member> members) {
  const uint64_t slots = options.unsigned_integer("slots");
  const uint64_t split = options.unsigned_integer("split");
  if (slots * split > kSlotsMax) {
    return fail(Code::kInvalidArgument, fmt::format("{} slots split {} ways: at most {}", slots, split, kSlotsMax));
  }
  SlotTable table;
  if (options.given("table")) {
    SLIPRING_ASSIGN(table, parse_slots(options.text("table"), slots, members));
  } else {
    table = deal_slots(slots, members);
  }
  SlotTable fine;
  fine.reserve(slots * split);
  for (const NodeIndex owner : table) fine.insert(fine.end(), split, owner);
  return fine;
}

Result<std::unique_ptr<const Scheme>> make_slots(const SchemeInput& input) {
  SLIPRING_ASSIGN(SlotTable table, make_table(input.options, input.members));
  return std::make_unique<Slots>(input, std::move(table));
}

}  // namespace

SlotTable deal_slots(uint64_t slots, std::span<const Member> members) {
  const std::vector<uint64_t> due = due_slots(slots, members, std::vector<uint64_t>(members.size()));
  SlotTable table;
  table.reserve(slots);
  for (size_t i = 0; i < members.size(); ++i) table.insert(table.end(), due[i], static_cast<NodeIndex>(i));
  return table;
}

SlotTable reassign_slots(const SlotTable& table, std::span<const Member> old_members,
                         std::span<const Member> new_members) {
  const auto index = index_by_name(new_members);
  SlotTable next(table.size(), kNoNode);
  std::vector<uint64_t> held(new_members.size());
  for (size_t slot = 0; slot < table.size(); ++slot) {
    const auto it = index.find(old_members[table[slot]].name);
    if (it == index.end()) continue;
    next[slot] = it->second;
    ++held[it->second];
  }
  const std::vector<uint64_t> due = due_slots(table.size(), new_members, held);
  // Who holds too much gives its last slots; whoever lacks some takes the free ones in order.
  for (size_t slot = table.size(); slot-- > 0;) {
    const NodeIndex owner = next[slot];
    if (owner == kNoNode || held[owner] <= due[owner]) continue;
    --held[owner];
    next[slot] = kNoNode;
  }
  NodeIndex taker = 0;
  for (NodeIndex& owner : next) {
    if (owner != kNoNode) continue;
    while (held[taker] >= due[taker]) ++taker;
    owner = taker;
    ++held[taker];
  }
  return next;
}

std::string format_slots(const SlotTable& table, std::span<const Member> members) {
  std::string text;
  for (size_t first = 0; first < table.size();) {
    size_t last = first;
    while (last + 1 < table.size() && table[last + 1] == table[first]) ++last;
    text += fmt::format("{}{}-{}={}", text.empty() ? "" : ";", first, last, members[table[first]].name);
    first = last + 1;
  }
  return text;
}

Result<SlotTable> parse_slots(std::string_view text, uint64_t slots, std::span<const Member> members) {
  const auto index = index_by_name(members);
  SlotTable table(slots, kNoNode);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    SLIPRING_ASSIGN(const SlotRange range, parse_range(part, slots, index));
    if (members[range.owner].weight_milli == 0) {
      return fail(Code::kInvalidArgument,
                  fmt::format("node {}: has weight 0 but owns slots", members[range.owner].name));
    }
    for (uint64_t slot = range.first; slot <= range.last; ++slot) {
      if (table[slot] != kNoNode) return fail(Code::kInvalidArgument, fmt::format("slot {}: given twice", slot));
      table[slot] = range.owner;
    }
  }
  const auto gap = std::find(table.begin(), table.end(), kNoNode);
  if (gap != table.end()) {
    return fail(Code::kInvalidArgument, fmt::format("slot {}: nobody owns it", gap - table.begin()));
  }
  return table;
}

Result<SchemeSpec> spec_after_change(const SchemeSpec& spec, std::span<const Member> old_members,
                                     std::span<const Member> new_members) {
  if (spec.name != "slots") return spec;
  SLIPRING_TRY(make_scheme(spec, old_members));
  Parameters::Values own = spec.options;
  std::erase_if(own, [](const auto& option) { return option.first.starts_with(kOverridePrefix); });
  SLIPRING_ASSIGN(const Parameters options,
                  Parameters::check(slots_scheme().info.options, own, "scheme slots: option"));
  SLIPRING_ASSIGN(const SlotTable table, make_table(options, old_members));
  SchemeSpec next = spec;
  next.options["slots"] = std::to_string(table.size());
  next.options["table"] = format_slots(reassign_slots(table, old_members, new_members), new_members);
  next.options.erase("split");
  return next;
}

const SchemeDefinition& slots_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "slots",
               .system = "slipring",
               .source = "DeCandia et al., Dynamo, SOSP 2007, section 6.2, strategy 3",
               .summary = "a fixed number of equal parts, each given to one node by a table",
               .options = KeyHash::options(
                   {{"slots", ParameterType::kUnsigned, "1024", "1..1048576", "equal parts of the hash space"},
                    {"table", ParameterType::kText, "", "", "first-last=node;...; default: dealt out by weight"},
                    {"split", ParameterType::kUnsigned, "1", "1..1048576",
                     "cut every slot into so many, owners kept"}}),
               .weights = Weights::kUsed,
               .zones = true,
               .preference_lists = true,
               .disruption = "the slots that change hands; with a planned table the fewest possible",
               .cost = "O(1); 4 bytes a slot"},
      .make = make_slots};
  return definition;
}

}  // namespace slipring
