#include "slipring/placement/ring_variants.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "slipring/base/parse.h"
#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/hash/load.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/murmur.h"
#include "slipring/hash/sha.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/hash_tag.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/ring.h"
#include "slipring/placement/ring_tokens.h"
#include "slipring/placement/zones.h"

namespace slipring {

// A digest as a big-endian number, filled up with zeros behind.
using WidePoint = std::array<uint64_t, 3>;

template <>
struct PointTraits<WidePoint> {
  static constexpr uint64_t index_word(const WidePoint& p) { return p[0]; }
};

namespace {

constexpr std::string_view kNativeLabel = "native";

uint64_t decimal_prefix(std::string_view key) {
  uint64_t value = 0;
  std::from_chars(key.data(), key.data() + key.size(), value);
  return value;
}

// A hash as this file sees it: how wide its points are, and the function for narrow or wide ones.
struct HashKind {
  std::string_view name;
  unsigned bits;
  bool seeded;
  uint64_t (*narrow)(std::string_view s, uint64_t seed);
  WidePoint (*wide)(std::string_view s);
};

constexpr HashKind kHashKinds[] = {
    {"xxh3", 64, true, [](std::string_view s, uint64_t seed) { return xxh3_64(s, seed); }, nullptr},
    {"murmur3", 64, true,
     [](std::string_view s, uint64_t seed) { return murmur3_x64_128(s, static_cast<uint32_t>(seed))[0]; }, nullptr},
    {"fnv1a", 64, false, [](std::string_view s, uint64_t) { return fnv1a_64(s); }, nullptr},
    {"crc32", 32, false, [](std::string_view s, uint64_t) { return uint64_t{crc32(s)}; }, nullptr},
    {"decimal", 64, false, [](std::string_view s, uint64_t) { return decimal_prefix(s); }, nullptr},
    {"md5", 128, false, nullptr,
     [](std::string_view s) {
       const Md5Digest d = md5(s);
       return WidePoint{load_be64(d.data()), load_be64(d.data() + 8), 0};
     }},
    {"sha1", 160, false, nullptr,
     [](std::string_view s) {
       const Sha1Digest d = sha1(s);
       return WidePoint{load_be64(d.data()), load_be64(d.data() + 8), uint64_t{load_be32(d.data() + 16)} << 32};
     }},
};

const HashKind& hash_kind(std::string_view name) {
  for (const HashKind& kind : kHashKinds) {
    if (kind.name == name) return kind;
  }
  return kHashKinds[0];
}

// Everything about a variant but its tokens.
struct Rule {
  const HashKind* hash = nullptr;
  uint64_t seed = 0;
  uint64_t last = UINT64_MAX;  // of narrow points: they are 0..last
  bool strict = false;
  bool redis_tag = true;
  uint64_t partitions = 0;

  std::string_view tag(std::string_view key) const { return redis_tag ? redis_hash_tag(key) : key; }
  uint64_t reduce(uint64_t hashed) const { return last == UINT64_MAX ? hashed : hashed % (last + 1); }
};

template <typename Point>
Point hash_of(const Rule& rule, std::string_view s) {
  if constexpr (std::is_same_v<Point, WidePoint>) {
    return rule.hash->wide(s);
  } else {
    return rule.reduce(rule.hash->narrow(s, rule.seed));
  }
}

std::string format_point(const Rule& rule, uint64_t p) {
  if (rule.last != UINT64_MAX && rule.last != UINT32_MAX) return fmt::format("{}", p);
  return fmt::format("{:0{}x}", p, rule.hash->bits / 4);
}
std::string format_point(const Rule& rule, const WidePoint& p) {
  return fmt::format("{:016x}{:016x}{:016x}", p[0], p[1], p[2]).substr(0, rule.hash->bits / 4);
}

template <typename Point>
class RingVariant final : public Scheme {
 public:
  RingVariant(PointRing<Point> ring, Zones zones, size_t member_count, Rule rule)
      : Scheme(member_count), ring_(std::move(ring)), zones_(std::move(zones)), rule_(rule) {}

  NodeIndex owner(std::string_view key) const override { return ring_.member(position_of(point_of(key))); }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    return zones_.preference_list(ring_, position_of(point_of(key)), out);
  }

  std::string_view tag(std::string_view key) const override { return rule_.tag(key); }

  Explanation explain(std::string_view key) const override {
    const Point point = point_of(key);
    const size_t at = position_of(point);
    if constexpr (!std::is_same_v<Point, WidePoint>) {
      if (rule_.partitions > 0) {
        return {.point = format_point(rule_, point),
                .range = fmt::format("partition {} of {}", partition_of(point), rule_.partitions)};
      }
    }
    return {
        .point = format_point(rule_, point),
        .range = fmt::format("{}{}, {}{}", rule_.strict ? '[' : '(', format_point(rule_, ring_.point(ring_.before(at))),
                             format_point(rule_, ring_.point(at)), rule_.strict ? ')' : ']')};
  }

