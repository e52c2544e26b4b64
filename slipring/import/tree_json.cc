#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "slipring/import/tree.h"

namespace slipring::import {
namespace {

// Bytes that the lexer has taken so far. It has read one byte beyond a number, none beyond anything else.
class CountingInput {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingInput(const char* at, size_t* taken) : at_(at), taken_(taken) {}
  const char& operator*() const { return *at_; }
  CountingInput& operator++() {
    ++at_;
    if (taken_ != nullptr) ++*taken_;
    return *this;
  }
  CountingInput operator++(int) {
    CountingInput before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingInput& other) const { return at_ == other.at_; }
  bool operator!=(const CountingInput& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  size_t* taken_;
};

// Turns offsets, which only grow, into lines and columns.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  Mark at(size_t offset) {
    for (offset = std::min(offset, text_.size()); done_ < offset; ++done_) {
      if (text_[done_] == '\n') {
        ++line_;
        line_start_ = done_ + 1;
      }
    }
    return {line_, offset < line_start_ ? 1 : offset - line_start_ + 1};
  }

 private:
  std::string_view text_;
  size_t done_ = 0;
  size_t line_ = 1;
  size_t line_start_ = 0;
};

class Builder {
 public:
  Builder(std::string_view text, const size_t& taken, const Draft& draft) : lines_(text), taken_(taken), draft_(draft) {
    open_.push_back(&root_);
  }

  bool null() { return put(Tree::Kind::kNull, "null", 4); }
  bool boolean(bool value) { return put(Tree::Kind::kScalar, value ? "true" : "false", value ? 4 : 5); }
  bool number_integer(int64_t value) { return put_number(fmt::format("{}", value)); }
  bool number_unsigned(uint64_t value) { return put_number(fmt::format("{}", value)); }
  bool number_float(double, const std::string& text) { return put_number(text); }
  bool string(std::string& text) { return put(Tree::Kind::kScalar, text, text.size() + 2); }
  bool binary(std::vector<uint8_t>&) { return false; }
  bool key(std::string& text) {
    key_at_ = mark(text.size() + 2);
    key_ = text;
    if (keys_.back().insert(text).second) return true;
    error_ = draft_.broken(key_at_, fmt::format("\"{}\" stands here twice", text.substr(0, 64))).value();
    return false;
  }
  bool start_object(size_t) {
    keys_.emplace_back();
    return open(Tree::Kind::kMap);
  }
  bool end_object() {
    keys_.pop_back();
    return close();
  }
  bool start_array(size_t) { return open(Tree::Kind::kList); }
  bool end_array() { return close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    error_ = draft_.broken(lines_.at(position == 0 ? 0 : position - 1), "is not JSON from here on").value();
    return false;
  }

  Result<Tree> take(bool whole) {
    if (error_) return fail(*error_);
    if (!whole) return draft_.broken({}, "is not JSON");
    return std::move(root_);
  }

 private:
  // Where a token of `length` bytes begins that has just been read.
  Mark mark(size_t length) { return lines_.at(taken_ < length ? 0 : taken_ - length); }
  bool put_number(const std::string& text) { return put(Tree::Kind::kScalar, text, text.size() + 1); }

  Tree* place(Tree::Kind kind, size_t length) {
    Tree tree;
    tree.kind = kind;
    tree.at = mark(length);
    if (++count_ > kTreeNodesMax || open_.size() > kTreeDepthMax) {
      error_ = draft_.broken(tree.at, "too many values, or too deep").value();
      return nullptr;
    }
    Tree* parent = open_.back();
    if (parent->is_list()) return &parent->items.emplace_back(std::move(tree));
    if (parent->is_map()) return &parent->fields.emplace_back(Tree::Entry{key_, key_at_, std::move(tree)}).value;
    *parent = std::move(tree);
    return parent;
  }
  bool put(Tree::Kind kind, const std::string& text, size_t length) {
    Tree* tree = place(kind, length);
    if (tree == nullptr) return false;
    tree->text = text;
    return true;
  }
  bool open(Tree::Kind kind) {
    Tree* tree = place(kind, 1);
    if (tree != nullptr) open_.push_back(tree);
    return tree != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Lines lines_;
  const size_t& taken_;
  const Draft& draft_;
  Tree root_;
  std::vector<Tree*> open_;  // a parent grows only while its last child is closed
  std::vector<std::set<std::string>> keys_;
  std::string key_;
  Mark key_at_;
  size_t count_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Tree> parse_json(std::string_view text, const Draft& draft) {
  size_t taken = 0;
  Builder builder(text, taken, draft);
  const bool whole =
      nlohmann::json::sax_parse(CountingInput(text.data(), &taken), CountingInput(text.data() + text.size(), nullptr),
                                &builder, nlohmann::json::input_format_t::json, true, true);
  return builder.take(whole);
}

}  // namespace slipring::import
