// Overrides pin a key, a tag or a prefix to a node, on top of any scheme. They are options of every scheme:
//   override.key.KEY=NODE   override.tag.TAG=NODE   override.prefix.PREFIX=NODE
// where KEY, TAG and PREFIX are taken byte for byte. A key beats a tag, a tag beats a prefix, a longer prefix a
// shorter.
//
// Guarantee: a key that no override names stays where the scheme puts it. An overridden key's preference list is the
// named node, then the scheme's list without it. Cost: one hash look-up for keys and tags, one per prefix length.
// Thread-safety: immutable once made.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring {

inline constexpr size_t kOverridesMax = 100'000;
// The name of every override option begins so.
inline constexpr std::string_view kOverridePrefix = "override.";

class Overrides {
 public:
  // Splits the overrides from the options of the scheme itself. kInvalidArgument: an unknown kind, an empty tag or
  // prefix, a node that is no member, too many.
  static Result<Overrides> take_from(const SchemeSpec& spec, std::span<const Member> members);

  // The spec without its overrides.
  const SchemeSpec& rest() const { return rest_; }
  // The node that an override names, or kNoNode. `tag` is the key's tag by the scheme's rule.
  NodeIndex find(std::string_view key, std::string_view tag) const;
  bool empty() const { return keys_.empty() && tags_.empty() && prefixes_.empty(); }

  // The scheme with these overrides; the scheme itself if there are none.
  std::unique_ptr<const Scheme> over(std::unique_ptr<const Scheme> scheme) &&;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Table = std::unordered_map<std::string, NodeIndex, Hash, std::equal_to<>>;

  Status add(std::string_view what, NodeIndex node);

  SchemeSpec rest_;
  Table keys_;
  Table tags_;
  Table prefixes_;
  std::vector<size_t> prefix_lengths_;  // longest first, each once
};

}  // namespace slipring