  std::optional<OwnershipMap> ownership() const override {
    if constexpr (std::is_same_v<Point, WidePoint>) {
      return std::nullopt;
    } else {
      if (rule_.strict) return std::nullopt;
      return rule_.partitions > 0 ? ownership_of_partitions() : ownership_of_tokens();
    }
  }

 private:
  Point point_of(std::string_view key) const { return hash_of<Point>(rule_, rule_.tag(key)); }

  size_t position_of(const Point& point) const {
    if constexpr (!std::is_same_v<Point, WidePoint>) {
      if (rule_.partitions > 0) return successor(partition_end(partition_of(point)));
    }
    return successor(point);
  }
  size_t successor(const Point& point) const {
    return ring_.wrap(rule_.strict ? ring_.after(point) : ring_.at_or_after(point));
  }

  using Wide = unsigned __int128;
  uint64_t partition_of(uint64_t point) const {
    return static_cast<uint64_t>(Wide{point} * rule_.partitions / (Wide{rule_.last} + 1));
  }
  // The last point of a partition.
  uint64_t partition_end(uint64_t partition) const {
    const Wide begin_of_next = ((Wide{rule_.last} + 1) * (partition + 1) + rule_.partitions - 1) / rule_.partitions;
    return static_cast<uint64_t>(begin_of_next - 1);
  }

  std::string space() const {
    return fmt::format("{} seed {} last {} tag {}", rule_.hash->name, rule_.seed, rule_.last, rule_.redis_tag);
  }

  OwnershipMap ownership_of_tokens() const {
    OwnershipMap map{.space = space(), .last = rule_.last, .ranges = {}};
    for (size_t i = 0; i < ring_.size(); ++i) {
      if (i > 0 && ring_.point(i) == ring_.point(i - 1)) continue;
      map.ranges.push_back({ring_.point(i), ring_.member(i)});
    }
    return map;
  }
  OwnershipMap ownership_of_partitions() const {
    OwnershipMap map{.space = space(), .last = rule_.last, .ranges = {}};
    for (uint64_t p = 0; p < rule_.partitions; ++p) {
      const uint64_t end = partition_end(p);
      map.ranges.push_back({end, ring_.member(successor(end))});
    }
    return map;
  }

