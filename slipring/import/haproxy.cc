// haproxy.cfg: the `balance`, `hash-type` and `server` lines of one backend or listen section, and what its `defaults`
// say of them. One statement a line; words may be quoted or hold escaped bytes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slipring/base/parse.h"
#include "slipring/import/haproxy_lines.h"

namespace slipring::import {
namespace {

using Words = HaproxyLine;

// Statements of a section by their first word; later ones win, as in HAProxy.
using Statements = std::map<std::string, const Words*>;

struct Section {
  const Words* head = nullptr;
  std::vector<const Words*> lines;
  Statements defaults;  // of the `defaults` section that holds for it

  std::string name() const { return head->words.size() > 1 ? head->words[1] : ""; }
};

constexpr std::string_view kSections[] = {"global",      "defaults",  "frontend",    "backend",       "listen", "peers",
                                          "userlist",    "resolvers", "mailers",     "program",       "cache",  "ring",
                                          "http-errors", "fcgi-app",  "log-forward", "dynamic-update"};
constexpr std::string_view kInherited[] = {"balance", "hash-type", "hash-balance-factor", "default-server"};

bool is_section(const std::string& word) {
  return std::find(std::begin(kSections), std::end(kSections), word) != std::end(kSections);
}

// Named `defaults` are for those that say `from NAME`, the last one for all others.
struct Defaults {
  Statements last;
  std::map<std::string, Statements> named;
};

Statements inherited(const Words& head, const Defaults& defaults) {
  for (size_t i = 1; i + 1 < head.words.size(); ++i) {
    if (head.words[i] != "from") continue;
    const auto it = defaults.named.find(head.words[i + 1]);
    return it == defaults.named.end() ? Statements() : it->second;
  }
  return defaults.last;
}

// The sections with servers.
std::vector<Section> sections_of(const std::vector<Words>& lines) {
  std::vector<Section> found;
  Defaults defaults;
  Statements current;
  std::string name;
  enum { kOther, kDefaults, kBackend } in = kOther;
  const auto end_defaults = [&] {
    if (in != kDefaults) return;
    defaults.last = current;
    if (!name.empty()) defaults.named[name] = current;
  };
  for (const Words& line : lines) {
    const std::string& word = line.words.front();
    if (is_section(word)) {
      end_defaults();
      in = word == "defaults" ? kDefaults : word == "backend" || word == "listen" ? kBackend : kOther;
      name = line.words.size() > 1 && line.words[1] != "from" ? line.words[1] : "";
      current = in == kDefaults && line.words.size() > 2 ? inherited(line, defaults) : Statements();
      if (in == kBackend) found.push_back({&line, {}, inherited(line, defaults)});
    } else if (in == kBackend) {
      found.back().lines.push_back(&line);
    } else if (in == kDefaults &&
               std::find(std::begin(kInherited), std::end(kInherited), word) != std::end(kInherited)) {
      current[word] = &line;
    }
  }
  return found;
}

// ---- what is hashed and how
// ------------------------------------------------------------------------------------------

Status read_balance(const Words& line, Draft& draft) {
  const std::string algorithm = line.words.size() > 1 ? line.words[1] : "";
  const std::string first = line.words.size() > 2 ? line.words[2] : "";
  const Mark at = line.at;
  const std::string front = algorithm.substr(0, algorithm.find('('));
  if (algorithm == "hash") {
    draft.note(at, fmt::format("balance hash: the key is what `{}` gives", first));
  } else if (algorithm == "uri") {
    for (size_t i = 2; i < line.words.size(); ++i) {
      if (line.words[i] == "len" || line.words[i] == "depth")
        return draft.refused(at, fmt::format("balance uri {}: a part of the key is hashed", line.words[i]));
    }
    draft.note(at, first.empty() ? "balance uri: the key is the URI up to the query"
                                 : fmt::format("balance uri {}: the key is what it selects", first));
  } else if (front == "hdr") {
    if (first == "use_domain_only") return draft.refused(at, "use_domain_only: a part of the key is hashed");
    draft.note(at, fmt::format("balance {}: the key is the header's first value, up to a comma", algorithm));
  } else if (algorithm == "url_param") {
    draft.note(at, fmt::format("balance url_param: the key is the value of {}", first));
  } else if (algorithm == "source") {
    return draft.refused(at, "balance source: clients are placed by their addresses, not keys");
  } else {
    return draft.refused(at, fmt::format("balance {}: a key has no server of its own under it", algorithm));
  }
  return {};
}

Status read_hash_type(const Words* line, Draft& draft) {
  auto& options = draft.scheme_options();
  options["hash_type"] = "map-based";  // HAProxy's default
  if (line == nullptr) {
    options["function"] = "sdbm";
    options["avalanche"] = "false";
    return {};
  }
  std::vector<std::string> words(line->words.begin() + 1, line->words.end());
  if (!words.empty()) options["hash_type"] = words[0];
  if (words.size() > 1 && words[1] != "avalanche") {
    if (words[1] == "none") return draft.refused(line->at, "hash-type none: the scheme has no such function");
    options["function"] = words[1];
  } else {
    options["function"] = "sdbm";
  }
  const bool avalanche = std::find(words.begin(), words.end(), "avalanche") != words.end();
  const bool by_default = words.size() == 1 && words[0] == "consistent";
  options["avalanche"] = avalanche || by_default ? "true" : "false";
  return {};
}

// ---- servers
// ---------------------------------------------------------------------------------------------------------

// Parameters of a server that take no argument; every other takes one.
constexpr std::string_view kFlags[] = {"backup",
                                       "check",
                                       "disabled",
                                       "enabled",
                                       "send-proxy",
                                       "send-proxy-v2",
                                       "send-proxy-v2-ssl",
                                       "send-proxy-v2-ssl-cn",
                                       "ssl",
                                       "check-ssl",
                                       "stick",
                                       "non-stick",
                                       "tfo",
                                       "agent-check",
                                       "allow-0rtt",
                                       "check-send-proxy",
                                       "check-via-socks4",
                                       "no-check",
                                       "no-backup",
                                       "no-disabled",
                                       "no-ssl",
                                       "no-check-ssl",
                                       "no-send-proxy",
                                       "no-tfo",
                                       "no-stick",
                                       "no-verifyhost",
                                       "no-agent-check",
                                       "no-check-send-proxy",
                                       "no-send-proxy-v2"};

bool is_flag(const std::string& word) {
  return word.starts_with("no-") || word.starts_with("force-") ||
         std::find(std::begin(kFlags), std::end(kFlags), word) != std::end(kFlags);
}

struct ServerSettings {
  std::string weight = "1";
  std::string id;
  bool backup = false;
  bool disabled = false;
  std::vector<std::string> others;
};

Status read_parameters(const Words& line, size_t from, ServerSettings& settings, const Draft& draft) {
  const std::vector<std::string>& words = line.words;
  for (size_t i = from; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (is_flag(word)) {
      if (word == "backup" || word == "no-backup") settings.backup = word == "backup";
      if (word == "disabled" || word == "enabled" || word == "no-disabled") settings.disabled = word == "disabled";
      if (word != "backup" && word != "disabled" && word != "enabled") settings.others.push_back(word);
      continue;
    }
    if (++i == words.size()) return draft.broken(line.at, fmt::format("{}: its argument is missing", word));
    if (word == "weight") {
      settings.weight = words[i];
    } else if (word == "id") {
      settings.id = words[i];
    } else if (word == "hash-key" && words[i] != "id") {
      return draft.refused(line.at, fmt::format("hash-key {}: points by address are not supported", words[i]));
    } else {
      settings.others.push_back(word);
    }
  }
  return {};
}

Status read_server(const Words& line, ServerSettings settings, Draft& draft) {
  if (line.words.size() < 3) return draft.broken(line.at, "server: a name and an address must follow");
  SLIPRING_TRY(read_parameters(line, 3, settings, draft));
  const std::string& name = line.words[1];
  const std::string& address = line.words[2];
  if (address.find('/') != address.npos || address.find('@') != address.npos)
    return draft.refused(line.at,
                         fmt::format("server {}: address \"{}\": routers reach servers by host:port", name, address));
  SLIPRING_ASSIGN(Node * node, draft.add_node(line.at, name, address));
  SLIPRING_ASSIGN(node->weight_milli, weight_of(draft, line.at, settings.weight));
  if (!settings.id.empty()) node->attributes["id"] = settings.id;
  if (settings.disabled || settings.backup) node->attributes["disabled"] = "true";
  if (settings.backup) {
    if (draft.scheme_options()["hash_type"] == "map-based")
      return draft.refused(line.at, fmt::format("server {}: a backup beside map-based servers", name));
    draft.note(line.at,
               fmt::format("server {}: backup: taken as disabled: it owns keys only when all others are down", name));
  }
  if (!settings.others.empty())
    draft.note(line.at, fmt::format("server {}: not carried over: {}", name, fmt::join(settings.others, ", ")));
  return {};
}

// ---- a section
// -------------------------------------------------------------------------------------------------------

// What sends a key to another server than its hash says.
constexpr std::string_view kBypasses[] = {"cookie",   "stick",   "use-server",    "appsession",
                                          "dispatch", "persist", "force-persist", "server-template"};

Status read_section(const Section& section, Draft& draft) {
  Statements statements = section.defaults;
  for (const Words* line : section.lines) {
    const std::string& word = line->words.front();
    if (std::find(std::begin(kInherited), std::end(kInherited), word) != std::end(kInherited)) {
      statements[word] = line;
    } else if (std::find(std::begin(kBypasses), std::end(kBypasses), word) != std::end(kBypasses)) {
      return draft.refused(line->at, fmt::format("{}: it decides beside the hash where a request goes", word));
    } else if (word != "server") {
      draft.note(line->at, fmt::format("{}: not carried over: no part of placement", word));
    }
  }
  if (!statements.contains("balance"))
    return draft.refused(section.head->at, "no balance: a key has no server of its own under roundrobin");
  SLIPRING_TRY(read_balance(*statements["balance"], draft));
  SLIPRING_TRY(read_hash_type(statements.contains("hash-type") ? statements["hash-type"] : nullptr, draft));
  if (const auto it = statements.find("hash-balance-factor"); it != statements.end()) {
    if (it->second->words.size() < 2 || it->second->words[1] != "0")
      return draft.refused(it->second->at, "hash-balance-factor: where a key goes depends on the load");
  }
  ServerSettings settings;
  if (statements.contains("default-server"))
    SLIPRING_TRY(read_parameters(*statements["default-server"], 1, settings, draft));
  settings.others.clear();
  for (const Words* line : section.lines) {
    if (line->words.front() == "server") SLIPRING_TRY(read_server(*line, settings, draft));
  }
  return {};
}

}  // namespace

Status read_haproxy(std::string_view text, const Options& options, Draft& draft) {
  SLIPRING_ASSIGN(const std::vector<Words> lines, split_haproxy(text, draft));
  std::vector<Section> sections = sections_of(lines);
  const auto serverless = [](const Section& s) {
    return std::none_of(s.lines.begin(), s.lines.end(), [](const Words* line) {
      return line->words.front() == "server" || line->words.front() == "server-template";
    });
  };
  sections.erase(std::remove_if(sections.begin(), sections.end(), serverless), sections.end());
  std::vector<std::string> names;
  for (const Section& section : sections) names.push_back(section.name());
  SLIPRING_ASSIGN(const size_t chosen, choose(draft, "backend", names, options.pool));
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i != chosen)
      draft.note(sections[i].head->at, fmt::format("{} {}: not imported", sections[i].head->words[0], names[i]));
  }
  draft.set_scheme("haproxy");
  draft.set_protocol(options.protocol == Protocol::kUnknown ? Protocol::kHttp : options.protocol);
  draft.set_pool_name(names[chosen]);
  draft.servers_at = sections[chosen].head->at;
  return read_section(sections[chosen], draft);
}

}  // namespace slipring::import
