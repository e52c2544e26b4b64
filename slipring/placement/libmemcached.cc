#include "slipring/placement/libmemcached.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/check.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/hashkit.h"
#include "slipring/hash/md5.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

struct NamedHash {
  std::string_view name;
  KeyHash32 hash;
};

constexpr NamedHash kHashes[] = {
    {"default", one_at_a_time_signed}, {"md5", md5_first_word},         {"crc", crc32_15_bits},
    {"fnv1_64", fnv1_64_low_signed},   {"fnv1_32", fnv1_32_signed},     {"fnv1a_64", fnv1a_64_low_signed},
    {"fnv1a_32", fnv1a_32_signed},     {"murmur", murmur2_length_seed}, {"murmur3", murmur3_length_seed},
    {"jenkins", jenkins_lookup3_13},
};
constexpr std::string_view kHashNames = "default|md5|crc|fnv1_64|fnv1_32|fnv1a_64|fnv1a_32|murmur|murmur3|jenkins";

KeyHash32 libmemcached_hash(std::string_view name) {
  const auto* const entry = std::find_if(std::begin(kHashes), std::end(kHashes),
                                         [name](const NamedHash& candidate) { return candidate.name == name; });
  SLIPRING_CHECK(entry != std::end(kHashes), "hash from the table of options");
  return entry->hash;
}

// How a client was set up.
struct Behaviour {
  bool consistent = false;
  bool weighted = false;  // KETAMA_WEIGHTED
  bool spy = false;       // MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY
  bool sort_hosts = false;
  KeyHash32 hash = one_at_a_time_signed;
};

struct Host {
  Server server;
  std::string_view host;
  uint32_t port = kMemcachedPort;
};

Result<std::vector<Host>> hosts_of(const ServerList& servers, bool sorted) {
  std::vector<Host> hosts;
  for (const Server& server : servers) {
    const ServerAddress address = split_address(server.label);
    SLIPRING_ASSIGN(const uint32_t port, port_of(address, server.label.starts_with('/') ? 0 : kMemcachedPort));
    hosts.push_back({server, address.host, port});
  }
  if (sorted) {
    std::stable_sort(hosts.begin(), hosts.end(), [](const Host& a, const Host& b) {
      return std::pair(a.host, a.port) < std::pair(b.host, b.port);
    });
  }
  return hosts;
}

std::string identity(const Host& host, bool spy) {
  if (spy) return fmt::format("/{}:{}", host.host, host.port);
  if (host.port == kMemcachedPort) return std::string(host.host);
  return fmt::format("{}:{}", host.host, host.port);
}

void add_weighted_points(const Host& host, const std::string& name, uint32_t points, Points32* out) {
  for (uint32_t k = 0; k < points / 4; ++k) {
    for (const uint32_t word : md5_words(fmt::format("{}-{}", name, k))) out->push_back({word, host.server.member});
  }
}

void add_plain_points(const Host& host, const std::string& name, KeyHash32 hash, Points32* out) {
  constexpr uint32_t kPoints = 100;
  for (uint32_t k = 0; k < kPoints; ++k) out->push_back({hash(fmt::format("{}-{}", name, k)), host.server.member});
}

// Equal points: the earlier in the list comes first.
Points32 ring_points(const std::vector<Host>& hosts, const Behaviour& behaviour) {
  const auto heavy = [](const Host& host) { return host.server.weight() > 1; };
  const bool weighted = behaviour.weighted || std::any_of(hosts.begin(), hosts.end(), heavy);
  uint64_t total = 0;
  for (const Host& host : hosts) total += host.server.weight();
  Points32 points;
  for (const Host& host : hosts) {
    const std::string name = identity(host, behaviour.spy);
    if (weighted) {
      add_weighted_points(host, name, ketama_points_float32(host.server.weight(), total, hosts.size()), &points);
    } else {
      add_plain_points(host, name, behaviour.hash, &points);
    }
  }
  return points;
}

Result<std::unique_ptr<const Scheme>> make_client(const SchemeInput& input, const Behaviour& behaviour) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers_zero_as_one(input));
  SLIPRING_TRY(check_points(servers.size() * 160));
  SLIPRING_ASSIGN(const std::vector<Host> hosts, hosts_of(servers, behaviour.sort_hosts));
  if (behaviour.consistent)
    return make_hashed_ring(input, ring_points(hosts, behaviour), Ties::kKeepInOrder, behaviour.hash);
  std::vector<NodeIndex> slots;
  for (const Host& host : hosts) slots.push_back(host.server.member);
  return std::make_unique<SlotTableScheme>(input.members, std::move(slots), behaviour.hash);
}

