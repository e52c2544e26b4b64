#include "slipring/placement/squid_carp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

// Bytes are signed.
uint32_t add_text(uint32_t h, std::string_view text) {
  for (const char c : text)
    h += std::rotl(h, 19) + static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
  return h;
}

uint32_t finish(uint32_t h) {
  return std::rotl(h + h * 0x62531965u, 21);
}

struct Peer {
  NodeIndex member = 0;
  uint32_t weight = 1;
  uint32_t hash = 0;
  double multiplier = 0;
};

// The multipliers of the CARP draft, by its recurrence over the peers' shares, lightest first.
void set_multipliers(std::vector<Peer>* peers) {
  double total = 0;
  for (const Peer& peer : *peers) total += peer.weight;
  double last_share = 0;
  double last_multiplier = 0;
  double product = 1;
  auto left = static_cast<double>(peers->size());
  for (Peer& peer : *peers) {
    double share = peer.weight / total;
    if (std::floor(share * 1000.0) == 0.0) share = 0.0;
    peer.multiplier = (left * (share - last_share)) / product;
    peer.multiplier += std::pow(last_multiplier, left);
    peer.multiplier = std::pow(peer.multiplier, 1.0 / left);
    product *= peer.multiplier;
    last_multiplier = peer.multiplier;
    last_share = share;
    left -= 1;
  }
}

// What carp-key selects of a URL.
struct KeyParts {
  bool scheme = false;
  bool host = false;
  bool port = false;
  bool path = false;
  bool params = false;

  bool any() const { return scheme || host || port || path || params; }
};

std::string_view default_port(std::string_view scheme) {
  if (scheme == "https") return "443";
  if (scheme == "ftp") return "21";
  return "80";
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// A URL taken apart as Squid keeps it. What has no "scheme://" is all host and path.
struct Url {
  std::string scheme;     // lower case; empty if there is none
  std::string host;       // lower case
  std::string_view port;  // empty if none is written
  std::string_view path;  // with the query

  explicit Url(std::string_view text) {
    const size_t mark = text.find("://");
    if (mark != text.npos) scheme = lower(text.substr(0, mark));
    const std::string_view rest = mark == text.npos ? text : text.substr(mark + 3);
    const size_t slash = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view authority = rest.substr(0, slash);
    const ServerAddress address = split_address(authority);
    port = address.port;
    host = lower(port.empty() ? authority : authority.substr(0, authority.size() - port.size() - 1));
    path = rest.substr(slash);
  }
};

// Squid writes the host in lower case and leaves out a port that the scheme has anyway.
std::string canonical(std::string_view text) {
  const Url url(text);
  if (url.scheme.empty()) return std::string(text);
  std::string out = url.scheme + "://" + url.host;
  if (!url.port.empty() && url.port != default_port(url.scheme)) out.append(":").append(url.port);
  return out.append(url.path.empty() ? "/" : url.path);
}

// "scheme://host:port/path?params" without the parts that are not wanted.
std::string select_parts(std::string_view text, const KeyParts& parts) {
  const Url url(text);
  std::string key;
  const size_t question = std::min(url.path.find('?'), url.path.size());
  if (parts.scheme && !url.scheme.empty()) key.append(url.scheme).append("://");
  if (parts.host) key.append(url.host);
  if (parts.port) key.append(":").append(url.port.empty() ? default_port(url.scheme) : url.port);
  if (parts.path) key.append(url.path.substr(0, question));
  if (parts.params) key.append(url.path.substr(question));
  return key;
}

class Carp final : public Scheme {
 public:
  Carp(size_t member_count, std::vector<Peer> peers, KeyParts parts)
      : Scheme(member_count), peers_(std::move(peers)), parts_(parts) {}

  NodeIndex owner(std::string_view key) const override {
    NodeIndex first = kNoNode;
    preference_list(key, {&first, 1});
    return first;
  }

  // By falling score. Where no score is above 0 Squid asks no peer; here the heaviest then comes first.
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    std::vector<std::pair<double, NodeIndex>> scored = scores(key);
    if (scored.size() > 1 && std::none_of(scored.begin(), scored.end(), [](const auto& s) { return s.first > 0; }))
      std::rotate(scored.begin(), scored.end() - 1, scored.end());
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const size_t count = std::min(out.size(), scored.size());
    for (size_t i = 0; i < count; ++i) out[i] = scored[i].second;
    return count;
  }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:08x}", add_text(0, hashed_part(key))), .range = ""};
  }

 private:
  std::string hashed_part(std::string_view url) const {
    std::string key = parts_.any() ? select_parts(url, parts_) : std::string();
    return key.empty() ? canonical(url) : key;
  }

  std::vector<std::pair<double, NodeIndex>> scores(std::string_view url) const {
    const std::string key = hashed_part(url);
    std::vector<std::pair<double, NodeIndex>> scored;
    scored.reserve(peers_.size());
    uint32_t url_hash = 0;
    for (const Peer& peer : peers_) {
      url_hash = add_text(url_hash, key);
      const double score = finish(url_hash ^ peer.hash) * peer.multiplier;
      scored.emplace_back(std::isnan(score) ? 0 : score, peer.member);
    }
    return scored;
  }

  std::vector<Peer> peers_;
  KeyParts parts_;
};

Result<KeyParts> key_parts(std::string_view text) {
  KeyParts parts;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (name == "scheme") {
      parts.scheme = true;
    } else if (name == "host") {
      parts.host = true;
    } else if (name == "port") {
      parts.port = true;
    } else if (name == "path") {
      parts.path = true;
    } else if (name == "params") {
      parts.params = true;
    } else {
      return fail(Code::kInvalidArgument,
                  fmt::format("carp_key \"{}\": must be of scheme, host, port, path, params", name));
    }
  }
  return parts;
}

Result<std::unique_ptr<const Scheme>> make_squid_carp(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  SLIPRING_ASSIGN(const KeyParts parts, key_parts(input.options.text("carp_key")));
  std::vector<Peer> peers;
  for (const Server& server : servers)
    peers.push_back({server.member, server.weight(), finish(add_text(0, server.label)), 0});
  std::stable_sort(peers.begin(), peers.end(), [](const Peer& a, const Peer& b) { return a.weight < b.weight; });
  set_multipliers(&peers);
  return std::make_unique<Carp>(input.members.size(), std::move(peers), parts);
}

}  // namespace

const SchemeDefinition& squid_carp_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "squid-carp",
               .system = "Squid 5.7, CARP",
               .source = "Squid 5.7: src/carp.cc",
               .summary = "CARP as Squid has it: the URL's hash runs on from peer to peer",
               .options = {{"carp_key", ParameterType::kText, "", "",
                            "comma-separated: scheme, host, port, path, params; empty: the whole URL"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "most keys",
               .cost = "the URL hashed once for each peer, no memory"},
      .make = make_squid_carp};
  return definition;
}

}  // namespace slipring
