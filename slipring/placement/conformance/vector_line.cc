#include "slipring/placement/conformance/vector_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace slipring::conformance {
namespace {

using Json = nlohmann::json;

tl::unexpected<Error> invalid(std::string message) {
  return fail(Code::kInvalidArgument, std::move(message));
}

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    if (&item != &list.front()) text += ',';
    text += scalar_text(item);
  }
  return text;
}

void flatten(const std::string& name, const Json& value, Fields* out) {
  if (value.is_null()) return;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) flatten(name + "." + key, item, out);
  } else {
    out->set(name, value.is_array() ? joined(value) : scalar_text(value));
  }
}

Fields fields_of(const Json& object) {
  Fields fields;
  for (const auto& [name, value] : object.items()) flatten(name, value, &fields);
  return fields;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Result<std::string> key_bytes(const std::string& text) {
  constexpr std::string_view kHex = "hex:";
  if (!text.starts_with(kHex)) return text;
  std::string bytes;
  for (size_t i = kHex.size(); i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    if (high < 0 || low < 0) return invalid(fmt::format("key \"{}\": not hexadecimal", text.substr(0, 80)));
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Column column_of(const Json& list) {
  Column column;
  column.reserve(list.size());
  for (const Json& item : list) {
    std::vector<std::string> row;
    if (item.is_array()) {
      for (const Json& entry : item) row.push_back(scalar_text(entry));
    } else {
      row.push_back(scalar_text(item));
    }
    column.push_back(std::move(row));
  }
  return column;
}

Result<std::string> required_text(const Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_string()) return invalid(fmt::format("\"{}\" is missing or no text", name));
  return it->get<std::string>();
}

Status read_keys(const Json& list, VectorLine* line) {
  if (!list.is_array()) return invalid("\"keys\" is no list");
  line->keys.reserve(list.size());
  for (const Json& key : list) {
    if (!key.is_string()) return invalid("\"keys\" holds something else than texts");
    SLIPRING_ASSIGN(std::string bytes, key_bytes(key.get<std::string>()));
    line->keys.push_back(std::move(bytes));
  }
  return {};
}

Status read_servers(const Json& list, VectorLine* line) {
  if (!list.is_array()) return invalid("\"servers\" is no list");
  for (const Json& server : list) {
    if (!server.is_object()) return invalid("\"servers\" holds something else than objects");
    line->servers.push_back(fields_of(server));
  }
  return {};
}

Status read_member(const std::string& name, const Json& value, VectorLine* line) {
  constexpr std::string_view kTexts[] = {"system", "version", "algorithm", "hash"};
  if (std::find(std::begin(kTexts), std::end(kTexts), name) != std::end(kTexts)) return {};
  if (name == "keys") return read_keys(value, line);
  if (name == "servers") return read_servers(value, line);
  if (name == "options") {
    if (!value.is_object()) return invalid("\"options\" is no object");
    line->options = fields_of(value);
  } else if (value.is_array()) {
    line->columns[name] = column_of(value);
  } else {
    flatten(name, value, &line->others);
  }
  return {};
}

Result<VectorLine> from_json(const Json& object) {
  VectorLine line;
  SLIPRING_ASSIGN(line.system, required_text(object, "system"));
  SLIPRING_ASSIGN(line.version, required_text(object, "version"));
  SLIPRING_ASSIGN(line.algorithm, required_text(object, "algorithm"));
  SLIPRING_ASSIGN(line.hash, required_text(object, "hash"));
  for (const auto& [name, value] : object.items()) SLIPRING_TRY(read_member(name, value, &line));
  return line;
}

// Whether brackets stand deeper inside each other than `depth`. Deeper values are walked by recursion later.
bool deeper_than(std::string_view json, int depth) {
  int open = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{')) {
      if (++open > depth) return true;
    } else if (!in_text && (c == ']' || c == '}')) {
      --open;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> Fields::take(std::string_view name) {
  const auto it = values_.find(std::string(name));
  if (it == values_.end()) return std::nullopt;
  std::optional<std::string> value = std::move(it->second);
  values_.erase(it);
  return value;
}

std::string Fields::take_or(std::string_view name, std::string_view otherwise) {
  return take(name).value_or(std::string(otherwise));
}

Result<std::string> Fields::take_required(std::string_view name) {
  std::optional<std::string> value = take(name);
  if (!value) return invalid(fmt::format("\"{}\" is missing", name));
  return *std::move(value);
}

Result<std::string> Fields::take_choice(std::string_view name, const std::vector<std::string_view>& allowed) {
  SLIPRING_ASSIGN(std::string value, take_required(name));
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    return invalid(fmt::format("{} \"{}\": must be {}", name, value, fmt::join(allowed, " or ")));
  return value;
}

std::map<std::string, std::string> Fields::take_all(std::string_view prefix) {
  const std::string front = std::string(prefix) + ".";
  std::map<std::string, std::string> found;
  for (auto it = values_.lower_bound(front); it != values_.end() && it->first.starts_with(front);) {
    found[it->first.substr(front.size())] = std::move(it->second);
    it = values_.erase(it);
  }
  return found;
}

void Fields::ignore(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) values_.erase(std::string(name));
}

Status Fields::check_all_taken(std::string_view what) const {
  if (values_.empty()) return {};
  return invalid(fmt::format("{} \"{}\": unknown", what, values_.begin()->first));
}

Column VectorLine::take_column(std::string_view name) {
  const auto it = columns.find(std::string(name));
  if (it == columns.end()) return {};
  Column column = std::move(it->second);
  columns.erase(it);
  return column;
}

Result<std::vector<std::string>> VectorLine::texts(const Column& column) {
  std::vector<std::string> out;
  out.reserve(column.size());
  for (const std::vector<std::string>& row : column) {
    if (row.size() != 1) return invalid("a list stands where one value must");
    out.push_back(row.front());
  }
  return out;
}

Result<VectorLine> parse_vector_line(std::string_view json) {
  constexpr int kDepthMax = 8;
  if (deeper_than(json, kDepthMax)) return invalid(fmt::format("nested deeper than {}", kDepthMax));
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return invalid("not a JSON object");
  return from_json(object);
}

}  // namespace slipring::conformance
