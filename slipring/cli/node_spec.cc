#include "slipring/cli/node_spec.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "slipring/base/parse.h"
#include "slipring/placement/registry.h"

namespace slipring::cli {
namespace {

tl::unexpected<Error> invalid(std::string message) {
  return fail(Code::kInvalidArgument, std::move(message));
}

// Reads a text part by part up to the next of some signs; a backslash takes the sign after it as it is.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  // Skips the sign if it comes next.
  bool take(char sign) {
    if (rest_.empty() || rest_.front() != sign) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Without the backslashes; the sign stays.
  std::string until(std::string_view signs) {
    std::string part;
    while (!rest_.empty() && signs.find(rest_.front()) == std::string_view::npos) {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      part.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    return part;
  }

 private:
  std::string_view rest_;
};

Status read_attribute(Cursor& cursor, std::string_view separators, Member& member) {
  const std::string name = cursor.until(std::string("=;") + std::string(separators));
  if (name.empty() || !cursor.take('=')) return invalid("write ;attribute=value");
  if (!member.attributes.emplace(name, cursor.until(std::string(";") + std::string(separators))).second) {
    return invalid(fmt::format("attribute {}: given twice", name));
  }
  return {};
}

// One node, up to one of the `separators` or the end.
Result<Member> read_node(Cursor& cursor, std::string_view separators) {
  const auto until = [&](std::string_view signs) { return cursor.until(std::string(signs) + std::string(separators)); };
  Member member;
  member.name = until("=*@;");
  if (cursor.take('=')) member.label = until("*@;");
  if (cursor.take('*')) {
    const std::string weight = until("@;");
    auto milli = parse_milli(weight, 0, kWeightMilliMax);
    if (!milli) return invalid(fmt::format("weight \"{}\": must be 0 to 1000, at most three places", weight));
    member.weight_milli = *milli;
  }
  if (cursor.take('@')) member.zone = until(";");
  while (cursor.take(';')) SLIPRING_TRY(read_attribute(cursor, separators, member));
  return member;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

Status check_count(size_t nodes) {
  if (nodes <= kMembersMax) return {};
  return invalid(fmt::format("more than {} nodes", kMembersMax));
}

// A scalar of TOML as an operator would write it.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* decimal = node.as_floating_point()) return fmt::format("{}", decimal->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return std::nullopt;
}

Result<std::string> text_of(const toml::node& node, std::string_view key) {
  auto text = scalar_text(node);
  if (!text) return invalid(fmt::format("{}: must be a text, a number or true or false", key));
  return *std::move(text);
}

Result<std::map<std::string, std::string>> attributes_of(const toml::node& node) {
  if (!node.is_table()) return invalid("attributes: must be a table");
  std::map<std::string, std::string> attributes;
  for (const auto& [key, value] : *node.as_table()) {
    SLIPRING_ASSIGN(attributes[std::string(key.str())], text_of(value, key.str()));
  }
  return attributes;
}

Status read_key(std::string_view key, const toml::node& value, Member& member) {
  if (key == "attributes") {
    SLIPRING_ASSIGN(member.attributes, attributes_of(value));
    return {};
  }
  SLIPRING_ASSIGN(std::string text, text_of(value, key));
  if (key == "name") {
    member.name = std::move(text);
  } else if (key == "label") {
    member.label = std::move(text);
  } else if (key == "zone") {
    member.zone = std::move(text);
  } else if (key == "weight") {
    SLIPRING_ASSIGN(member.weight_milli, parse_milli(text, 0, kWeightMilliMax));
  } else {
    return invalid(fmt::format("{}: unknown; there are name, label, weight, zone, attributes", key));
  }
  return {};
}

Result<Member> member_of(const toml::table& table) {
  Member member;
  for (const auto& [key, value] : table) SLIPRING_TRY(read_key(key.str(), value, member));
  return member;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be read", path));
  std::string text(kNodeFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return invalid(fmt::format("{}: cannot be read", path));
  if (text.size() > kNodeFileBytesMax) return invalid(fmt::format("{}: larger than {} bytes", path, kNodeFileBytesMax));
  return text;
}

}  // namespace

Result<std::vector<Member>> parse_node_list(std::string_view text) {
  std::vector<Member> members;
  Cursor cursor(text);
  do {
    auto member = read_node(cursor, ",");
    if (!member) return fail_in(fmt::format("node {}", members.size() + 1), member.error());
    members.push_back(*std::move(member));
    SLIPRING_TRY(check_count(members.size()));
  } while (cursor.take(','));
  return members;
}

Result<std::vector<Member>> parse_node_lines(std::string_view text) {
  std::vector<Member> members;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    Cursor cursor(line);
    auto member = read_node(cursor, "");
    if (!member) return fail_in(fmt::format("line {}", number), member.error());
    members.push_back(*std::move(member));
    SLIPRING_TRY(check_count(members.size()));
  }
  return members;
}

Result<std::vector<Member>> parse_node_toml(std::string_view text) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& e) {
    return invalid(fmt::format("line {}: {}", e.source().begin.line, e.description()));
  }
  std::vector<Member> members;
  for (const auto& [key, value] : document) {
    if (key != "node" || !value.is_array_of_tables()) {
      return invalid(fmt::format("{}: unknown; nodes are [[node]] tables", key.str()));
    }
    for (const toml::node& node : *value.as_array()) {
      auto member = member_of(*node.as_table());
      if (!member) return fail_in(fmt::format("line {}", node.source().begin.line), member.error());
      members.push_back(*std::move(member));
      SLIPRING_TRY(check_count(members.size()));
    }
  }
  return members;
}

Result<std::vector<Member>> read_nodes(const std::string& list_or_file) {
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(list_or_file, ignored);
  if (!is_file) return parse_node_list(list_or_file);
  SLIPRING_ASSIGN(const std::string text, read_file(list_or_file));
  auto members = list_or_file.ends_with(".toml") ? parse_node_toml(text) : parse_node_lines(text);
  if (!members) return fail_in(list_or_file, members.error());
  return members;
}

}  // namespace slipring::cli
