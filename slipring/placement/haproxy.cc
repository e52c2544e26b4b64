#include "slipring/placement/haproxy.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "slipring/hash/crc.h"
#include "slipring/hash/simple.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/slot_table.h"

namespace slipring {
namespace {

// Bob Jenkins' six-shift full-avalanche mix, then spread by a large prime: one to one on 32 bits.
uint32_t avalanche(uint32_t x) {
  x = (x + 0x7ed55d16u) + (x << 12);
  x = (x ^ 0xc761c23cu) ^ (x >> 19);
  x = (x + 0x165667b1u) + (x << 5);
  x = (x + 0xd3a2646cu) ^ (x << 9);
  x = (x + 0xfd7046c5u) + (x << 3);
  x = (x ^ 0xb55a4f09u) ^ (x >> 16);
  return x * 3221225473u;
}

template <KeyHash32 hash>
uint32_t avalanched(std::string_view key) {
  return avalanche(hash(key));
}

KeyHash32 haproxy_hash(std::string_view name, bool with_avalanche) {
  if (name == "djb2") return with_avalanche ? avalanched<djb2> : djb2;
  if (name == "wt6") return with_avalanche ? avalanched<wt6> : wt6;
  if (name == "crc32") return with_avalanche ? avalanched<plain_crc32> : plain_crc32;
  return with_avalanche ? avalanched<sdbm> : sdbm;
}

struct Line {
  NodeIndex member = 0;
  uint32_t id = 0;  // 0: not yet given
  uint32_t weight = 0;
  bool live = true;
};

constexpr uint32_t kWeightMax = 256;

Status give_ids(std::vector<Line>* lines) {
  std::set<uint32_t> used;
  for (const Line& line : *lines) {
    if (line.id != 0 && !used.insert(line.id).second)
      return fail(Code::kInvalidArgument, fmt::format("id {}: given twice", line.id));
  }
  uint32_t next = 1;
  for (Line& line : *lines) {
    if (line.id == 0) {
      while (used.contains(next)) ++next;
      line.id = next;
      used.insert(next);
    }
    ++next;
  }
  return {};
}

Result<std::vector<Line>> lines_of(const SchemeInput& input) {
  SLIPRING_TRY(whole_weight_servers(input));
  std::vector<Line> lines;
  for (size_t i = 0; i < input.members.size(); ++i) {
    const Parameters& attributes = input.attributes[i];
    const auto weight = static_cast<uint32_t>(input.members[i].weight_milli / 1000);
    if (weight > kWeightMax) {
      return fail(Code::kInvalidArgument,
                  fmt::format("node {}: weight {}: at most {}", input.members[i].name, weight, kWeightMax));
    }
    lines.push_back({static_cast<NodeIndex>(i), static_cast<uint32_t>(attributes.unsigned_integer("id")), weight,
                     weight > 0 && !attributes.flag("disabled")});
  }
  SLIPRING_TRY(give_ids(&lines));
  if (std::none_of(lines.begin(), lines.end(), [](const Line& line) { return line.live; }))
    return fail(Code::kInvalidArgument, "every server is disabled or has weight 0");
  return lines;
}

class NearestPoint final : public HashedRing {
 public:
  using HashedRing::HashedRing;

  Explanation explain(std::string_view key) const override {
    const uint32_t h = point_of(key);
    return {.point = fmt::format("{:08x}", h), .range = fmt::format("nearest to {:08x}", ring().point(position_of(h)))};
  }

 protected:
  size_t position_of(uint32_t h) const override {
    const size_t next = ring().wrap(ring().at_or_after(h));
    const size_t previous = ring().before(next);
    return h - ring().point(previous) <= ring().point(next) - h ? previous : next;
  }
};

Points32 points_of(const std::vector<Line>& lines) {
  constexpr uint32_t kPointsPerWeight = 16;
  constexpr uint32_t kIdStride = 4096;
  Points32 points;
  for (const Line& line : lines) {
    if (!line.live) continue;
    for (uint32_t j = 0; j < line.weight * kPointsPerWeight; ++j)
      points.push_back({avalanche(line.id * kIdStride + j), line.member});
  }
  return points;
}

// Each step adds its weight to every live server's score; the first with the highest whole number of turns due takes
// the slot and pays for it. The divisor of the weights counts servers that are not live too.
std::vector<NodeIndex> map_of(const std::vector<Line>& lines) {
  uint32_t divisor = 0;
  for (const Line& line : lines) divisor = std::gcd(divisor, line.weight);
  struct Turn {
    NodeIndex member;
    int64_t weight;
    int64_t score;
  };
  std::vector<Turn> turns;
  int64_t total = 0;
  for (const Line& line : lines) {
    if (!line.live) continue;
    turns.push_back({line.member, line.weight / divisor, 0});
    total += line.weight / divisor;
  }
  std::vector<NodeIndex> map;
  for (int64_t slot = 0; slot < total; ++slot) {
    Turn* best = nullptr;
    int64_t most_due = 0;
    for (Turn& turn : turns) {
      turn.score += turn.weight;
      const int64_t due = (turn.score + total) / total;
      if (best != nullptr && due <= most_due) continue;
      most_due = due;
      best = &turn;
    }
    map.push_back(best->member);
    best->score -= total;
  }
  return map;
}

// Building the map takes as many steps as it has slots times servers.
constexpr uint64_t kMapWorkMax = 200'000'000;

Result<std::unique_ptr<const Scheme>> make_haproxy(const SchemeInput& input) {
  SLIPRING_ASSIGN(const std::vector<Line> lines, lines_of(input));
  const bool consistent = input.options.text("hash_type") == "consistent";
  const bool named = input.options.given("function");
  const bool with_avalanche = input.options.given("avalanche") ? input.options.flag("avalanche") : consistent && !named;
  const KeyHash32 hash = haproxy_hash(input.options.text("function"), with_avalanche);
  uint64_t total = 0;
  for (const Line& line : lines) total += line.weight;
  if (consistent) {
    SLIPRING_TRY(check_points(total * 16));
    return std::make_unique<NearestPoint>(input.members.size(),
                                          PointRing<uint32_t>(points_of(lines), Ties::kKeepInOrder), hash);
  }
  if (total * lines.size() > kMapWorkMax)
    return fail(Code::kInvalidArgument, fmt::format("map of {} servers: too large", lines.size()));
  return std::make_unique<SlotTableScheme>(input.members, map_of(lines), hash);
}

}  // namespace

const SchemeDefinition& haproxy_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "haproxy",
               .system = "HAProxy 2.6.12",
               .source = "HAProxy 2.6: src/lb_chash.c, src/lb_map.c, src/backend.c, src/hash.c",
               .summary = "balance hash with hash-type consistent (nearest point) or map-based",
               .options = {{"hash_type", ParameterType::kChoice, "consistent", "consistent|map-based", "hash-type"},
                           {"function", ParameterType::kChoice, "sdbm", "sdbm|djb2|wt6|crc32", "of the key"},
                           {"avalanche", ParameterType::kFlag, "false", "",
                            "mix the hash; not given: only for consistent without a function, as in HAProxy"}},
               .attributes = {{"id", ParameterType::kUnsigned, "0", "0..2147483647", "the server's id; 0: automatic"},
                              {"disabled", ParameterType::kFlag, "false", "", "the server's parameter `disabled`"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "consistent with explicit ids: about 1/n of all keys; map-based: nearly all",
               .cost = "one hash and one ring search or table access; about 12 bytes a point, 4 a slot"},
      .make = make_haproxy};
  return definition;
}

}  // namespace slipring
