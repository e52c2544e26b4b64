// JSON and YAML as one tree that knows where everything stands, so that a reader is written once for both.
//
// Invariant: at most kTreeNodesMax nodes, kTreeDepthMax deep; no key twice in a map. Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slipring/import/draft.h"

namespace slipring::import {

inline constexpr size_t kTreeNodesMax = 200'000;
inline constexpr size_t kTreeDepthMax = 48;

struct Tree {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  Mark at;
  std::string text;           // scalar: as it is written, without quotes
  std::vector<Tree> items;    // list
  std::vector<Entry> fields;  // map, in order

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  // nullptr: no such field, or no map.
  const Tree* find(std::string_view key) const;
  // find() of each key in turn.
  const Tree* find_path(std::initializer_list<std::string_view> path) const;
};

struct Tree::Entry {
  std::string key;
  Mark at;  // of the key
  Tree value;
};

// Reading ends with the error of the draft: kInvalidArgument at the place where the text stops being JSON or YAML.
// JSON may hold /* */ and // comments.
Result<Tree> parse_json(std::string_view text, const Draft& draft);
Result<Tree> parse_yaml(std::string_view text, const Draft& draft);

// The text of a scalar, the items of a list, the number of an unsigned scalar. kInvalidArgument: something else.
Result<std::string> text_of(const Tree& tree, std::string_view what, const Draft& draft);
Result<bool> flag_of(const Tree& tree, std::string_view what, const Draft& draft);
Status expect_list(const Tree& tree, std::string_view what, const Draft& draft);
Status expect_map(const Tree& tree, std::string_view what, const Draft& draft);

}  // namespace slipring::import
