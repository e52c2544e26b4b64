// A libmemcached configuration string: --OPTION and --OPTION=VALUE, blanks between, case of options ignored.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "slipring/base/parse.h"
#include "slipring/import/text_words.h"

namespace slipring::import {
namespace {

struct Setting {
  Mark at;
  std::string name;  // upper case
  bool has_value = false;
  std::string value;
};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// Those that a string may hold besides, without effect on placement.
constexpr std::string_view kHarmless[] = {"BINARY-PROTOCOL",
                                          "BUFFER-REQUESTS",
                                          "CONNECT-TIMEOUT",
                                          "FETCH-VERSION",
                                          "IO-BYTES-WATERMARK",
                                          "IO-KEY-PREFETCH",
                                          "IO-MSG-WATERMARK",
                                          "NOREPLY",
                                          "RANDOMIZE-REPLICA-READ",
                                          "POLL-TIMEOUT",
                                          "POOL-MIN",
                                          "POOL-MAX",
                                          "RCV-TIMEOUT",
                                          "RETRY-TIMEOUT",
                                          "SND-TIMEOUT",
                                          "SOCKET-RECV-SIZE",
                                          "SOCKET-SEND-SIZE",
                                          "SUPPORT-CAS",
                                          "TCP-NODELAY",
                                          "TCP-KEEPALIVE",
                                          "TCP-KEEPIDLE",
                                          "USER-DATA",
                                          "VERIFY-KEY",
                                          "DEAD-TIMEOUT",
                                          "TIMEOUT"};

class Reader {
 public:
  explicit Reader(Draft& draft) : draft_(draft) {}

  Status take(const Setting& setting) {
    const std::string& name = setting.name;
    if (name == "SERVER") return take_server(setting);
    if (name == "DISTRIBUTION") return take_distribution(setting);
    if (name == "HASH") return take_hash(setting);
    if (name == "NAMESPACE") {
      draft_.pool().key_prefix = setting.value;
      namespace_at_ = setting.at;
      return {};
    }
    if (name == "HASH-WITH-NAMESPACE") {
      hash_with_namespace_ = true;
      return {};
    }
    if (name == "SORT-HOSTS") {
      draft_.scheme_options()["sort_hosts"] = "true";
      return {};
    }
    return take_other(setting);
  }

  Status end() {
    if (!draft_.pool().key_prefix.empty() && !hash_with_namespace_) {
      return draft_.refused(namespace_at_,
                            "NAMESPACE without HASH-WITH-NAMESPACE: keys are stored with a prefix that is "
                            "not hashed");
    }
    const bool weighted = std::any_of(draft_.pool().layout.nodes.begin(), draft_.pool().layout.nodes.end(),
                                      [](const Node& node) { return node.weight_milli > 1000; });
    if (consistent_ && !weighted && hash_ != points_hash_)
      return draft_.refused(hash_at_,
                            "HASH behind the servers and the distribution: their points keep the hash before");
    draft_.scheme_options()["hash"] = hash_;
    return {};
  }

 private:
  // "host", "host:port", "host:port/?weight".
  Status take_server(const Setting& setting) {
    const size_t mark = setting.value.find("/?");
    const std::string address = setting.value.substr(0, mark);
    if (address.empty()) return draft_.broken(setting.at, "SERVER: a host must follow");
    const std::string full = address.find(':') == address.npos ? address + ":11211" : address;
    SLIPRING_ASSIGN(Node * node, draft_.add_node(setting.at, address, full, full));
    if (mark != setting.value.npos) {
      SLIPRING_ASSIGN(node->weight_milli,
                      weight_of(draft_, setting.at, std::string_view(setting.value).substr(mark + 2)));
    }
    if (draft_.servers_at.line == 0) draft_.servers_at = setting.at;
    points_hash_ = hash_;
    return {};
  }

