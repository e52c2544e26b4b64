#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <fstream>

#include "slipring/base/parse.h"
#include "slipring/cli/config.h"
#include "slipring/cli/config_table.h"

namespace slipring::cli {
namespace {

// Where an error is said to be.
class Place {
 public:
  explicit Place(const std::string& path) : path_(path) {}

  tl::unexpected<Error> error(const toml::source_region& at, std::string_view what) const {
    return fail(Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", path_, at.begin.line, at.begin.column, what));
  }
  tl::unexpected<Error> error(const toml::node& at, std::string_view key, std::string_view what) const {
    return error(at.source(), fmt::format("{}: {}", key, what));
  }

 private:
  const std::string& path_;
};

// ---- single values
// ---------------------------------------------------------------------------------------------------

Result<std::string> read_text(const toml::node& node) {
  const auto* text = node.as_string();
  if (text == nullptr) return fail(Code::kInvalidArgument, "must be a string");
  if (text->get().size() > kSettingBytesMax)
    return fail(Code::kInvalidArgument, fmt::format("is longer than {} bytes", kSettingBytesMax));
  if (text->get().find('\0') != std::string::npos) return fail(Code::kInvalidArgument, "holds a zero byte");
  return text->get();
}

Result<std::string> read_address(const toml::node& node) {
  SLIPRING_ASSIGN(const std::string text, read_text(node));
  SLIPRING_ASSIGN(const HostPort address, parse_host_port(text));
  return format_host_port(address);
}

Result<std::string> read_choice(const Setting& s, const toml::node& node) {
  SLIPRING_ASSIGN(const std::string text, read_text(node));
  const std::string listed = fmt::format("|{}|", s.choices);
  const bool known = text.find('|') == std::string::npos && listed.find("|" + text + "|") != std::string::npos;
  if (!known)
    return fail(Code::kInvalidArgument, fmt::format("\"{}\": must be {}", text.substr(0, 64), describe_values(s)));
  return text;
}

Result<std::string> read_string(const Setting& s, const toml::node& node) {
  if (s.kind == ValueKind::kAddress) return read_address(node);
  if (s.kind == ValueKind::kChoice) return read_choice(s, node);
  SLIPRING_ASSIGN(std::string text, read_text(node));
  if (s.kind == ValueKind::kName) {
    SLIPRING_TRY(check_node_name(text));
  }
  return text;
}

Result<uint64_t> read_integer(const toml::node& node) {
  const auto* number = node.as_integer();
  if (number == nullptr) return fail(Code::kInvalidArgument, "must be an integer");
  if (number->get() < 0) return fail(Code::kInvalidArgument, fmt::format("{}: must not be negative", number->get()));
  return static_cast<uint64_t>(number->get());
}

Result<uint64_t> read_unlimited(const Setting& s, const toml::node& node) {
  if (s.kind == ValueKind::kCount || (s.kind == ValueKind::kBytes && node.is_integer())) return read_integer(node);
  if (!node.is_string()) return fail(Code::kInvalidArgument, fmt::format("must be a {}", describe_values(s)));
  SLIPRING_ASSIGN(const std::string text, read_text(node));
  if (s.kind == ValueKind::kBytes) return parse_bytes(text);
  SLIPRING_ASSIGN(const int64_t ms, parse_duration_ms(text));
  return static_cast<uint64_t>(ms);
}

Result<uint64_t> read_number(const Setting& s, const toml::node& node) {
  SLIPRING_ASSIGN(const uint64_t number, read_unlimited(s, node));
  if (number < s.min || number > s.max)
    return fail(Code::kInvalidArgument, fmt::format("must be {}", describe_values(s)));
  return number;
}

Result<std::vector<std::string>> read_addresses(const toml::node& node) {
  const auto* array = node.as_array();
  if (array == nullptr || array->size() > 64)
    return fail(Code::kInvalidArgument, "must be an array of at most 64 addresses");
  std::vector<std::string> out;
  for (const toml::node& item : *array) {
    SLIPRING_ASSIGN(std::string address, read_address(item));
    out.push_back(std::move(address));
  }
  return out;
}

// One overload a type of field.
Status store(const Setting& s, const toml::node& node, std::string* out) {
  SLIPRING_ASSIGN(*out, read_string(s, node));
  return {};
}
Status store(const Setting&, const toml::node& node, std::vector<std::string>* out) {
  SLIPRING_ASSIGN(*out, read_addresses(node));
  return {};
}
Status store(const Setting&, const toml::node& node, bool* out) {
  if (!node.is_boolean()) return fail(Code::kInvalidArgument, "must be true or false");
  *out = node.as_boolean()->get();
  return {};
}
template <typename Number>
Status store(const Setting& s, const toml::node& node, Number* out) {
  SLIPRING_ASSIGN(const uint64_t number, read_number(s, node));
  *out = static_cast<Number>(number);
  return {};
}

// ---- tables with one value a key
// -------------------------------------------------------------------------------------

const Setting* find_setting(std::string_view table, std::string_view key) {
  for (const Setting& s : all_settings()) {
    if (s.table == table && s.key == key) return &s;
  }
  return nullptr;
}

Status read_table(std::string_view name, const toml::table& table, const Place& place, Config& config) {
  for (const auto& [key, node] : table) {
    const std::string full = fmt::format("{}.{}", name, key.str());
    const Setting* setting = find_setting(name, key.str());
    if (setting == nullptr) return place.error(key.source(), fmt::format("{}: is no known key", full));
    const Status ok = std::visit([&, &value = node](auto* field) { return store(*setting, value, field); }, setting->field(config));
    if (!ok) return place.error(node, full, ok.error().message);
  }
  return {};
}

// ---- pools and nodes
// -------------------------------------------------------------------------------------------------

Status check_keys(std::string_view name, const toml::table& table, const Place& place) {
  for (const auto& [key, node] : table) {
    const bool is_nodes = name == "pool" && key.str() == "node";
    bool known = is_nodes;
    for (const PoolKey& k : pool_keys()) known = known || (k.table == name && k.key == key.str());
    if (!known) return place.error(key.source(), fmt::format("{}.{}: is no known key", name, key.str()));
  }
  return {};
}

// Reads `key` with `read` if it is there; an error gets its place.
template <typename T, typename Read>
Status read_key(const toml::table& table, std::string_view name, std::string_view key, const Place& place, T& out,
                Read read) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  auto value = read(*node);
  if (!value) return place.error(*node, fmt::format("{}.{}", name, key), value.error().message);
  out = std::move(*value);
  return {};
}

Result<int64_t> read_weight(const toml::node& node) {
  const auto number = node.value<double>();
  const double scaled = number ? *number * 1000.0 : -1.0;
  const double whole = std::round(scaled);
  const bool fits = whole >= 0 && whole <= static_cast<double>(kWeightMilliMax) && std::abs(scaled - whole) < 1e-6;
  if (!fits) return fail(Code::kInvalidArgument, "must be a number from 0 to 1000 with at most three places");
  return static_cast<int64_t>(whole);
}

Result<std::string> read_scalar(const toml::node& node) {
  if (node.is_string()) return read_text(node);
  if (node.is_boolean()) return std::string(node.as_boolean()->get() ? "true" : "false");
  if (node.is_integer()) return fmt::format("{}", node.as_integer()->get());
  if (node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  return fail(Code::kInvalidArgument, "must hold texts and numbers");
}

Result<std::map<std::string, std::string>> read_map(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return fail(Code::kInvalidArgument, "must be a table");
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : *table) {
    SLIPRING_ASSIGN(out[std::string(key.str())], read_scalar(value));
  }
  return out;
}

Result<PoolKind> read_kind(const toml::node& node) {
  const auto text = node.value<std::string>();
  if (text == "store") return PoolKind::kStore;
  if (text == "cache") return PoolKind::kCache;
  return fail(Code::kInvalidArgument, "must be \"store\" or \"cache\"");
}

Result<PoolFence> read_fence(const toml::node& node) {
  const auto text = node.value<std::string>();
  if (text == "acl") return PoolFence::kAcl;
  if (text == "names") return PoolFence::kNames;
  return fail(Code::kInvalidArgument, "must be \"acl\" or \"names\"");
}

Result<uint32_t> read_replicas(const toml::node& node) {
  SLIPRING_ASSIGN(const uint64_t number, read_integer(node));
  if (number < 1 || number > 16) return fail(Code::kInvalidArgument, fmt::format("{}: must be 1 to 16", number));
  return static_cast<uint32_t>(number);
}

Status require(const toml::table& table, std::string_view name, std::string_view key, const Place& place) {
  if (table.contains(key)) return {};
  return place.error(table.source(), fmt::format("{}.{}: is missing", name, key));
}

Status read_node(const toml::table& table, const Place& place, Node& node) {
  constexpr std::string_view kName = "pool.node";
  SLIPRING_TRY(check_keys(kName, table, place));
  SLIPRING_TRY(require(table, kName, "name", place));
  SLIPRING_TRY(require(table, kName, "address", place));
  SLIPRING_TRY(read_key(table, kName, "name", place, node.name, read_text));
  SLIPRING_TRY(read_key(table, kName, "address", place, node.instance.address, read_address));
  SLIPRING_TRY(read_key(table, kName, "weight", place, node.weight_milli, read_weight));
  SLIPRING_TRY(read_key(table, kName, "zone", place, node.zone, read_text));
  SLIPRING_TRY(read_key(table, kName, "label", place, node.label, read_text));
  return read_key(table, kName, "attributes", place, node.attributes, read_map);
}

// Calls read(table) for every table of an array of tables.
template <typename Read>
Status each_table(const toml::node& node, std::string_view name, const Place& place, Read read) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return place.error(node, name, fmt::format("must be written [[{}]]", name));
  for (const toml::node& item : *array) {
    if (!item.is_table()) return place.error(item, name, "must be a table");
    SLIPRING_TRY(read(*item.as_table()));
  }
  return {};
}

// What a published snapshot must hold is checked here too, so that a mistake shows before anything starts.
Status check_pools(const toml::node& at, const Place& place, const std::vector<Pool>& pools) {
  const Status ok = validate(Snapshot{Epoch{1}, "0000000000000000", pools});
  if (!ok) return place.error(at.source(), ok.error().message);
  return {};
}

Status read_pool(const toml::table& table, const Place& place, Pool& pool) {
  constexpr std::string_view kName = "pool";
  SLIPRING_TRY(check_keys(kName, table, place));
  SLIPRING_TRY(require(table, kName, "name", place));
  SLIPRING_TRY(require(table, kName, "node", place));
  SLIPRING_TRY(read_key(table, kName, "name", place, pool.name, read_text));
  SLIPRING_TRY(read_key(table, kName, "kind", place, pool.kind, read_kind));
  SLIPRING_TRY(read_key(table, kName, "fence", place, pool.fence, read_fence));
  SLIPRING_TRY(read_key(table, kName, "scheme", place, pool.layout.scheme.name, read_text));
  SLIPRING_TRY(read_key(table, kName, "options", place, pool.layout.scheme.options, read_map));
  SLIPRING_TRY(read_key(table, kName, "replicas", place, pool.layout.replicas, read_replicas));
  SLIPRING_TRY(read_key(table, kName, "key_prefix", place, pool.key_prefix, read_text));
  SLIPRING_TRY(each_table(*table.get("node"), "pool.node", place, [&](const toml::table& node) {
    return read_node(node, place, pool.layout.nodes.emplace_back());
  }));
  return check_pools(table, place, {pool});
}

Status read_pools(const toml::node& node, const Place& place, std::vector<Pool>& pools) {
  SLIPRING_TRY(each_table(node, "pool", place,
                          [&](const toml::table& table) { return read_pool(table, place, pools.emplace_back()); }));
  return check_pools(node, place, pools);
}

// ---- the file
// --------------------------------------------------------------------------------------------------------

bool is_table_name(std::string_view name) {
  for (const TableInfo& table : all_tables()) {
    if (table.name == name) return true;
  }
  return false;
}

Status read_root(const toml::table& root, const Place& place, Config& config) {
  for (const auto& [key, node] : root) {
    if (key.str() == "pool") {
      SLIPRING_TRY(read_pools(node, place, config.controller.seed));
    } else if (is_table_name(key.str()) && node.is_table()) {
      SLIPRING_TRY(read_table(key.str(), *node.as_table(), place, config));
    } else {
      return place.error(key.source(), fmt::format("{}: is no known table", key.str()));
    }
  }
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& path) {
  const Place place(path);
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    return place.error(e.source(), e.description());
  }
  Config config;
  SLIPRING_TRY(read_root(root, place, config));
  return config;
}

Result<Config> load_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kNotFound, fmt::format("{}: cannot be opened", path));
  std::string text(kConfigBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return fail(Code::kUnavailable, fmt::format("{}: cannot be read", path));
  if (text.size() > kConfigBytesMax) {
    return fail(Code::kInvalidArgument, fmt::format("{}: is larger than {} bytes", path, kConfigBytesMax));
  }
  return parse_config(text, path);
}

}  // namespace slipring::cli
