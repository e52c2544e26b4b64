#include "slipring/import/tree.h"

#include <fmt/format.h>

namespace slipring::import {

const Tree* Tree::find(std::string_view key) const {
  for (const Entry& entry : fields) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const Tree* Tree::find_path(std::initializer_list<std::string_view> path) const {
  const Tree* reached = this;
  for (const std::string_view key : path) {
    reached = reached->find(key);
    if (reached == nullptr) return nullptr;
  }
  return reached;
}

Result<std::string> text_of(const Tree& tree, std::string_view what, const Draft& draft) {
  if (!tree.is_scalar()) return draft.broken(tree.at, fmt::format("{}: must be one value", what));
  return tree.text;
}

Result<bool> flag_of(const Tree& tree, std::string_view what, const Draft& draft) {
  SLIPRING_ASSIGN(const std::string text, text_of(tree, what, draft));
  if (text == "true") return true;
  if (text == "false") return false;
  return draft.broken(tree.at, fmt::format("{}: must be true or false", what));
}

Status expect_list(const Tree& tree, std::string_view what, const Draft& draft) {
  if (!tree.is_list()) return draft.broken(tree.at, fmt::format("{}: must be a list", what));
  return {};
}

Status expect_map(const Tree& tree, std::string_view what, const Draft& draft) {
  if (!tree.is_map()) return draft.broken(tree.at, fmt::format("{}: must be a map", what));
  return {};
}

}  // namespace slipring::import