  PointRing<Point> ring_;
  Zones zones_;
  Rule rule_;
};

// "{name}#{i}" -> "n1#7".
std::string text_label(std::string_view format, std::string_view label, uint64_t i) {
  std::string text;
  while (!format.empty()) {
    if (format.starts_with("{name}")) {
      text += label;
      format.remove_prefix(6);
    } else if (format.starts_with("{i}")) {
      text += std::to_string(i);
      format.remove_prefix(3);
    } else {
      text += format.front();
      format.remove_prefix(1);
    }
  }
  return text;
}

Status check_label(std::string_view format) {
  if (format == kNativeLabel) return {};
  if (format.find("{name}") == std::string_view::npos || format.find("{i}") == std::string_view::npos) {
    return fail(Code::kInvalidArgument,
                fmt::format("option label: \"{}\": write native, or a text with {{name}} and {{i}}", format));
  }
  return {};
}

bool has_tokens(const SchemeInput& input) {
  for (const Parameters& attributes : input.attributes) {
    if (attributes.given("tokens")) return true;
  }
  return false;
}

Status add_given_tokens(const SchemeInput& input, const Rule& rule, NodeIndex m,
                        std::vector<RingPoint<uint64_t>>* points) {
  std::string_view text = input.attributes[m].text("tokens");
  while (true) {
    const size_t comma = text.find(',');
    auto token = parse_u64(text.substr(0, comma), 0, rule.last);
    if (!token) return fail_in(fmt::format("node {}: token", input.members[m].name), token.error());
    points->push_back({*token, m});
    if (points->size() > kTokensMax)
      return fail(Code::kInvalidArgument, fmt::format("more than {} tokens", kTokensMax));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

template <typename Point>
void add_hashed_tokens(const SchemeInput& input, const Rule& rule, NodeIndex m, std::vector<RingPoint<Point>>* points) {
  const std::string_view format = input.options.text("label");
  const uint64_t count = vnode_count(input.options.unsigned_integer("vnodes"), input.members[m].weight_milli);
  TokenBytes bytes(input.label(m));
  for (uint64_t j = 0; j < count; ++j) {
    const Point point = format == kNativeLabel ? hash_of<Point>(rule, bytes.of(static_cast<uint32_t>(j)))
                                               : hash_of<Point>(rule, text_label(format, input.label(m), j));
    points->push_back({point, m});
  }
}

template <typename Point>
Result<std::unique_ptr<const Scheme>> build(const SchemeInput& input, const Rule& rule) {
  const bool given = has_tokens(input);
  if (!given) SLIPRING_TRY(count_tokens(input, input.options.unsigned_integer("vnodes")));
  std::vector<RingPoint<Point>> points;
  std::vector<bool> owns(input.members.size());
  for (const NodeIndex m : members_by_label(input)) {
    if (input.members[m].weight_milli == 0) continue;
    owns[m] = true;
    if constexpr (std::is_same_v<Point, uint64_t>) {
      if (given) {
        SLIPRING_TRY(add_given_tokens(input, rule, m, &points));
        continue;
      }
    }
    add_hashed_tokens(input, rule, m, &points);
  }
  return std::make_unique<RingVariant<Point>>(PointRing<Point>(std::move(points), Ties::kKeepInOrder),
                                              Zones(input.members, owns), input.members.size(), rule);
}

}  // namespace

std::vector<ParameterInfo> ring_variant_options() {
  return {
      {"hash", ParameterType::kChoice, "xxh3", "xxh3|murmur3|fnv1a|crc32|md5|sha1|decimal",
       "hash of tokens and keys; decimal: the number that a key begins with"},
      {"label", ParameterType::kText, "native", "",
       "what is hashed for token i: native (label, 0x00, i as 4 bytes), or a text such as {name}#{i}"},
      {"successor", ParameterType::kChoice, "inclusive", "inclusive|strict", "first token >= the point, or > it"},
      {"tag", ParameterType::kChoice, "redis", "redis|none", "hash tag rule"},
      {"space", ParameterType::kUnsigned, "0", "", "points are 0..space-1 (hash modulo space); 0: all of the hash"},
      {"partitions", ParameterType::kUnsigned, "0", "0..1048576",
       "equal partitions, each placed as a whole (Dynamo's strategy 2); 0: none"},
  };
}

std::vector<ParameterInfo> ring_variant_attributes() {
  return {{"tokens", ParameterType::kText, "", "", "tokens given by hand: decimal numbers with commas between"}};
}

bool is_ring_variant(const SchemeInput& input) {
  const Parameters& o = input.options;
  return o.text("hash") != "xxh3" || o.text("label") != kNativeLabel || o.text("successor") != "inclusive" ||
         o.text("tag") != "redis" || o.unsigned_integer("space") != 0 || o.unsigned_integer("partitions") != 0 ||
         has_tokens(input);
}

Result<std::unique_ptr<const Scheme>> make_ring_variant(const SchemeInput& input) {
  const Parameters& o = input.options;
  SLIPRING_TRY(check_label(o.text("label")));
  Rule rule = {.hash = &hash_kind(o.text("hash")),
               .seed = o.unsigned_integer("seed"),
               .strict = o.text("successor") == "strict",
               .redis_tag = o.text("tag") == "redis",
               .partitions = o.unsigned_integer("partitions")};
  if (rule.seed != 0 && !rule.hash->seeded) {
    return fail(Code::kInvalidArgument, fmt::format("option seed: hash {} has no seed", rule.hash->name));
  }
  const uint64_t space = o.unsigned_integer("space");
  const bool wide = rule.hash->wide != nullptr;
  if (wide && (space != 0 || rule.partitions != 0 || has_tokens(input))) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("hash {}: space, partitions and given tokens need a hash of at most 64 bits", rule.hash->name));
  }
  if (!wide && rule.hash->bits == 32) rule.last = UINT32_MAX;
  if (space != 0) {
    if (space - 1 > rule.last)
      return fail(Code::kInvalidArgument, fmt::format("option space: {}: larger than the hash", space));
    rule.last = space - 1;
  }
  if (rule.partitions > 0 && rule.partitions - 1 > rule.last) {
    return fail(Code::kInvalidArgument, fmt::format("option partitions: {}: more than points", rule.partitions));
  }
  for (size_t m = 0; has_tokens(input) && m < input.members.size(); ++m) {
    if (input.members[m].weight_milli > 0 && !input.attributes[m].given("tokens")) {
      return fail(Code::kInvalidArgument,
                  fmt::format("node {}: no tokens, but other nodes have theirs given", input.members[m].name));
    }
  }
  return wide ? build<WidePoint>(input, rule) : build<uint64_t>(input, rule);
}

}  // namespace slipring
