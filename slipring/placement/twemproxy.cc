#include "slipring/placement/twemproxy.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/check.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/hashkit.h"
#include "slipring/hash/hsieh.h"
#include "slipring/hash/md5.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

// An empty key has hash 0 whatever the function.
template <KeyHash32 hash>
uint32_t hash_of(std::string_view key) {
  return key.empty() ? 0 : hash(key);
}

struct TwemproxyHash {
  std::string_view name;
  KeyHash32 hash;
};

// nutcracker calls the plain CRC-32 crc32a, and crc32 its bits 16 to 30.
constexpr TwemproxyHash kTwemproxyHashes[] = {
    {"one_at_a_time", hash_of<one_at_a_time_signed>},
    {"md5", hash_of<md5_first_word>},
    {"crc16", hash_of<crc16_unmasked>},
    {"crc32", hash_of<crc32_15_bits>},
    {"crc32a", hash_of<plain_crc32>},
    {"fnv1_64", hash_of<fnv1_64_low_signed>},
    {"fnv1a_64", hash_of<fnv1a_64_low_signed>},
    {"fnv1_32", hash_of<fnv1_32_signed>},
    {"fnv1a_32", hash_of<fnv1a_32_signed>},
    {"hsieh", hash_of<hsieh>},
    {"murmur", hash_of<murmur2_length_seed>},
    {"jenkins", hash_of<jenkins_lookup3_13>},
};

KeyHash32 twemproxy_hash(std::string_view name) {
  const auto* const entry = std::find_if(std::begin(kTwemproxyHashes), std::end(kTwemproxyHashes),
                                         [name](const TwemproxyHash& candidate) { return candidate.name == name; });
  SLIPRING_CHECK(entry != std::end(kTwemproxyHashes), "hash from the table of options");
  return entry->hash;
}

// Text between the first opening and the first closing character after it; the whole key where there is none, or
// nothing between them.
struct TagRule {
  bool used = false;
  char open = 0;
  char close = 0;

  std::string_view tag(std::string_view key) const {
    if (!used) return key;
    const size_t begin = key.find(open);
    if (begin == key.npos) return key;
    const size_t end = key.find(close, begin + 1);
    if (end == key.npos || end == begin + 1) return key;
    return key.substr(begin + 1, end - begin - 1);
  }
};

template <typename Base>
class Tagged final : public Base {
 public:
  template <typename... Args>
  explicit Tagged(TagRule rule, Args&&... args) : Base(std::forward<Args>(args)...), rule_(rule) {}
  std::string_view tag(std::string_view key) const override { return rule_.tag(key); }

 private:
  TagRule rule_;
};

// Configuration turns "host:11211" into "host", so the identity does not tell that port. A path keeps the ':' that
// stands between it and the weight.
std::string identity_of_address(std::string_view address) {
  constexpr std::string_view kDefaultPort = ":11211";
  if (address.starts_with('/')) return std::string(address) + ':';
  if (address.ends_with(kDefaultPort)) address.remove_suffix(kDefaultPort.size());
  return std::string(address);
}

struct PoolServer {
  Server server;
  std::string identity;
};

// Bytes that ketama hashes of a server at most: a longer text makes nutcracker read beyond its buffer.
constexpr size_t kKetamaTextMax = 85;

Status add_ketama_points(const PoolServer& s, uint32_t points, Points32* out) {
  for (uint32_t k = 0; k < points / 4; ++k) {
    const std::string text = fmt::format("{}-{}", s.identity, k);
    if (text.size() > kKetamaTextMax) {
      return fail(
          Code::kInvalidArgument,
          fmt::format("server \"{}\": identity too long: ketama hashes at most {} bytes", s.identity, kKetamaTextMax));
    }
    for (const uint32_t word : md5_words(text)) out->push_back({word, s.server.member});
  }
  return {};
}

