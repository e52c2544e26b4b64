#include "slipring/placement/spymemcached.h"

#include <algorithm>
#include <numeric>

#include "slipring/base/check.h"
#include "slipring/hash/hashkit.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/utf.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

struct SpymemcachedHash {
  std::string_view name;
  KeyHash32 hash;
};

// All results are cut to 32 bits.
constexpr SpymemcachedHash kSpymemcachedHashes[] = {
    {"NATIVE_HASH", java_hash_code},   {"CRC_HASH", crc32_15_bits},     {"FNV1_64_HASH", fnv1_64_utf16},
    {"FNV1A_64_HASH", fnv1a_64_utf16}, {"FNV1_32_HASH", fnv1_32_utf16}, {"FNV1A_32_HASH", fnv1a_32_utf16},
    {"KETAMA_HASH", md5_first_word},
};

KeyHash32 spymemcached_hash(std::string_view name) {
  const auto* const entry = std::find_if(std::begin(kSpymemcachedHashes), std::end(kSpymemcachedHashes),
                                         [name](const SpymemcachedHash& candidate) { return candidate.name == name; });
  SLIPRING_CHECK(entry != std::end(kSpymemcachedHashes), "hash from the table of options");
  return entry->hash;
}

std::string identity(const Server& server, std::string_view ip, bool libmemcached_format) {
  const ServerAddress address = split_address(server.label);
  const std::string full = full_address(server.label);
  const std::string_view port = std::string_view(full).substr(full.rfind(':') + 1);
  if (libmemcached_format)
    return port == "11211" ? std::string(address.host) : fmt::format("{}:{}", address.host, port);
  return ip.empty() ? full : fmt::format("{}/{}:{}", address.host, ip, port);
}

struct Locator {
  bool libmemcached_format = false;
  KeyHash32 hash = md5_first_word;
};

void add_ketama_points(NodeIndex member, const std::string& name, uint32_t points, Points32* out) {
  for (uint32_t k = 0; k < points / 4; ++k) {
    for (const uint32_t word : md5_words(fmt::format("{}-{}", name, k))) out->push_back({word, member});
  }
}

Points32 ring_points(const SchemeInput& input, const ServerList& servers, const Locator& locator) {
  constexpr uint32_t kPoints = 160;
  const auto other_than_one = [](const Member& m) { return m.weight_milli != 1000; };
  const bool weighted = input.options.given("weighted")
                            ? input.options.flag("weighted")
                            : std::any_of(input.members.begin(), input.members.end(), other_than_one);
  const uint64_t total = total_weight(servers);
  Points32 points;
  for (const Server& server : servers) {
    const std::string name = identity(server, input.attributes[server.member].text("ip"), locator.libmemcached_format);
    if (weighted) {
      add_ketama_points(server.member, name, ketama_points_float32(server.weight(), total, input.members.size()),
                        &points);
    } else if (locator.hash == md5_first_word) {
      add_ketama_points(server.member, name, kPoints, &points);
    } else {
      for (uint32_t k = 0; k < kPoints; ++k)
        points.push_back({locator.hash(fmt::format("{}-{}", name, k)), server.member});
    }
  }
  return points;
}

// The points live in a map: of equal ones the server added last has it.
Result<std::unique_ptr<const Scheme>> make_spymemcached(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  SLIPRING_TRY(check_points(input.members.size() * 160));
  const Locator locator = {.libmemcached_format = input.options.text("key_format") == "LIBMEMCACHED",
                           .hash = spymemcached_hash(input.options.text("hash"))};
  if (input.options.text("locator") == "ketama") {
    return make_hashed_ring(input, ring_points(input, servers, locator), Ties::kKeepLast, locator.hash);
  }
  std::vector<NodeIndex> slots(input.members.size());
  std::iota(slots.begin(), slots.end(), 0);
  return std::make_unique<SlotTableScheme>(input.members, std::move(slots), locator.hash);
}

}  // namespace

const SchemeDefinition& spymemcached_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "spymemcached",
               .system = "spymemcached 2.12.3 (Java)",
               .source = "spymemcached 2.12.3: KetamaNodeLocator, ArrayModNodeLocator, DefaultHashAlgorithm",
               .summary = "KETAMA ring or ARRAY_MOD over Java strings",
               .options = {{"locator", ParameterType::kChoice, "ketama", "ketama|array_mod", "net.spy Locator"},
                           {"hash", ParameterType::kChoice, "KETAMA_HASH",
                            "NATIVE_HASH|CRC_HASH|FNV1_64_HASH|FNV1A_64_HASH|FNV1_32_HASH|FNV1A_32_HASH|KETAMA_HASH",
                            "DefaultHashAlgorithm"},
                           {"key_format", ParameterType::kChoice, "SPYMEMCACHED", "SPYMEMCACHED|LIBMEMCACHED",
                            "KetamaNodeKeyFormatter.Format"},
                           {"weighted", ParameterType::kFlag, "false", "",
                            "the client was given weights; not given: if any is not 1"}},
               .attributes = {{"ip", ParameterType::kText, "", "", "what the host's name resolves to"}},
               .weights = Weights::kUsed,
               .zero_weight_may_own = true,
               .preference_lists = true,
               .disruption = "ketama: about 1/n of all keys; array_mod: nearly all",
               .cost = "one hash and one ring search, about 12 bytes a point; array_mod: one hash and a table"},
      .make = make_spymemcached};
  return definition;
}

}  // namespace slipring