  Status take_distribution(const Setting& setting) {
    const std::string value = upper(setting.value);
    const std::string name = value.substr(0, value.find(','));
    if (name == "RANDOM") return draft_.refused(setting.at, "DISTRIBUTION RANDOM: a key has no server of its own");
    if (name != "CONSISTENT" && name != "MODULA")
      return draft_.broken(setting.at, fmt::format("DISTRIBUTION \"{}\": must be CONSISTENT, MODULA or RANDOM", name));
    consistent_ = name == "CONSISTENT";
    draft_.scheme_options()["distribution"] = consistent_ ? "consistent" : "modula";
    if (value.size() > name.size())
      draft_.note(setting.at,
                  fmt::format("DISTRIBUTION{}: libmemcached does not use this hash", value.substr(name.size())));
    points_hash_ = hash_;
    return {};
  }

  Status take_hash(const Setting& setting) {
    const std::set<std::string> known = {"MD5",     "CRC",      "FNV1_64", "FNV1A_64",
                                         "FNV1_32", "FNV1A_32", "MURMUR",  "JENKINS"};
    const std::string value = upper(setting.value);
    if (!known.contains(value))
      return draft_.broken(setting.at, fmt::format("HASH \"{}\": must be one of {}", value, fmt::join(known, ", ")));
    hash_.clear();
    for (const char c : value) hash_.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    hash_at_ = setting.at;
    return {};
  }

  Status take_other(const Setting& setting) {
    const std::string& name = setting.name;
    if (name == "SOCKET")
      return draft_.refused(setting.at, "SOCKET: a Unix socket; routers reach servers by host:port");
    if (name == "CONFIGURE-FILE") return draft_.refused(setting.at, "CONFIGURE-FILE: not followed: give that file");
    if (name == "USE-UDP") return draft_.refused(setting.at, "USE-UDP: routers reach servers by TCP");
    if (name == "NUMBER-OF-REPLICAS" || name == "REMOVE-FAILED-SERVERS" || name == "REMOVE_FAILED_SERVERS") {
      draft_.note(setting.at, fmt::format("{}: not carried over: a key lies on its owner only", name));
      return {};
    }
    if (std::find(std::begin(kHarmless), std::end(kHarmless), name) == std::end(kHarmless))
      return draft_.broken(setting.at, fmt::format("--{}: libmemcached has no such option", name.substr(0, 64)));
    draft_.note(setting.at, fmt::format("{}: not carried over: no part of placement", name));
    return {};
  }

  Draft& draft_;
  bool consistent_ = false;
  std::string hash_ = "default";
  std::string points_hash_ = "default";  // that the ring was last built with
  Mark hash_at_;
  Mark namespace_at_;
  bool hash_with_namespace_ = false;
};

// --NAME, --NAME=VALUE or --NAME="VALUE".
Result<Setting> parse_setting(TextWords& words, const Draft& draft) {
  Setting setting;
  setting.at = words.here();
  if (!words.take("--")) return draft.broken(setting.at, "an option begins with --");
  setting.name = upper(words.take_until(" \t\r\n="));
  if (setting.name.empty()) return draft.broken(setting.at, "an option without a name");
  setting.has_value = words.take("=");
  if (!setting.has_value) return setting;
  const Mark start = words.here();
  if (!words.take("\"")) {
    setting.value = words.take_until(" \t\r\n");
  } else {
    setting.value = words.take_until("\"");
    if (!words.take("\"")) return draft.broken(start, "the quote is not closed");
  }
  if (setting.value.empty()) return draft.broken(start, fmt::format("--{}: its value is missing", setting.name));
  return setting;
}

}  // namespace

Status read_libmemcached(std::string_view text, const Options&, Draft& draft) {
  draft.set_scheme("libmemcached");
  draft.scheme_options()["distribution"] = "modula";
  draft.set_protocol(Protocol::kMemcached);
  Reader reader(draft);
  TextWords words(text);
  while (words.skip_blanks()) {
    SLIPRING_ASSIGN(const Setting setting, parse_setting(words, draft));
    SLIPRING_TRY(reader.take(setting));
  }
  return reader.end();
}

}  // namespace slipring::import
