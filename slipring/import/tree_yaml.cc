#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "slipring/import/tree.h"

namespace slipring::import {
namespace {

Mark mark_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<size_t>(mark.line) + 1, static_cast<size_t>(mark.column) + 1};
}

// An alias is copied, so the budget counts what a text unfolds to.
class Converter {
 public:
  explicit Converter(const Draft& draft) : draft_(draft) {}

  Result<Tree> convert(const YAML::Node& node, size_t depth) {
    Tree tree;
    tree.at = mark_of(node.Mark());
    if (++count_ > kTreeNodesMax || depth > kTreeDepthMax)
      return draft_.broken(tree.at, "too many values, or too deep");
    if (node.IsScalar()) {
      tree.kind = Tree::Kind::kScalar;
      tree.text = node.Scalar();
    } else if (node.IsSequence()) {
      tree.kind = Tree::Kind::kList;
      for (const YAML::Node& item : node) {
        SLIPRING_ASSIGN(Tree child, convert(item, depth + 1));
        tree.items.push_back(std::move(child));
      }
    } else if (node.IsMap()) {
      SLIPRING_TRY(convert_fields(node, depth, tree));
    }
    return tree;
  }

 private:
  Status convert_fields(const YAML::Node& node, size_t depth, Tree& tree) {
    tree.kind = Tree::Kind::kMap;
    std::set<std::string> keys;
    for (const auto& field : node) {
      const YAML::Node& key = field.first;
      const Mark at = mark_of(key.Mark());
      if (!key.IsScalar()) return draft_.broken(at, "a key must be one value");
      if (!keys.insert(key.Scalar()).second)
        return draft_.broken(at, fmt::format("\"{}\" stands here twice", key.Scalar().substr(0, 64)));
      SLIPRING_ASSIGN(Tree child, convert(field.second, depth + 1));
      tree.fields.push_back(Tree::Entry{key.Scalar(), at, std::move(child)});
    }
    return {};
  }

  const Draft& draft_;
  size_t count_ = 0;
};

}  // namespace

Result<Tree> parse_yaml(std::string_view text, const Draft& draft) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    return Converter(draft).convert(root, 0);
  } catch (const YAML::Exception& e) {
    return draft.broken(mark_of(e.mark), e.msg);
  }
}

}  // namespace slipring::import
