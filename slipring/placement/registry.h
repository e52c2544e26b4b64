// All schemes by name. A scheme is one pair of files, x.h and x.cc, whose header declares
//   const SchemeDefinition& x_scheme();
// and one line in the table of registry.cc. There is no registration at start-up.
//
// Invariant: a factory sees only members and parameters that were checked against its definition.
// Thread-safety: immutable data; all functions may be called from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/parameters.h"
#include "slipring/placement/scheme.h"

namespace slipring {

enum class Weights {
  kNone,     // any weight but 1 is refused
  kIgnored,  // accepted without effect, as the system does
  kUsed,     // shares in proportion (or as the system rounds them); 0 = owns nothing unless the scheme says otherwise
};

// What `slipring schemes` prints and make_scheme() checks against. Every text is one line.
struct SchemeInfo {
  std::string_view name;
  std::string_view system;  // what it reproduces key for key: "twemproxy 0.5.0"; "slipring" for our own
  std::string_view source;  // paper, or where the system's rule is to be found
  std::string_view summary;
  std::vector<ParameterInfo> options;
  std::vector<ParameterInfo> attributes;  // of members
  Weights weights = Weights::kNone;
  bool zero_weight_may_own = false;  // a member of weight 0 may own keys, as in that system (not all members)
  bool zones = false;                // preference lists spread over zones
  bool preference_lists = false;     // defined by the scheme; otherwise members follow in ordinal order
  std::string_view disruption;       // what moves when a member is added or removed
  std::string_view cost;             // of a look-up, and memory
};

// The checked input of a factory.
struct SchemeInput {
  std::span<const Member> members;
  Parameters options;
  std::vector<Parameters> attributes;  // by member

  // What the scheme hashes for member i: its label, else its name.
  std::string_view label(size_t i) const {
    const Member& m = members[i];
    return m.label.empty() ? m.name : m.label;
  }
};

struct SchemeDefinition {
  SchemeInfo info;
  // kInvalidArgument for what no table can say (tokens out of the space, two options that exclude each other).
  Result<std::unique_ptr<const Scheme>> (*make)(const SchemeInput& input) = nullptr;
  // See remake_scheme(); answers nullptr where there is nothing to reuse. The old input was made from the old scheme.
  std::unique_ptr<const Scheme> (*remake)(const Scheme& old, const SchemeInput& old_input,
                                          const SchemeInput& input) = nullptr;
  // See placement_warnings(); nullptr if there is nothing to warn of.
  std::vector<std::string> (*warnings)(const SchemeInput& input) = nullptr;
};

// In the order of the table; the same on every call.
std::span<const SchemeDefinition* const> all_schemes();
// nullptr if there is none of that name.
const SchemeDefinition* find_scheme(std::string_view name);

// For a scheme without preference lists of its own: the owner first, then the members after it in ordinal order,
// wrapping, without those of weight 0.
class OrdinalScheme : public Scheme {
 public:
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override;

 protected:
  explicit OrdinalScheme(std::span<const Member> members);

 private:
  std::vector<uint8_t> drained_;  // by member
};

inline constexpr size_t kMembersMax = 100'000;

}  // namespace slipring
