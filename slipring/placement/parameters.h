// Options of schemes and attributes of members: each is one line in a table that documents it, and the same line is
// what a value is checked against. A factory reads values only after all of them were checked, so its getters never
// fail.
//
// Invariant: every value in a Parameters has a name from its table, the type of it and lies in its range.
// Thread-safety: values; a Parameters refers to the table and the map it was made from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "slipring/base/result.h"

namespace slipring {

enum class ParameterType {
  kInteger,   // int64, allowed "min..max"
  kUnsigned,  // uint64, allowed "min..max"
  kDecimal,   // double, allowed "min..max"
  kFlag,      // true or false
  kChoice,    // allowed "a|b|c"
  kText,      // anything; the factory checks it
};

struct ParameterInfo {
  std::string_view name;
  ParameterType type = ParameterType::kText;
  std::string_view default_value;  // as an operator would write it; empty: none
  std::string_view allowed;        // see ParameterType; empty: the type's whole range
  std::string_view doc;            // one line
};

class Parameters {
 public:
  using Values = std::map<std::string, std::string>;

  // kInvalidArgument: a name that is not in the table (the message lists those that are), or a value of the wrong type
  // or outside its range. `what` starts the message: "scheme ring: option".
  static Result<Parameters> check(std::span<const ParameterInfo> table, const Values& values, std::string_view what);

  // Whether a value was given (a default does not count).
  bool given(std::string_view name) const;

  // The value, else the default. REQUIRES: the name is in the table with this type, and given or with a default.
  int64_t integer(std::string_view name) const;
  uint64_t unsigned_integer(std::string_view name) const;
  double decimal(std::string_view name) const;
  bool flag(std::string_view name) const;
  // kChoice and kText; an optional text that is not given is empty.
  std::string_view text(std::string_view name) const;

 private:
  std::string_view value(std::string_view name, ParameterType type) const;

  std::span<const ParameterInfo> table_;
  const Values* values_ = nullptr;
};

// "name=value" as operators write options. Names of overrides hold keys, which may hold '=': they end at the last one.
Result<std::pair<std::string, std::string>> parse_option(std::string_view text);

// "integer 1..65536", "ketama|modula", ...: for lists of schemes and for errors.
std::string describe_allowed(const ParameterInfo& info);

}  // namespace slipring
