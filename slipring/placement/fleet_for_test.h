// Small fleets for tests of schemes: nodes by name, answers by name.
// Thread-safety: values and pure functions.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring {

inline std::vector<Member> fleet_for_test(std::initializer_list<const char*> names) {
  std::vector<Member> members;
  for (const char* name : names) members.push_back({.name = name});
  return members;
}

// s0, s1, ... labelled 10.0.0.1:6379, 10.0.0.2:6379, ...
inline std::vector<Member> addresses_for_test(size_t count) {
  std::vector<Member> members;
  for (size_t i = 0; i < count; ++i) {
    members.push_back({.name = "s" + std::to_string(i), .label = "10.0.0." + std::to_string(i + 1) + ":6379"});
  }
  return members;
}

// The first `count` of the preference list.
inline std::vector<NodeIndex> list_for_test(const Scheme& scheme, std::string_view key, size_t count) {
  std::vector<NodeIndex> list(count);
  list.resize(scheme.preference_list(key, list));
  return list;
}

inline std::string error_for_test(const SchemeSpec& spec, const std::vector<Member>& members) {
  const auto made = make_scheme(spec, members);
  return made ? "none" : made.error().message;
}

}  // namespace slipring
