#include "slipring/placement/nginx.h"

#include <algorithm>

#include "slipring/hash/chained_crc.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/hashkit.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

constexpr int kPassedOverMax = 20;

// Which servers are up, and who serves a request that is not placed by its key.
struct Health {
  std::vector<bool> down;  // by member
  NodeIndex round_robin = kNoNode;
};

Result<Health> health_of(const SchemeInput& input, const ServerList& servers) {
  Health health;
  for (const Parameters& attributes : input.attributes) health.down.push_back(attributes.flag("down"));
  uint32_t heaviest = 0;
  for (const Server& server : servers) {
    if (health.down[server.member] || server.weight() <= heaviest) continue;
    heaviest = server.weight();
    health.round_robin = server.member;
  }
  if (health.round_robin == kNoNode) return fail(Code::kInvalidArgument, "every server is down");
  return health;
}

class ModuloHash final : public OrdinalScheme {
 public:
  ModuloHash(const SchemeInput& input, std::vector<NodeIndex> slots, Health health)
      : OrdinalScheme(input.members), slots_(std::move(slots)), health_(std::move(health)) {}

  NodeIndex owner(std::string_view key) const override {
    if (key.empty()) return health_.round_robin;
    uint32_t hash = crc32_15_bits(key);
    for (int attempt = 1; attempt <= kPassedOverMax + 1; ++attempt) {
      const NodeIndex member = slots_[hash % slots_.size()];
      if (!health_.down[member]) return member;
      hash += crc32_15_bits(std::to_string(attempt).append(key));
    }
    return health_.round_robin;
  }

  Explanation explain(std::string_view key) const override {
    const uint32_t hash = crc32_15_bits(key);
    return {.point = fmt::format("{:04x}", hash), .range = fmt::format("slot {}", hash % slots_.size())};
  }

 private:
  std::vector<NodeIndex> slots_;
  Health health_;
};

class ConsistentHash final : public PointScheme<uint32_t> {
 public:
  ConsistentHash(size_t member_count, PointRing<uint32_t> points, Health health)
      : PointScheme(member_count, std::move(points)), health_(std::move(health)) {}

  NodeIndex owner(std::string_view key) const override {
    NodeIndex first = kNoNode;
    preference_list(key, {&first, 1});
    return first;
  }

  // Servers that are down are left out.
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    if (out.empty()) return 0;
    const size_t start = key.empty() ? kNowhere : first_up(position_of(point_of(key)));
    size_t filled = 0;
    if (start == kNowhere) {
      out[filled++] = health_.round_robin;
      return filled + others(0, out, filled);
    }
    return others(start, out, 0);
  }

 protected:
  uint32_t point_of(std::string_view key) const override { return crc32(key); }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  // The position from which nginx serves: at most kPassedOverMax points are passed over.
  size_t first_up(size_t position) const {
    for (int tries = 0; tries <= kPassedOverMax; ++tries) {
      if (!health_.down[ring().member(position)]) return position;
      position = ring().wrap(position + 1);
    }
    return kNowhere;
  }

  // Fills out[filled...] with further servers that are up, clockwise from `position`; answers how many were added.
  size_t others(size_t position, std::span<NodeIndex> out, size_t filled) const {
    const size_t before = filled;
    for (size_t step = 0; step < ring().size() && filled < out.size(); ++step) {
      const NodeIndex member = ring().member(position);
      position = ring().wrap(position + 1);
      const auto end = out.begin() + static_cast<std::ptrdiff_t>(filled);
      if (!health_.down[member] && std::find(out.begin(), end, member) == end) out[filled++] = member;
    }
    return filled - before;
  }

  Health health_;
};

// The text as written: unix:/path is the path, only digits after the last colon are a port, brackets stay.
ServerAddress directive_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) return {text.substr(kUnix.size()), ""};
  const size_t colon = text.rfind(':');
  if (colon == text.npos || text.find_first_not_of("0123456789", colon + 1) != text.npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Of equal points the server that is listed first keeps one, the others are dropped.
Result<PointRing<uint32_t>> ring_of(const ServerList& servers) {
  constexpr uint32_t kPointsPerWeight = 160;
  SLIPRING_TRY(check_distinct_labels(servers));
  SLIPRING_TRY(check_points(total_weight(servers) * kPointsPerWeight));
  Points32 points;
  for (const Server& server : servers) {
    const ServerAddress address = directive_address(server.label);
    ChainedCrc32 chain(address.host, address.port);
    for (uint32_t j = 0; j < server.weight() * kPointsPerWeight; ++j) points.push_back({chain.next(), server.member});
  }
  return PointRing<uint32_t>(std::move(points), Ties::kKeepFirst);
}

Result<std::unique_ptr<const Scheme>> make_nginx(const SchemeInput& input) {
  SLIPRING_ASSIGN(const ServerList servers, whole_weight_servers(input));
  SLIPRING_ASSIGN(Health health, health_of(input, servers));
  if (input.options.text("method") == "hash") {
    SLIPRING_ASSIGN(std::vector<NodeIndex> slots, weighted_slots(servers));
    return std::make_unique<ModuloHash>(input, std::move(slots), std::move(health));
  }
  SLIPRING_ASSIGN(PointRing<uint32_t> ring, ring_of(servers));
  return std::make_unique<ConsistentHash>(input.members.size(), std::move(ring), std::move(health));
}

}  // namespace

const SchemeDefinition& nginx_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "nginx",
               .system = "nginx 1.22.1",
               .source = "nginx 1.22.1: src/http/modules/ngx_http_upstream_hash_module.c",
               .summary = "the hash directive of an upstream, with or without `consistent`",
               .options = {{"method", ParameterType::kChoice, "consistent", "consistent|hash",
                            "`hash KEY consistent` or `hash KEY`"}},
               .attributes = {{"down", ParameterType::kFlag, "false", "", "the server's parameter `down`"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "consistent: only the keys of the server that comes or goes; hash: nearly all",
               .cost = "one CRC-32 and one ring search or table access, about 12 bytes a point"},
      .make = make_nginx};
  return definition;
}

}  // namespace slipring