// In the order in which nutcracker keeps them, without the ejected ones.
Result<std::vector<PoolServer>> live_pool(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  std::vector<PoolServer> pool;
  for (const Server& server : servers) {
    const Parameters& attributes = input.attributes[server.member];
    if (attributes.flag("ejected")) continue;
    pool.push_back({server, attributes.given("address") ? identity_of_address(attributes.text("address"))
                                                        : std::string(server.label)});
  }
  if (pool.empty()) return fail(Code::kInvalidArgument, "every server is ejected");
  std::sort(pool.begin(), pool.end(), [](const PoolServer& a, const PoolServer& b) {
    return std::pair(a.identity.size(), std::string_view(a.identity)) <
           std::pair(b.identity.size(), std::string_view(b.identity));
  });
  for (size_t i = 1; i < pool.size(); ++i) {
    if (pool[i - 1].identity == pool[i].identity)
      return fail(Code::kInvalidArgument, fmt::format("server \"{}\": listed twice", pool[i].identity));
  }
  return pool;
}

ServerList servers_of(const std::vector<PoolServer>& pool) {
  ServerList servers;
  for (const PoolServer& s : pool) servers.push_back(s.server);
  return servers;
}

Result<Points32> ketama_points(const std::vector<PoolServer>& pool) {
  const uint64_t total = total_weight(servers_of(pool));
  SLIPRING_TRY(check_points(pool.size() * 160));
  Points32 points;
  points.reserve(pool.size() * 160);
  for (const PoolServer& s : pool)
    SLIPRING_TRY(add_ketama_points(s, ketama_points_float32(s.server.weight(), total, pool.size()), &points));
  return points;
}

Result<TagRule> tag_rule(const Parameters& options) {
  const std::string_view text = options.text("hash_tag");
  if (text.empty()) return TagRule{};
  if (text.size() != 2)
    return fail(Code::kInvalidArgument, fmt::format("hash_tag \"{}\": must be two characters", text));
  return TagRule{true, text[0], text[1]};
}

Result<std::unique_ptr<const Scheme>> make_twemproxy(const SchemeInput& input) {
  SLIPRING_ASSIGN(const std::vector<PoolServer> pool, live_pool(input));
  SLIPRING_ASSIGN(const TagRule rule, tag_rule(input.options));
  const KeyHash32 hash = twemproxy_hash(input.options.text("hash"));
  if (input.options.text("distribution") == "modula") {
    SLIPRING_ASSIGN(std::vector<NodeIndex> slots, weighted_slots(servers_of(pool)));
    return std::make_unique<Tagged<SlotTableScheme>>(rule, input.members, std::move(slots), hash);
  }
  SLIPRING_ASSIGN(Points32 points, ketama_points(pool));
  return std::make_unique<Tagged<HashedRing>>(rule, input.members.size(),
                                              PointRing<uint32_t>(std::move(points), Ties::kKeepInOrder), hash);
}

}  // namespace

const SchemeDefinition& twemproxy_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "twemproxy",
               .system = "twemproxy (nutcracker) 0.5.0",
               .source = "nutcracker 0.5.0: src/hashkit, src/nc_server.c, src/nc_conf.c",
               .summary = "twemproxy's ketama ring or modula slots, with its twelve hashes and hash_tag",
               .options = {{"distribution", ParameterType::kChoice, "ketama", "ketama|modula", "as in nutcracker.yml"},
                           {"hash", ParameterType::kChoice, "fnv1a_64",
                            "one_at_a_time|md5|crc16|crc32|crc32a|fnv1_64|fnv1a_64|fnv1_32|fnv1a_32|hsieh|murmur|"
                            "jenkins",
                            "of the key, as in nutcracker.yml"},
                           {"hash_tag", ParameterType::kText, "", "", "two characters around the part that is hashed"}},
               .attributes = {{"address", ParameterType::kText, "", "",
                               "host:port or path of a server without a name; the label is then not used"},
                              {"ejected", ParameterType::kFlag, "false", "", "taken out by auto_eject_hosts"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "ketama: about 1/n of all keys; modula: nearly all",
               .cost = "one hash and one ring search, about 12 bytes a point; modula: one hash and a table"},
      .make = make_twemproxy};
  return definition;
}

}  // namespace slipring
