// One line of a vector file: a JSON object {system, version, algorithm, hash, servers[], options{}, keys[], owners[],
// ...} as text, so that mappings need no JSON. Scalars are written as in JSON without quotes (2, 1.25, true), null is
// absent, lists of scalars are joined with ',', objects are flattened with '.': options.replication.dc1.
//
// Invariant: every column has as many rows as there are keys or is empty. Reading a field takes it; what is left when a
// mapping is done was not understood, and is an error. Thread-safety: one owner.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::conformance {

class Fields {
 public:
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }

  std::optional<std::string> take(std::string_view name);
  std::string take_or(std::string_view name, std::string_view otherwise);
  // kInvalidArgument if it is missing.
  Result<std::string> take_required(std::string_view name);
  // kInvalidArgument if it is missing, or has another value than one of `allowed`.
  Result<std::string> take_choice(std::string_view name, const std::vector<std::string_view>& allowed);
  // All fields "prefix.x" as x -> value.
  std::map<std::string, std::string> take_all(std::string_view prefix);
  // Reads fields that only describe how an answer was recorded.
  void ignore(const std::vector<std::string_view>& names);
  // kInvalidArgument naming a field that nobody took; `what` starts the message.
  Status check_all_taken(std::string_view what) const;

 private:
  std::map<std::string, std::string> values_;
};

// One answer is a list of texts: one for a plain owner, several for a list.
using Column = std::vector<std::vector<std::string>>;

struct VectorLine {
  std::string system;
  std::string version;
  std::string algorithm;
  std::string hash;
  Fields options;
  std::vector<Fields> servers;
  std::vector<std::string> keys;  // as bytes: "hex:80" is the byte 0x80
  // Every other list of the line: owners, slots, tokens, positions, ...
  std::map<std::string, Column> columns;
  // Every other scalar of the line.
  Fields others;

  // Moves a column out; empty if there is none.
  Column take_column(std::string_view name);
  // Each row becomes its one text. kInvalidArgument if a row is a list.
  static Result<std::vector<std::string>> texts(const Column& column);
};

// kInvalidArgument: no JSON object, a missing or ill-typed system, keys or servers, "hex:" without hex digits.
Result<VectorLine> parse_vector_line(std::string_view json);

}  // namespace slipring::conformance
