#include "slipring/lab/analysis/keys.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/base/random.h"

namespace slipring::lab {

std::vector<std::string_view> KeySet::names() const {
  std::vector<std::string_view> views;
  views.reserve(keys.size());
  for (const LabKey& key : keys) views.push_back(key.name);
  return views;
}

std::optional<KeyShape> parse_key_shape(std::string_view name) {
  if (name == "uniform") return KeyShape::kUniform;
  if (name == "sequential") return KeyShape::kSequential;
  if (name == "zipf") return KeyShape::kZipf;
  return std::nullopt;
}

KeySet synthetic_keys(uint64_t count, KeyShape shape, uint64_t seed) {
  KeySet set;
  const char* name = shape == KeyShape::kUniform ? "uniform" : shape == KeyShape::kSequential ? "sequential" : "zipf";
  set.origin = fmt::format("{} {} keys, seed {}", count, name, seed);
  set.keys.reserve(count);
  Random random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    LabKey key;
    key.name = shape == KeyShape::kUniform ? fmt::format("key:{:016x}", random.next()) : fmt::format("key:{}", i);
    if (shape == KeyShape::kZipf) key.lookups = 1.0 / static_cast<double>(i + 1);
    set.keys.push_back(std::move(key));
  }
  return set;
}

Result<KeySet> parse_keys(std::string_view text, std::string_view origin) {
  KeySet set;
  for (uint64_t line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    LabKey key;
    const size_t tab = row.rfind('\t');
    key.name = row.substr(0, tab);
    if (tab != std::string_view::npos) {
      const auto bytes = parse_u64(row.substr(tab + 1), 0, uint64_t{1} << 40);
      if (!bytes) {
        return fail(Code::kInvalidArgument,
                    fmt::format("{}: line {}: the size behind the tab: {}", origin, line, bytes.error().message));
      }
      key.bytes = *bytes;
      set.has_bytes = true;
    }
    if (set.keys.size() == kLabKeysMax) {
      return fail(Code::kInvalidArgument, fmt::format("{}: more than {} keys", origin, kLabKeysMax));
    }
    set.keys.push_back(std::move(key));
  }
  if (set.keys.empty()) return fail(Code::kInvalidArgument, fmt::format("{}: holds no key", origin));
  set.origin = fmt::format("{} keys of {}", set.keys.size(), origin);
  return set;
}

}  // namespace slipring::lab
