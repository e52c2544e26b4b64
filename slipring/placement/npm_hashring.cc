#include "slipring/placement/npm_hashring.h"

#include <cmath>

#include "slipring/base/check.h"
#include "slipring/hash/hashkit.h"
#include "slipring/hash/load.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

using Words = std::vector<uint32_t>;

template <typename Digest>
Words words_of(const Digest& digest) {
  Words words;
  for (size_t i = 0; i < digest.size(); i += 4) words.push_back(load_le32(digest.data() + i));
  return words;
}

uint32_t sha1_first_word(std::string_view key) {
  return load_le32(sha1(key).data());
}
uint32_t sha256_first_word(std::string_view key) {
  return load_le32(sha256(key).data());
}

struct Algorithm {
  std::string_view name;
  Words (*words)(std::string_view);
  KeyHash32 first_word;
};

constexpr Algorithm kAlgorithms[] = {
    {"md5", [](std::string_view s) { return words_of(md5(s)); }, md5_first_word},
    {"sha1", [](std::string_view s) { return words_of(sha1(s)); }, sha1_first_word},
    {"sha256", [](std::string_view s) { return words_of(sha256(s)); }, sha256_first_word},
};

const Algorithm& algorithm_named(std::string_view name) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name) return algorithm;
  }
  check_failed(__FILE__, __LINE__, "algorithm", "algorithm from the table of options");
}

struct Settings {
  const Algorithm* algorithm = &kAlgorithms[0];
  uint32_t vnodes = 40;
  uint32_t replicas = 4;
  std::string default_port;  // empty: none
};

// The label without the port if that is `port`. The package cuts labels at every ':', so the address of an IPv6 server
// has no port for it.
std::string_view without_port(std::string_view label, std::string_view port) {
  const size_t colon = label.find(':');
  if (port.empty() || colon == label.npos || label.find(':', colon + 1) != label.npos) return label;
  return label.substr(colon + 1) == port ? label.substr(0, colon) : label;
}

// Points that one server has: digests of label-0, label-1, ...; words beyond the end of a digest are 0.
Status add_points(const Server& server, uint64_t digests, const Settings& settings, Points32* out) {
  SLIPRING_TRY(check_points(out->size() + digests * settings.replicas));
  const std::string_view name = without_port(server.label, settings.default_port);
  for (uint64_t i = 0; i < digests; ++i) {
    const Words words = settings.algorithm->words(fmt::format("{}-{}", name, i));
    for (size_t j = 0; j < settings.replicas; ++j) out->push_back({j < words.size() ? words[j] : 0, server.member});
  }
  return {};
}

// In doubles of the weights as written, as JavaScript does it.
uint64_t digests_of(const Server& server, uint64_t own_vnodes, double total, size_t servers, const Settings& settings) {
  const uint64_t vnodes = own_vnodes == 0 ? settings.vnodes : own_vnodes;
  if (vnodes != settings.vnodes) return vnodes;
  const double share = static_cast<double>(server.weight_milli) / 1000 / total;
  return static_cast<uint64_t>(std::floor(share * static_cast<double>(vnodes) * static_cast<double>(servers)));
}

Result<std::unique_ptr<const Scheme>> make_ring(const SchemeInput& input, const Settings& settings) {
  const ServerList servers = servers_zero_as_one(input);
  SLIPRING_TRY(check_distinct_labels(servers));
  double total = 0;
  for (const Server& server : servers) total += static_cast<double>(server.weight_milli) / 1000;
  Points32 points;
  for (const Server& server : servers) {
    const uint64_t own_vnodes = input.attributes[server.member].unsigned_integer("vnodes");
    const uint64_t digests = digests_of(server, own_vnodes, total, servers.size(), settings);
    SLIPRING_TRY(add_points(server, digests, settings, &points));
  }
  if (points.empty()) return fail(Code::kInvalidArgument, "no server has a point");
  return make_hashed_ring(input, std::move(points), Ties::kKeepInOrder, settings.algorithm->first_word);
}

Result<std::unique_ptr<const Scheme>> make_hashring(const SchemeInput& input) {
  Settings settings;
  settings.algorithm = &algorithm_named(input.options.text("algorithm"));
  settings.vnodes = static_cast<uint32_t>(input.options.unsigned_integer("vnode_count"));
  settings.replicas = static_cast<uint32_t>(input.options.unsigned_integer("replicas"));
  const std::string_view compatibility = input.options.text("compatibility");
  if (compatibility != "none") settings.replicas = compatibility == "hash_ring" ? 3 : 4;
  if (input.options.given("default_port")) settings.default_port = input.options.text("default_port");
  return make_ring(input, settings);
}

Result<std::unique_ptr<const Scheme>> make_memcached(const SchemeInput& input) {
  Settings settings;
  settings.default_port = "11211";
  return make_ring(input, settings);
}

const ParameterInfo kVnodesAttribute = {"vnodes", ParameterType::kUnsigned, "0", "0..1000000",
                                        "the server's own vnodes; 0: by its weight"};

}  // namespace

const SchemeDefinition& npm_hashring_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "npm-hashring",
               .system = "npm hashring 3.2.0",
               .source = "hashring 3.2.0: index.js",
               .summary = "ketama ring with point counts in doubles; weight 0 counts as 1",
               .options = {{"algorithm", ParameterType::kChoice, "md5", "md5|sha1|sha256", "digest of points and keys"},
                           {"vnode_count", ParameterType::kUnsigned, "40", "1..1000000", "digests a server"},
                           {"replicas", ParameterType::kUnsigned, "4", "1..16", "words taken of each digest"},
                           {"compatibility", ParameterType::kChoice, "none", "none|ketama|hash_ring",
                            "ketama: 4 replicas, hash_ring: 3; wins over replicas"},
                           {"default_port", ParameterType::kText, "", "", "a port that is not hashed"}},
               .attributes = {kVnodesAttribute},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .preference_lists = true,
               .disruption = "about 1/n of all keys",
               .cost = "one digest and one ring search, about 12 bytes a point"},
      .make = make_hashring};
  return definition;
}

const SchemeDefinition& npm_memcached_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "npm-memcached",
               .system = "npm memcached 2.2.2",
               .source = "memcached 2.2.2: lib/memcached.js over hashring 3.2.0",
               .summary = "npm-hashring with MD5, ketama compatibility and default port 11211",
               .attributes = {kVnodesAttribute},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .preference_lists = true,
               .disruption = "about 1/n of all keys",
               .cost = "one MD5 and one ring search, about 12 bytes a point"},
      .make = make_memcached};
  return definition;
}

}  // namespace slipring
