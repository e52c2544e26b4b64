// Every key of the configuration file: where it is kept, what it may be, what it means. Reading the file, `config doc`
// and docs/config.md follow this one table.
// Thread-safety: constant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipring/cli/config.h"

namespace slipring::cli {

enum class ValueKind {
  kText,
  kName,         // [A-Za-z0-9._-]{1,64}
  kAddress,      // host:port
  kAddressList,  // array of host:port
  kPath,
  kFlag,
  kCount,     // integer in [min, max]
  kDuration,  // text such as "200ms"; in [min, max] milliseconds
  kBytes,     // integer or text such as "8mb"; in [min, max] bytes
  kChoice,    // one of `choices`
};

using Field = std::variant<std::string*, std::vector<std::string>*, bool*, uint32_t*, uint64_t*, int64_t*>;

struct Setting {
  std::string_view table;  // "controller"
  std::string_view key;    // "api"
  ValueKind kind;
  Field (*field)(Config&);
  std::string_view what;
  uint64_t min = 0;
  uint64_t max = 0;
  std::string_view choices = "";  // "a|b|c"
};

std::span<const Setting> all_settings();
// What each table is for, in the order of the documentation.
struct TableInfo {
  std::string_view name;
  std::string_view what;
};
std::span<const TableInfo> all_tables();

// The keys of [[pool]] and [[pool.node]], which repeat and therefore stand apart; for reading and documentation.
struct PoolKey {
  std::string_view table;  // "pool" or "pool.node"
  std::string_view key;
  std::string_view type;
  std::string_view otherwise;  // the default as it is written
  std::string_view what;
};
std::span<const PoolKey> pool_keys();

// "integer, 1 to 64", "duration, 10ms to 1m", "everysec, always or no".
std::string describe_values(const Setting& setting);
// The value as it would be written in the file.
std::string format_value(const Setting& setting, const Config& config);
// docs/config.md.
std::string config_document();

}  // namespace slipring::cli
