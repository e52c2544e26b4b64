#include "slipring/placement/crc_modulo.h"

#include "slipring/hash/chained_crc.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/hashkit.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

uint32_t crc32_15_bits_not_zero(std::string_view key) {
  const uint32_t h = crc32_15_bits(key);
  return h == 0 ? 1 : h;
}

template <KeyHash32 hash>
Result<std::unique_ptr<const Scheme>> make_slots(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  return make_slot_table(input, servers, hash);
}

// Cache::Memcached::Fast without ketama. It has no slots: every server ends at a point of the 32-bit space, found by
// shrinking the earlier ones as each is added, and the key's slot is scaled into that space. With whole weights this is
// what the slots of Cache::Memcached give.
class ScaledSlots final : public OrdinalScheme {
 public:
  ScaledSlots(const SchemeInput& input, const ServerList& servers) : OrdinalScheme(input.members) {
    for (const Server& server : servers) {
      const double weight = static_cast<double>(server.weight_milli) / 1000;
      total_ += weight;
      const double share = weight / total_;
      for (RingPoint<uint32_t>& end : ends_) end.point = static_cast<uint32_t>(end.point - end.point * share);
      ends_.push_back({kHighest, server.member});
    }
    ring_ = PointRing<uint32_t>(ends_, Ties::kKeepInOrder);
  }

  NodeIndex owner(std::string_view key) const override {
    return ring_.member(ring_.wrap(ring_.at_or_after(point_of(key))));
  }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:08x}", point_of(key)), .range = fmt::format("slot {}", slot(key))};
  }

 private:
  static constexpr uint32_t kHighest = 0xffffffff;

  uint32_t slot(std::string_view key) const { return crc32_15_bits(key) % static_cast<uint32_t>(total_ + 0.5); }

  uint32_t point_of(std::string_view key) const {
    return static_cast<uint32_t>(slot(key) / total_ * kHighest + 0.5) + 1;
  }

  double total_ = 0;
  Points32 ends_;
  PointRing<uint32_t> ring_;
};

Result<std::unique_ptr<const Scheme>> make_fast(const SchemeInput& input) {
  const ServerList servers = listed_servers(input);
  const int64_t points_per_unit = input.options.integer("ketama_points");
  int64_t total_milli = 0;
  for (const Server& server : servers) total_milli += server.weight_milli;
  if (points_per_unit == 0) {
    if (total_milli < 500) return fail(Code::kInvalidArgument, "weights: must add up to 0.5 or more");
    return std::make_unique<ScaledSlots>(input, servers);
  }
  SLIPRING_TRY(check_points(static_cast<uint64_t>(points_per_unit * (total_milli / 1000 + 1))));
  Points32 points;
  for (const Server& server : servers) {
    const ServerAddress address = split_address(server.label);
    const auto count = static_cast<int64_t>(
        static_cast<double>(points_per_unit) * (static_cast<double>(server.weight_milli) / 1000) + 0.5);
    ChainedCrc32 chain(address.host, address.port);
    for (int64_t i = 0; i < count; ++i) points.push_back({chain.next(), server.member});
  }
  if (points.empty()) return fail(Code::kInvalidArgument, "weights: too small, no server has a point");
  return make_hashed_ring(input, std::move(points), Ties::kKeepInOrder, plain_crc32);
}

SchemeInfo slots_info(std::string_view name, std::string_view system, std::string_view summary) {
  return {.name = name,
          .system = system,
          .source = "behaviour of that version against memcached 1.6.18",
          .summary = summary,
          .weights = Weights::kUsed,
          .disruption = "nearly all keys when a server comes, goes or changes weight",
          .cost = "one CRC-32 and a table access, 4 bytes a slot"};
}

SchemeInfo fast_info() {
  SchemeInfo info = slots_info("perl-cache-memcached-fast", "Cache::Memcached::Fast 0.28",
                               "as perl-cache-memcached, or with ketama_points a ring of chained CRC-32");
  info.options = {{"ketama_points", ParameterType::kInteger, "0", "0..100000",
                   "points per unit of weight; 0: slots, compatible with Cache::Memcached"}};
  info.preference_lists = true;
  info.disruption = "slots: nearly all keys; ketama_points: about 1/n of them";
  return info;
}

}  // namespace

const SchemeDefinition& python_memcached_scheme() {
  static const SchemeDefinition definition = {
      .info = slots_info("python-memcached", "python-memcached 1.58",
                         "bits 16 to 30 of the CRC-32 (0 counts as 1) modulo weighted slots"),
      .make = make_slots<crc32_15_bits_not_zero>};
  return definition;
}

const SchemeDefinition& perl_cache_memcached_scheme() {
  static const SchemeDefinition definition = {.info = slots_info("perl-cache-memcached", "Cache::Memcached 1.30 (Perl)",
                                                                 "bits 16 to 30 of the CRC-32 modulo weighted slots"),
                                              .make = make_slots<crc32_15_bits>};
  return definition;
}

const SchemeDefinition& perl_cache_memcached_fast_scheme() {
  static const SchemeDefinition definition = {.info = fast_info(), .make = make_fast};
  return definition;
}

}  // namespace slipring
