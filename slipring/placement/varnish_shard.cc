#include "slipring/placement/varnish_shard.h"

#include <algorithm>
#include <charconv>

#include "slipring/base/parse.h"
#include "slipring/hash/load.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

uint32_t shard_point(std::string_view text) {
  return load_le32(sha256(text).data() + 28);
}

// What .backend() was told about the key.
struct KeyRule {
  bool request_hash = false;  // by=HASH on the backend side
  bool number = false;        // by=KEY with a number instead of .key(s)
  std::string host;           // of the request, for the request hash
};

class ShardDirector final : public PointScheme<uint32_t> {
 public:
  ShardDirector(size_t member_count, PointRing<uint32_t> points, size_t backends, size_t alt, KeyRule rule)
      : PointScheme(member_count, std::move(points)),
        backends_(backends),
        alt_(std::min(alt, backends - 1)),
        rule_(std::move(rule)) {}

  NodeIndex owner(std::string_view key) const override {
    if (alt_ == 0) return ring().member(position_of(point_of(key)));
    return walk(key)[alt_];
  }

  // From the alternative that owns on, then those that it passed over.
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const std::vector<NodeIndex> all = walk(key);
    const size_t count = std::min(out.size(), all.size());
    for (size_t i = 0; i < count; ++i) out[i] = all[(alt_ + i) % all.size()];
    return count;
  }

 protected:
  uint32_t point_of(std::string_view key) const override {
    if (rule_.number) return number(key);
    if (!rule_.request_hash) return shard_point(key);
    std::string request(key);
    request.push_back('\0');
    request.append(rule_.host).push_back('\0');
    return load_be32(sha256(request).data());
  }

  // The director's own bisection, kept as it is: it meets some one of equal points, ends at the last point, and with
  // two points never looks at the first.
  size_t position_of(uint32_t h) const override {
    const size_t last = ring().size() - 1;
    size_t low = 0;
    size_t high = ring().size();
    while (true) {
      const size_t middle = (low + high) / 2;
      if (ring().point(middle) == h || middle == last) return middle;
      if (ring().point(middle) > h) {
        if (middle == 0) return 0;
        high = middle;
      } else {
        if (ring().point(middle + 1) >= h) return middle + 1;
        low = middle;
      }
    }
  }

 private:
  static uint32_t number(std::string_view key) {
    uint32_t value = 0;
    std::from_chars(key.data(), key.data() + key.size(), value);
    return value;
  }

  std::vector<NodeIndex> walk(std::string_view key) const {
    std::vector<NodeIndex> all(backends_);
    all.resize(ring().distinct_from(position_of(point_of(key)), all));
    return all;
  }

  size_t backends_;
  size_t alt_;
  KeyRule rule_;
};

Result<Points32> points_of(const SchemeInput& input, const ServerList& servers) {
  const auto replicas = static_cast<double>(input.options.unsigned_integer("replicas"));
  Points32 points;
  for (const Server& server : servers) {
    if (server.weight_milli < 1000) {
      return fail(Code::kInvalidArgument,
                  fmt::format("node {}: weight {}: must be 0, or 1 or more", input.members[server.member].name,
                              format_milli(server.weight_milli)));
    }
    const auto count = static_cast<uint64_t>(replicas * (static_cast<double>(server.weight_milli) / 1000));
    SLIPRING_TRY(check_points(points.size() + count));
    for (uint64_t j = 0; j < count; ++j)
      points.push_back({shard_point(fmt::format("{}{}", server.label, j)), server.member});
  }
  return points;
}

Result<std::unique_ptr<const Scheme>> make_varnish_shard(const SchemeInput& input) {
  const ServerList servers = listed_servers(input);
  SLIPRING_TRY(check_distinct_labels(servers));
  SLIPRING_ASSIGN(Points32 points, points_of(input, servers));
  const std::string_view by = input.options.text("by");
  KeyRule rule;
  rule.request_hash = by == "hash" && input.options.text("side") == "backend";
  rule.number = by == "number";
  rule.host = input.options.text("host");
  return std::make_unique<ShardDirector>(input.members.size(),
                                         PointRing<uint32_t>(std::move(points), Ties::kKeepInOrder), servers.size(),
                                         input.options.unsigned_integer("alt"), std::move(rule));
}

}  // namespace

const SchemeDefinition& varnish_shard_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "varnish-shard",
               .system = "Varnish 7.1.1, shard director",
               .source = "Varnish 7.1.1: vmod/vmod_directors_shard_dir.c, vmod_directors_shard_cfg.c",
               .summary = "ring of SHA-256 points; keys beyond the last point stay on it",
               .options = {{"by", ParameterType::kChoice, "key", "key|number|url|hash",
                            "what the key is: text of .key(s), a number 0..4294967295, req.url, or what vcl_hash saw"},
                           {"side", ParameterType::kChoice, "client", "client|backend",
                            "by=hash: client hashes the URL alone, backend the URL and the host"},
                           {"host", ParameterType::kText, "", "", "host header, for by=hash on the backend side"},
                           {"replicas", ParameterType::kUnsigned, "67", "1..1000000", "points per unit of weight"},
                           {"alt", ParameterType::kUnsigned, "0", "0..100000", "the N-th further backend"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "only the keys of the backend that comes or goes",
               .cost = "one SHA-256 and one bisection, about 12 bytes a point"},
      .make = make_varnish_shard};
  return definition;
}

}  // namespace slipring
