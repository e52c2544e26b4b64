// A scheme is a placement algorithm with its parameters: a pure function from a key to a preference list of members.
// Every scheme, ours and other systems', stands behind this one interface; make_scheme() chooses by name.
//
// Invariant: a scheme never changes after construction, and the same (spec, members) gives the same answers in every
// process. Thread-safety: immutable; all const functions may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/ownership.h"

namespace slipring {

// Index into the members that the scheme was made with.
using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = UINT32_MAX;

// One member of a placement, in its order (the ordinal is the position in the list). `name` is Slipring's stable name;
// `label` is what the scheme hashes (empty: the name), so a node can keep another system's identity under a new name.
struct Member {
  std::string name;
  std::string label;
  int64_t weight_milli = 1000;  // thousandths, 0 (drained) to 1,000,000
  std::string zone;             // empty: a zone of its own
  // What only some systems need: host, port, id, rack, dc, tokens, ... Unknown ones are an error of make_scheme.
  std::map<std::string, std::string> attributes;

  bool operator==(const Member&) const = default;
};

struct SchemeSpec {
  std::string name = "ring";
  std::map<std::string, std::string> options;

  bool operator==(const SchemeSpec&) const = default;
};

// Where a key lies, for people: `slipring locate`, explain().
struct Explanation {
  std::string point;  // the key's point, hash or slot, as the scheme writes it
  std::string range;  // the range or slot that holds it, e.g. "(3ae2..., c39c...]"; empty if the scheme has none
};

class Scheme {
 public:
  virtual ~Scheme() = default;

  // The key's owner; kNoNode only if no member owns anything (all drained).
  virtual NodeIndex owner(std::string_view key) const = 0;

  // The first out.size() nodes of the key's preference list, distinct, the owner first; answers how many there are
  // (fewer if there are fewer nodes). Schemes without lists of their own continue with the members in ordinal order.
  virtual size_t preference_list(std::string_view key, std::span<NodeIndex> out) const = 0;

  // owner() of many keys. REQUIRES: out.size() == keys.size().
  virtual void owners(std::span<const std::string_view> keys, std::span<NodeIndex> out) const;

  // The part of the key that decides (hash tag) by this scheme's rule; the whole key where it has none.
  virtual std::string_view tag(std::string_view key) const { return key; }

  virtual Explanation explain(std::string_view key) const = 0;

  // Who owns which range of the key space, for exact accounting; nothing where the scheme has no ranges.
  virtual std::optional<OwnershipMap> ownership() const { return std::nullopt; }

  // The scheme itself where overrides lie on top of it.
  virtual const Scheme& under_overrides() const { return *this; }

  size_t member_count() const { return member_count_; }

 protected:
  explicit Scheme(size_t member_count) : member_count_(member_count) {}

 private:
  size_t member_count_;
};

// The scheme `spec.name` over `members`. kInvalidArgument: unknown scheme, option or attribute, a value out of range,
// no members, all weights 0, duplicate names; the message says which and what is allowed.
Result<std::unique_ptr<const Scheme>> make_scheme(const SchemeSpec& spec, std::span<const Member> members);

// A scheme as it was made, and from what.
struct MadeScheme {
  const Scheme& scheme;
  const SchemeSpec& spec;
  std::span<const Member> members;
};

// Equal in every answer to make_scheme(spec, members), but cheaper where few members differ from those of `old`: a ring
// then takes over all tokens that stay. Errors are those of make_scheme().
Result<std::unique_ptr<const Scheme>> remake_scheme(const MadeScheme& old, const SchemeSpec& spec,
                                                    std::span<const Member> members);

// What an operator should know about a placement that can be made: "node a: 6 tokens: ...". Empty if nothing.
std::vector<std::string> placement_warnings(const SchemeSpec& spec, std::span<const Member> members);

// Node names: 1 to 64 bytes of [A-Za-z0-9._-].
Status check_node_name(std::string_view name);

inline constexpr int64_t kWeightMilliMax = 1'000'000;

}  // namespace slipring
