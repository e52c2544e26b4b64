#include "slipring/placement/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace slipring {
namespace {

class OverriddenScheme final : public Scheme {
 public:
  OverriddenScheme(std::unique_ptr<const Scheme> scheme, Overrides overrides)
      : Scheme(scheme->member_count()), scheme_(std::move(scheme)), overrides_(std::move(overrides)) {}

  NodeIndex owner(std::string_view key) const override {
    const NodeIndex pinned = overrides_.find(key, scheme_->tag(key));
    return pinned == kNoNode ? scheme_->owner(key) : pinned;
  }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    size_t filled = scheme_->preference_list(key, out);
    const NodeIndex pinned = overrides_.find(key, scheme_->tag(key));
    if (pinned == kNoNode || out.empty()) return filled;
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(filled);
    auto at = std::find(out.begin(), end, pinned);
    if (at == end) {  // not in the list yet: it takes the place of the last one if the list is full
      if (filled < out.size()) ++filled;
      at = out.begin() + static_cast<std::ptrdiff_t>(filled) - 1;
      *at = pinned;
    }
    std::rotate(out.begin(), at, at + 1);
    return filled;
  }

  std::string_view tag(std::string_view key) const override { return scheme_->tag(key); }
  const Scheme& under_overrides() const override { return *scheme_; }

  Explanation explain(std::string_view key) const override {
    if (overrides_.find(key, scheme_->tag(key)) == kNoNode) return scheme_->explain(key);
    return {.point = scheme_->explain(key).point, .range = "override"};
  }

 private:
  std::unique_ptr<const Scheme> scheme_;
  Overrides overrides_;
};

}  // namespace

Status Overrides::add(std::string_view what, NodeIndex node) {
  const size_t dot = what.find('.');
  const std::string_view kind = what.substr(0, dot);
  const std::string_view text = dot == std::string_view::npos ? std::string_view() : what.substr(dot + 1);
  Table* table = kind == "key" ? &keys_ : kind == "tag" ? &tags_ : kind == "prefix" ? &prefixes_ : nullptr;
  if (table == nullptr || dot == std::string_view::npos || (text.empty() && table != &keys_)) {
    return fail(Code::kInvalidArgument,
                fmt::format("option \"{}{}\": write override.key.KEY, override.tag.TAG or override.prefix.PREFIX",
                            kOverridePrefix, what.substr(0, 64)));
  }
  table->emplace(text, node);
  if (table == &prefixes_) prefix_lengths_.push_back(text.size());
  return {};
}

Result<Overrides> Overrides::take_from(const SchemeSpec& spec, std::span<const Member> members) {
  Overrides taken;
  taken.rest_.name = spec.name;
  std::unordered_map<std::string_view, NodeIndex> index;
  size_t count = 0;
  for (const auto& [name, value] : spec.options) {
    if (!name.starts_with(kOverridePrefix)) {
      taken.rest_.options.emplace(name, value);
      continue;
    }
    if (++count > kOverridesMax) {
      return fail(Code::kInvalidArgument, fmt::format("more than {} overrides", kOverridesMax));
    }
    for (size_t i = index.size(); i < members.size(); ++i) index.emplace(members[i].name, static_cast<NodeIndex>(i));
    const auto node = index.find(value);
    if (node == index.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("option {}: no node named \"{}\"", name.substr(0, 64), value.substr(0, 64)));
    }
    SLIPRING_TRY(taken.add(std::string_view(name).substr(kOverridePrefix.size()), node->second));
  }
  auto& lengths = taken.prefix_lengths_;
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return taken;
}

NodeIndex Overrides::find(std::string_view key, std::string_view tag) const {
  if (const auto it = keys_.find(key); it != keys_.end()) return it->second;
  if (const auto it = tags_.find(tag); it != tags_.end()) return it->second;
  for (const size_t length : prefix_lengths_) {
    if (length > key.size()) continue;
    if (const auto it = prefixes_.find(key.substr(0, length)); it != prefixes_.end()) return it->second;
  }
  return kNoNode;
}

std::unique_ptr<const Scheme> Overrides::over(std::unique_ptr<const Scheme> scheme) && {
  if (empty()) return scheme;
  return std::make_unique<OverriddenScheme>(std::move(scheme), std::move(*this));
}

}  // namespace slipring
