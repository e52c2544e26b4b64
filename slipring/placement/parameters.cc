#include "slipring/placement/parameters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "slipring/base/check.h"
#include "slipring/base/parse.h"

namespace slipring {
namespace {

constexpr std::string_view kRangeMark = "..";

std::string_view type_name(ParameterType type) {
  switch (type) {
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kUnsigned:
      return "unsigned integer";
    case ParameterType::kDecimal:
      return "decimal";
    case ParameterType::kFlag:
      return "true|false";
    case ParameterType::kChoice:
      return "choice";
    case ParameterType::kText:
      return "text";
  }
  return "text";
}

const ParameterInfo* find(std::span<const ParameterInfo> table, std::string_view name) {
  for (const ParameterInfo& info : table) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

// Both ends of "min..max"; empty views without a range.
std::pair<std::string_view, std::string_view> range_of(const ParameterInfo& info) {
  const size_t mark = info.allowed.find(kRangeMark);
  if (mark == std::string_view::npos) return {};
  return {info.allowed.substr(0, mark), info.allowed.substr(mark + kRangeMark.size())};
}

template <typename Number>
bool parse_number(std::string_view text, Number* out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return ec == std::errc() && end == text.data() + text.size();
}

template <typename Number>
bool in_range(const ParameterInfo& info, std::string_view text) {
  Number value{};
  if (!parse_number(text, &value)) return false;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return false;
  }
  const auto [low_text, high_text] = range_of(info);
  if (low_text.empty()) return true;
  Number low{};
  Number high{};
  SLIPRING_CHECK(parse_number(low_text, &low) && parse_number(high_text, &high), "range of a parameter table");
  return value >= low && value <= high;
}

bool is_choice(std::string_view allowed, std::string_view text) {
  while (!allowed.empty()) {
    const size_t bar = allowed.find('|');
    if (allowed.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    allowed.remove_prefix(bar + 1);
  }
  return false;
}

bool fits(const ParameterInfo& info, std::string_view text) {
  switch (info.type) {
    case ParameterType::kInteger:
      return in_range<int64_t>(info, text);
    case ParameterType::kUnsigned:
      return in_range<uint64_t>(info, text);
    case ParameterType::kDecimal:
      return in_range<double>(info, text);
    case ParameterType::kFlag:
      return text == "true" || text == "false";
    case ParameterType::kChoice:
      return is_choice(info.allowed, text);
    case ParameterType::kText:
      return true;
  }
  return false;
}

std::string names_of(std::span<const ParameterInfo> table) {
  std::string names;
  for (const ParameterInfo& info : table) {
    if (!names.empty()) names += ", ";
    names += info.name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::string describe_allowed(const ParameterInfo& info) {
  if (info.type == ParameterType::kChoice) return std::string(info.allowed);
  if (info.allowed.empty()) return std::string(type_name(info.type));
  return fmt::format("{} {}", type_name(info.type), info.allowed);
}

Result<Parameters> Parameters::check(std::span<const ParameterInfo> table, const Values& values,
                                     std::string_view what) {
  for (const auto& [name, text] : values) {
    const ParameterInfo* info = find(table, name);
    if (info == nullptr) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} \"{}\": unknown; allowed: {}", what, name.substr(0, 64), names_of(table)));
    }
    if (!fits(*info, text)) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} {}: \"{}\": must be {}", what, name, text.substr(0, 64), describe_allowed(*info)));
    }
  }
  Parameters checked;
  checked.table_ = table;
  checked.values_ = &values;
  return checked;
}

bool Parameters::given(std::string_view name) const {
  SLIPRING_CHECK(find(table_, name) != nullptr, "parameter in its table");
  return values_->contains(std::string(name));
}

std::string_view Parameters::value(std::string_view name, ParameterType type) const {
  const ParameterInfo* info = find(table_, name);
  SLIPRING_CHECK(info != nullptr && info->type == type, "parameter in its table with this type");
  const auto it = values_->find(std::string(name));
  return it == values_->end() ? info->default_value : std::string_view(it->second);
}

int64_t Parameters::integer(std::string_view name) const {
  int64_t v = 0;
  SLIPRING_CHECK(parse_number(value(name, ParameterType::kInteger), &v), "checked integer or default");
  return v;
}

uint64_t Parameters::unsigned_integer(std::string_view name) const {
  uint64_t v = 0;
  SLIPRING_CHECK(parse_number(value(name, ParameterType::kUnsigned), &v), "checked unsigned integer or default");
  return v;
}

double Parameters::decimal(std::string_view name) const {
  double v = 0;
  SLIPRING_CHECK(parse_number(value(name, ParameterType::kDecimal), &v), "checked decimal or default");
  return v;
}

bool Parameters::flag(std::string_view name) const {
  return value(name, ParameterType::kFlag) == "true";
}

std::string_view Parameters::text(std::string_view name) const {
  const ParameterInfo* info = find(table_, name);
  SLIPRING_CHECK(info != nullptr, "parameter in its table");
  return value(name, info->type == ParameterType::kChoice ? ParameterType::kChoice : ParameterType::kText);
}

Result<std::pair<std::string, std::string>> parse_option(std::string_view text) {
  const size_t equals = text.starts_with("override.") ? text.rfind('=') : text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(Code::kInvalidArgument, fmt::format("option \"{}\": write name=value", text.substr(0, 64)));
  }
  return std::pair<std::string, std::string>(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace slipring
