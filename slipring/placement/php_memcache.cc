#include "slipring/placement/php_memcache.h"

#include "slipring/hash/crc.h"
#include "slipring/hash/hashkit.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

// 15 bits of the hash; 0 counts as 1.
template <KeyHash32 hash>
uint32_t short_hash(std::string_view key) {
  const uint32_t h = (hash(key) >> 16) & 0x7fff;
  return h == 0 ? 1 : h;
}

constexpr uint32_t kBuckets = 1024;
constexpr uint32_t kPointsPerWeight = 160;

// Bucket b belongs to the first point at or after b steps.
std::vector<NodeIndex> buckets_of(Points32 points) {
  const PointRing<uint32_t> ring(std::move(points), Ties::kKeepInOrder);
  constexpr uint32_t kStep = 0xffffffffu / kBuckets;
  std::vector<NodeIndex> buckets;
  buckets.reserve(kBuckets);
  for (uint32_t b = 0; b < kBuckets; ++b) buckets.push_back(ring.member(ring.wrap(ring.at_or_after(b * kStep))));
  return buckets;
}

Result<std::unique_ptr<const Scheme>> make_php_memcache(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  const bool fnv = input.options.text("hash_function") == "fnv";
  if (input.options.text("strategy") == "standard")
    return make_slot_table(input, servers, fnv ? short_hash<fnv1a_32_signed> : short_hash<plain_crc32>);
  SLIPRING_TRY(check_points(total_weight(servers) * kPointsPerWeight));
  const KeyHash32 hash = fnv ? fnv1a_32_signed : plain_crc32;
  Points32 points;
  for (const Server& server : servers) {
    const std::string name = full_address(server.label);
    for (uint32_t j = 0; j < server.weight() * kPointsPerWeight; ++j)
      points.push_back({hash(fmt::format("{}-{}", name, j)), server.member});
  }
  return std::make_unique<SlotTableScheme>(input.members, buckets_of(std::move(points)), hash);
}

}  // namespace

const SchemeDefinition& php_memcache_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "php-memcache",
               .system = "php-memcache (pecl memcache) 4.0.5.2",
               .source = "behaviour of that version against memcached 1.6.18",
               .summary = "memcache.hash_strategy consistent (1,024 buckets over a ring) or standard (slots)",
               .options = {{"strategy", ParameterType::kChoice, "consistent", "consistent|standard",
                            "memcache.hash_strategy"},
                           {"hash_function", ParameterType::kChoice, "crc32", "crc32|fnv", "memcache.hash_function"}},
               .weights = Weights::kUsed,
               .disruption = "consistent: about 1/n of all keys; standard: nearly all",
               .cost = "one hash and a table access, 4 KiB; standard: 4 bytes a slot"},
      .make = make_php_memcache};
  return definition;
}

}  // namespace slipring
