#include "slipring/control/api_types.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

#include "slipring/base/parse.h"
#include "slipring/control/api_fields.h"
#include "slipring/control/base64.h"

namespace slipring::control {
namespace {

using nlohmann::json;

bool is_utf8(const std::string& bytes) {
  try {
    static_cast<void>(json(bytes).dump());
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

// ---- writing
// ---------------------------------------------------------------------------------------------------------

class Writer {
 public:
  template <typename T>
  static json object(const T& value) {
    Writer writer;
    fields(writer, value);
    return std::move(writer.out_);
  }

  template <typename T>
  void operator()(const char* name, const T& field) {
    out_[name] = value(field);
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& field) {
    if (field) out_[name] = value(*field);
  }
  template <typename T>
  void must(const char* name, const T& field) {
    (*this)(name, field);
  }
  void weight(const char* name, int64_t milli) {
    if (milli % 1000 == 0) {
      out_[name] = milli / 1000;
    } else {
      out_[name] = static_cast<double>(milli) / 1000.0;
    }
  }
  void must_weight(const char* name, int64_t milli) { weight(name, milli); }
  void bytes(const char* name, const std::string& field) { out_[name] = bytes_value(field); }
  void must_bytes_list(const char* name, const std::vector<std::string>& list) {
    json& array = out_[name] = json::array();
    for (const std::string& item : list) array.push_back(bytes_value(item));
  }

 private:
  static json bytes_value(const std::string& field) {
    return is_utf8(field) ? json(field) : json{{"base64", base64_encode(field)}};
  }
  template <typename T>
  static json value(const T& field) {
    if constexpr (std::is_enum_v<T>) {
      return enum_name(field);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return field;
    } else {
      return object(field);
    }
  }
  template <typename T>
  static json value(const std::vector<T>& list) {
    json array = json::array();
    for (const T& item : list) array.push_back(value(item));
    return array;
  }
  static json value(const Change& change) {
    json out = std::visit([](const auto& c) { return object(c); }, change);
    out["type"] = kChangeTypes[change.index()];
    return out;
  }

  json out_ = json::object();
};

// ---- reading
// ---------------------------------------------------------------------------------------------------------

// Reads one object; the first error is kept with the path to its field.
class Reader {
 public:
  Reader(const json& in, UnknownFields unknown, std::string path, std::string& error)
      : in_(in), unknown_(unknown), path_(std::move(path)), error_(error) {}

  template <typename T>
  void object(T& out) {
    if (!in_.is_object()) return wrong(path_, "must be an object");
    fields(*this, out);
    refuse_unknown();
  }

  template <typename T>
  void operator()(const char* name, T& field) {
    if (const json* found = find(name)) read(*found, at(name), field);
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& field) {
    if (const json* found = find(name)) read(*found, at(name), field.emplace());
  }
  template <typename T>
  void must(const char* name, T& field) {
    if (require(name)) (*this)(name, field);
  }
  void weight(const char* name, int64_t& milli) {
    if (const json* found = find(name)) read_weight(*found, at(name), milli);
  }
  void must_weight(const char* name, int64_t& milli) {
    if (require(name)) weight(name, milli);
  }
  void bytes(const char* name, std::string& field) {
    if (const json* found = find(name)) read_bytes(*found, at(name), field);
  }
  void must_bytes_list(const char* name, std::vector<std::string>& list) {
    if (!require(name)) return;
    const json* found = find(name);
    if (!found->is_array()) return wrong(at(name), "must be an array");
    for (const json& item : *found) read_bytes(item, at(name) + "[]", list.emplace_back());
  }

 private:
  const json* find(const char* name) {
    known_.emplace_back(name);
    const auto it = in_.find(name);
    return it == in_.end() || it->is_null() ? nullptr : &*it;
  }
  std::string at(const char* name) const { return path_.empty() ? name : path_ + "." + name; }
  bool require(const char* name) {
    const bool there = in_.contains(name) && !in_[name].is_null();
    if (!there) wrong(at(name), "is missing");
    return there;
  }
  void wrong(const std::string& where, std::string_view what) {
    if (error_.empty()) error_ = where.empty() ? std::string(what) : fmt::format("{}: {}", where, what);
  }
  void refuse_unknown() {
    if (unknown_ == UnknownFields::kLenient) return;
    for (const auto& item : in_.items()) {
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
        wrong(at(item.key().substr(0, 64).c_str()), "is no known field");
      }
    }
  }

  template <typename T>
  void read(const json& in, const std::string& where, T& out) {
    if constexpr (std::is_enum_v<T>) {
      if (!in.is_string()) return wrong(where, "must be a string");
      const auto value = enum_value<T>(in.get_ref<const std::string&>());
      value ? void(out = *value) : wrong(where, value.error().message);
    } else if constexpr (std::is_same_v<T, bool>) {
      in.is_boolean() ? void(out = in.get<bool>()) : wrong(where, "must be true or false");
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(in, where, out);
    } else if constexpr (std::is_floating_point_v<T>) {
      in.is_number() ? void(out = in.get<T>()) : wrong(where, "must be a number");
    } else if constexpr (std::is_same_v<T, std::string>) {
      in.is_string() ? void(out = in.get<std::string>()) : wrong(where, "must be a string");
    } else {
      Reader(in, unknown_, where, error_).object(out);
    }
  }
  template <typename T>
  void read(const json& in, const std::string& where, std::vector<T>& list) {
    if (!in.is_array()) return wrong(where, "must be an array");
    for (const json& item : in) read(item, where + "[]", list.emplace_back());
  }
  void read(const json& in, const std::string& where, Change& change) {
    const bool typed = in.is_object() && in.contains("type") && in["type"].is_string();
    const std::string type = typed ? in["type"].get<std::string>() : "";
    if (type == kChangeTypes[0]) return read_change(in, where, change.emplace<NodeAdd>());
    if (type == kChangeTypes[1]) return read_change(in, where, change.emplace<NodeRemove>());
    if (type == kChangeTypes[2]) return read_change(in, where, change.emplace<NodeWeight>());
    wrong(where + ".type", fmt::format("must be one of {}", fmt::join(kChangeTypes, ", ")));
  }
  template <typename T>
  void read_change(const json& in, const std::string& where, T& out) {
    Reader reader(in, unknown_, where, error_);
    reader.known_.emplace_back("type");
    reader.object(out);
  }
  template <typename T>
  void read_integer(const json& in, const std::string& where, T& out) {
    constexpr auto kMax = std::numeric_limits<T>::max();
    const bool fits = in.is_number_unsigned() ? in.get<uint64_t>() <= static_cast<uint64_t>(kMax)
                                              : in.is_number_integer() && std::is_signed_v<T>;
    fits ? void(out = in.get<T>()) : wrong(where, fmt::format("must be an integer of at most {}", kMax));
  }
  void read_weight(const json& in, const std::string& where, int64_t& milli) {
    const double scaled = in.is_number() ? in.get<double>() * 1000.0 : -1.0;
    const double whole = std::round(scaled);
    if (!(whole >= 0 && whole <= static_cast<double>(kWeightMilliMax)) || std::abs(scaled - whole) > 1e-6) {
      return wrong(where, "must be a number from 0 to 1000 with at most three places");
    }
    milli = static_cast<int64_t>(whole);
  }
  void read_bytes(const json& in, const std::string& where, std::string& out) {
    if (in.is_string()) return void(out = in.get<std::string>());
    if (!in.is_object() || in.size() != 1 || !in.contains("base64") || !in["base64"].is_string()) {
      return wrong(where, "must be a string or {\"base64\": \"...\"}");
    }
    auto bytes = base64_decode(in["base64"].get_ref<const std::string&>());
    bytes ? void(out = std::move(*bytes)) : wrong(where, bytes.error().message);
  }

  const json& in_;
  UnknownFields unknown_;
  std::string path_;
  std::string& error_;
  std::vector<std::string> known_;
};

template <typename T>
std::string dump(const T& value, int indent) {
  return Writer::object(value).dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace

template <typename T>
std::string encode_json(const T& value) {
  return dump(value, -1);
}

template <typename T>
std::string encode_json_pretty(const T& value) {
  return dump(value, 2);
}

template <typename T>
Result<T> decode_json(std::string_view text, UnknownFields unknown) {
  const json parsed = text.empty() ? json::object() : json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(Code::kInvalidArgument, "the body is not valid JSON");
  T value;
  std::string error;
  Reader(parsed, unknown, "", error).object(value);
  if (!error.empty()) return fail(Code::kInvalidArgument, error);
  return value;
}

#define SLIPRING_JSON_TYPE(T)                           \
  template std::string encode_json<T>(const T&);        \
  template std::string encode_json_pretty<T>(const T&); \
  template Result<T> decode_json<T>(std::string_view, UnknownFields);
SLIPRING_JSON_TYPE(ClusterStatus)
SLIPRING_JSON_TYPE(LocateRequest)
SLIPRING_JSON_TYPE(LocateAnswer)
SLIPRING_JSON_TYPE(ChangeRequest)
SLIPRING_JSON_TYPE(PlanPreview)
SLIPRING_JSON_TYPE(StartRequest)
SLIPRING_JSON_TYPE(Started)
SLIPRING_JSON_TYPE(PlanSummary)
SLIPRING_JSON_TYPE(PlansAnswer)
SLIPRING_JSON_TYPE(PlanDetail)
SLIPRING_JSON_TYPE(EventsAnswer)
SLIPRING_JSON_TYPE(ActRequest)
SLIPRING_JSON_TYPE(DecideRequest)
SLIPRING_JSON_TYPE(SpawnRequest)
SLIPRING_JSON_TYPE(SpawnAnswer)
SLIPRING_JSON_TYPE(EpochAnswer)
SLIPRING_JSON_TYPE(DoneAnswer)
SLIPRING_JSON_TYPE(ErrorBody)
SLIPRING_JSON_TYPE(PoolStatus)
#undef SLIPRING_JSON_TYPE

std::string_view name_of(Severity value) {
  return enum_name(value);
}
std::string_view name_of(NodeState value) {
  return enum_name(value);
}
std::string_view name_of(RouterState value) {
  return enum_name(value);
}
std::string_view name_of(PlanState value) {
  return enum_name(value);
}
std::string_view name_of(MoveStage value) {
  return enum_name(value);
}
std::string_view name_of(PlanAction value) {
  return enum_name(value);
}
std::string_view name_of(Choice value) {
  return enum_name(value);
}

Result<PlanAction> parse_plan_action(std::string_view name) {
  return enum_value<PlanAction>(name);
}
Result<Choice> parse_choice(std::string_view name) {
  return enum_value<Choice>(name);
}

Code code_of(std::string_view name) {
  for (int i = static_cast<int>(Code::kCancelled); i <= static_cast<int>(Code::kUnauthenticated); ++i) {
    if (code_name(static_cast<Code>(i)) == name) return static_cast<Code>(i);
  }
  return Code::kUnknown;
}

}  // namespace slipring::control
