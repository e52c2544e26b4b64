// What tests of schemes share: fleets, keys, and questions that check-fail instead of returning errors.
// Only for tests. Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/check.h"
#include "slipring/base/random.h"
#include "slipring/placement/scheme.h"

namespace slipring::testing {

// Members s0, s1, ... with these labels and weight 1.
inline std::vector<Member> labelled(const std::vector<std::string>& labels) {
  std::vector<Member> members;
  for (size_t i = 0; i < labels.size(); ++i) {
    Member member;
    member.name = "s" + std::to_string(i);
    member.label = labels[i];
    members.push_back(member);
  }
  return members;
}

// n members labelled 10.0.0.1:port, 10.0.0.2:port, ...
inline std::vector<Member> fleet_of(size_t n, int port = 22122) {
  std::vector<std::string> labels;
  for (size_t i = 0; i < n; ++i) labels.push_back("10.0.0." + std::to_string(i + 1) + ":" + std::to_string(port));
  return labelled(labels);
}

inline std::vector<Member> weighted(std::vector<Member> members, const std::vector<int64_t>& weights) {
  for (size_t i = 0; i < members.size(); ++i) members[i].weight_milli = weights[i] * 1000;
  return members;
}

// 300 keys of every length from 0 to 40, a third of them with bytes above 0x7f.
inline std::vector<std::string> some_keys() {
  Random random(7);
  std::vector<std::string> keys;
  for (size_t i = 0; i < 300; ++i) {
    std::string key;
    for (size_t k = 0; k < i % 41; ++k)
      key.push_back(static_cast<char>(i % 3 == 0 ? random.below(256) : '!' + random.below(94)));
    keys.push_back(key);
  }
  return keys;
}

inline std::unique_ptr<const Scheme> scheme_of(const SchemeSpec& spec, const std::vector<Member>& members) {
  auto scheme = make_scheme(spec, members);
  SLIPRING_CHECK(scheme.has_value(), scheme.has_value() ? "" : scheme.error().message.c_str());
  return std::move(*scheme);
}

inline std::vector<NodeIndex> owners_of(const SchemeSpec& spec, const std::vector<Member>& members,
                                        const std::vector<std::string>& keys = some_keys()) {
  const auto scheme = scheme_of(spec, members);
  std::vector<NodeIndex> owners;
  for (const std::string& key : keys) owners.push_back(scheme->owner(key));
  return owners;
}

// The labels of the owners: what stays equal when the order of members changes.
inline std::vector<std::string> owner_labels(const SchemeSpec& spec, const std::vector<Member>& members,
                                             const std::vector<std::string>& keys = some_keys()) {
  std::vector<std::string> labels;
  for (const NodeIndex owner : owners_of(spec, members, keys)) labels.push_back(members[owner].label);
  return labels;
}

// The message with which make_scheme refuses; "accepted" if it does not.
inline std::string refusal(const SchemeSpec& spec, const std::vector<Member>& members) {
  const auto scheme = make_scheme(spec, members);
  if (scheme) return "accepted";
  SLIPRING_CHECK(scheme.error().code == Code::kInvalidArgument, "input is what is wrong");
  return scheme.error().message;
}

}  // namespace slipring::testing