Result<std::unique_ptr<const Scheme>> make_libmemcached(const SchemeInput& input) {
  // KETAMA_WEIGHTED is set after the distribution, which it replaces, and sets the key hash to MD5; a hash that is set
  // after it wins.
  const bool flag = input.options.flag("ketama_weighted");
  const std::string_view distribution = flag ? "consistent_weighted" : input.options.text("distribution");
  const bool md5 = flag && !input.options.given("hash");
  const Behaviour behaviour = {.consistent = distribution != "modula",
                               .weighted = distribution == "consistent_weighted",
                               .spy = distribution == "ketama_spy",
                               .sort_hosts = input.options.flag("sort_hosts"),
                               .hash = md5 ? md5_first_word : libmemcached_hash(input.options.text("hash"))};
  return make_client(input, behaviour);
}

// How php-memcached and pylibmc name what they set.
Behaviour preset(const Parameters& options) {
  const std::string_view algorithm = options.text("algorithm");
  Behaviour behaviour;
  behaviour.weighted = algorithm == "libketama_compatible" || algorithm == "ketama_weighted";
  behaviour.consistent = behaviour.weighted || algorithm == "consistent" || algorithm == "ketama";
  behaviour.hash = options.given("hash") ? libmemcached_hash(options.text("hash"))
                   : behaviour.weighted  ? md5_first_word
                                         : one_at_a_time_signed;
  return behaviour;
}

Result<std::unique_ptr<const Scheme>> make_preset(const SchemeInput& input) {
  return make_client(input, preset(input.options));
}

constexpr std::string_view kDisruption = "consistent: about 1/n of all keys; modula: nearly all";
constexpr std::string_view kCost = "one hash and one ring search, about 12 bytes a point; modula: one hash and a table";

SchemeInfo preset_info(std::string_view name, std::string_view system, std::string_view algorithms) {
  return {.name = name,
          .system = system,
          .source = "libmemcached 1.1.4: src/libmemcached; the client's documentation",
          .summary = "the client's settings over libmemcached; weight 0 counts as 1",
          .options = {{"algorithm", ParameterType::kChoice, "modula", algorithms, "distribution, by the client's name"},
                      {"hash", ParameterType::kChoice, "default", kHashNames,
                       "of the key; md5 where the algorithm is weighted and none is given"}},
          .weights = Weights::kUsed,
          .zero_weight_may_own = true,
          .preference_lists = true,
          .disruption = kDisruption,
          .cost = kCost};
}

}  // namespace

const SchemeDefinition& libmemcached_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "libmemcached",
               .system = "libmemcached 1.1.4",
               .source = "libmemcached 1.1.4: src/libmemcached/hosts.cc, hash.cc, behavior.cc, src/libhashkit",
               .summary = "libmemcached's distributions; weights above 1 make a consistent one weighted, 0 counts as 1",
               .options = {{"distribution", ParameterType::kChoice, "modula",
                            "modula|consistent|consistent_ketama|consistent_weighted|ketama_spy",
                            "MEMCACHED_DISTRIBUTION_..."},
                           {"hash", ParameterType::kChoice, "default", kHashNames,
                            "of the key; md5 where ketama_weighted is set and none is given"},
                           {"ketama_weighted", ParameterType::kFlag, "false", "",
                            "MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED: replaces the distribution by consistent_weighted"},
                           {"sort_hosts", ParameterType::kFlag, "false", "", "MEMCACHED_BEHAVIOR_SORT_HOSTS"}},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .preference_lists = true,
               .disruption = kDisruption,
               .cost = kCost},
      .make = make_libmemcached};
  return definition;
}

const SchemeDefinition& php_memcached_scheme() {
  static const SchemeDefinition definition = {
      .info = preset_info("php-memcached", "php-memcached 3.2.0", "modula|consistent|libketama_compatible"),
      .make = make_preset};
  return definition;
}

const SchemeDefinition& pylibmc_scheme() {
  static const SchemeDefinition definition = {
      .info = preset_info("pylibmc", "pylibmc 1.6.3", "modula|consistent|ketama|ketama_weighted"), .make = make_preset};
  return definition;
}

}  // namespace slipring
