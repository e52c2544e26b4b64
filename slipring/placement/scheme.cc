#include "slipring/placement/scheme.h"

#include <fmt/format.h>

#include <unordered_set>

#include "slipring/base/parse.h"
#include "slipring/placement/overrides.h"
#include "slipring/placement/registry.h"

namespace slipring {
namespace {

std::string scheme_names() {
  std::string names;
  for (const SchemeDefinition* definition : all_schemes()) {
    if (!names.empty()) names += ", ";
    names += definition->info.name;
  }
  return names;
}

Status check_weight(const SchemeInfo& info, const Member& member) {
  if (member.weight_milli < 0 || member.weight_milli > kWeightMilliMax) {
    return fail(Code::kInvalidArgument, fmt::format("node {}: weight {}: must be 0 to {}", member.name,
                                                    format_milli(member.weight_milli), format_milli(kWeightMilliMax)));
  }
  if (info.weights == Weights::kNone && member.weight_milli != 1000) {
    return fail(Code::kInvalidArgument, fmt::format("node {}: weight {}: scheme {} has no weights", member.name,
                                                    format_milli(member.weight_milli), info.name));
  }
  return {};
}

Status check_members(const SchemeInfo& info, std::span<const Member> members) {
  if (members.empty()) return fail(Code::kInvalidArgument, fmt::format("scheme {}: no nodes", info.name));
  if (members.size() > kMembersMax) {
    return fail(Code::kInvalidArgument,
                fmt::format("scheme {}: {} nodes: at most {}", info.name, members.size(), kMembersMax));
  }
  std::unordered_set<std::string_view> names;
  bool any_weight = false;
  for (const Member& member : members) {
    SLIPRING_TRY(check_node_name(member.name));
    if (!names.insert(member.name).second) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: named twice", member.name));
    }
    SLIPRING_TRY(check_weight(info, member));
    any_weight |= member.weight_milli > 0;
  }
  if (!any_weight) return fail(Code::kInvalidArgument, "all nodes have weight 0: nobody would own a key");
  return {};
}

struct Checked {
  const SchemeDefinition* definition = nullptr;
  SchemeInput input;
};

// `spec` and `members` must outlive what is answered.
Result<Checked> check(const SchemeSpec& spec, std::span<const Member> members) {
  Checked checked;
  checked.definition = find_scheme(spec.name);
  if (checked.definition == nullptr) {
    return fail(Code::kInvalidArgument,
                fmt::format("scheme \"{}\": unknown; there are: {}", spec.name.substr(0, 64), scheme_names()));
  }
  const SchemeInfo& info = checked.definition->info;
  SLIPRING_TRY(check_members(info, members));
  SchemeInput& input = checked.input;
  input.members = members;
  SLIPRING_ASSIGN(input.options,
                  Parameters::check(info.options, spec.options, fmt::format("scheme {}: option", info.name)));
  input.attributes.reserve(members.size());
  for (const Member& member : members) {
    SLIPRING_ASSIGN(Parameters attributes,
                    Parameters::check(info.attributes, member.attributes,
                                      fmt::format("node {}: attribute (scheme {})", member.name, info.name)));
    input.attributes.push_back(attributes);
  }
  return checked;
}

Result<std::unique_ptr<const Scheme>> make_plain(const SchemeSpec& spec, std::span<const Member> members) {
  SLIPRING_ASSIGN(const Checked checked, check(spec, members));
  auto made = checked.definition->make(checked.input);
  if (!made) return fail_in(fmt::format("scheme {}", spec.name), made.error());
  return made;
}

bool is_name_byte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

Status check_node_name(std::string_view name) {
  if (name.empty() || name.size() > 64) {
    return fail(Code::kInvalidArgument, fmt::format("node name \"{}\": must have 1 to 64 bytes", name.substr(0, 64)));
  }
  for (const char c : name) {
    if (!is_name_byte(c)) {
      return fail(Code::kInvalidArgument,
                  fmt::format("node name \"{}\": only A-Z, a-z, 0-9, '.', '_' and '-' are allowed", name));
    }
  }
  return {};
}

void Scheme::owners(std::span<const std::string_view> keys, std::span<NodeIndex> out) const {
  for (size_t i = 0; i < keys.size(); ++i) out[i] = owner(keys[i]);
}

Result<std::unique_ptr<const Scheme>> make_scheme(const SchemeSpec& spec, std::span<const Member> members) {
  SLIPRING_ASSIGN(Overrides overrides, Overrides::take_from(spec, members));
  SLIPRING_ASSIGN(auto plain, make_plain(overrides.rest(), members));
  return std::move(overrides).over(std::move(plain));
}

Result<std::unique_ptr<const Scheme>> remake_scheme(const MadeScheme& old, const SchemeSpec& spec,
                                                    std::span<const Member> members) {
  const SchemeDefinition* definition = find_scheme(spec.name);
  if (definition == nullptr || definition->remake == nullptr || old.spec.name != spec.name)
    return make_scheme(spec, members);
  SLIPRING_ASSIGN(Overrides overrides, Overrides::take_from(spec, members));
  SLIPRING_ASSIGN(const Overrides old_overrides, Overrides::take_from(old.spec, old.members));
  SLIPRING_ASSIGN(const Checked before, check(old_overrides.rest(), old.members));
  SLIPRING_ASSIGN(const Checked after, check(overrides.rest(), members));
  auto remade = definition->remake(old.scheme.under_overrides(), before.input, after.input);
  if (remade == nullptr) return make_scheme(spec, members);
  return std::move(overrides).over(std::move(remade));
}

std::vector<std::string> placement_warnings(const SchemeSpec& spec, std::span<const Member> members) {
  const auto overrides = Overrides::take_from(spec, members);
  if (!overrides) return {};
  const auto checked = check(overrides->rest(), members);
  if (!checked || checked->definition->warnings == nullptr) return {};
  return checked->definition->warnings(checked->input);
}

OrdinalScheme::OrdinalScheme(std::span<const Member> members) : Scheme(members.size()) {
  drained_.reserve(members.size());
  for (const Member& member : members) drained_.push_back(member.weight_milli == 0);
}

size_t OrdinalScheme::preference_list(std::string_view key, std::span<NodeIndex> out) const {
  if (out.empty()) return 0;
  const NodeIndex first = owner(key);
  if (first == kNoNode) return 0;
  out[0] = first;
  size_t filled = 1;
  for (size_t step = 1; step < drained_.size() && filled < out.size(); ++step) {
    const size_t i = (first + step) % drained_.size();
    if (drained_[i] == 0) out[filled++] = static_cast<NodeIndex>(i);
  }
  return filled;
}

}  // namespace slipring
