#include "slipring/placement/cassandra.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "slipring/base/parse.h"
#include "slipring/hash/cassandra_murmur3.h"
#include "slipring/hash/md5.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/token_list.h"

namespace slipring {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr CassandraPoint kRandomTokenMax = CassandraPoint{1} << 127;

CassandraPoint murmur3_point(int64_t token) {
  return CassandraPoint{static_cast<uint64_t>(token) ^ kSignBit} << 63;
}

int64_t murmur3_token(std::string_view key) {
  if (key.empty()) return INT64_MIN;
  const auto token = static_cast<int64_t>(cassandra_murmur3(key));
  return token == INT64_MIN ? INT64_MAX : token;
}

// |MD5 as a signed big-endian number|, plus one.
CassandraPoint random_point(std::string_view key) {
  if (key.empty()) return 0;
  CassandraPoint number = 0;
  for (const uint8_t byte : md5(key)) number = number << 8 | byte;
  const bool negative = (number >> 127) != 0;
  return (negative ? -number : number) + 1;
}

Result<CassandraPoint> parse_random_token(std::string_view text) {
  if (text == "-1") return CassandraPoint{0};
  CassandraPoint number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > kRandomTokenMax) number = kRandomTokenMax + 1;
    if (number > kRandomTokenMax) break;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  if (text.empty() || number > kRandomTokenMax) {
    return fail(Code::kInvalidArgument, "must be an integer from -1 to 2^127");
  }
  return number + 1;
}

struct Zone {
  std::string_view dc;
  std::string_view rack;
};

Zone split_zone(std::string_view zone) {
  const size_t slash = zone.find('/');
  if (slash == std::string_view::npos) return {zone, zone};
  return {zone.substr(0, slash), zone.substr(slash + 1)};
}

}  // namespace

CassandraPoint cassandra_point(CassandraPartitioner partitioner, std::string_view key) {
  return partitioner == CassandraPartitioner::kMurmur3 ? murmur3_point(murmur3_token(key)) : random_point(key);
}

Result<CassandraPoint> parse_cassandra_token(CassandraPartitioner partitioner, std::string_view text) {
  if (partitioner == CassandraPartitioner::kRandom) return parse_random_token(text);
  SLIPRING_ASSIGN(const int64_t token, parse_i64(text, INT64_MIN, INT64_MAX));
  return murmur3_point(token);
}

std::string format_cassandra_token(CassandraPartitioner partitioner, CassandraPoint point) {
  if (partitioner == CassandraPartitioner::kMurmur3) {
    return fmt::format("{}", static_cast<int64_t>(static_cast<uint64_t>(point >> 63) ^ kSignBit));
  }
  return point == 0 ? "-1" : fmt::format("{}", point - 1);
}

Result<std::vector<DataCentreReplicas>> parse_cassandra_replication(std::string_view text) {
  std::vector<DataCentreReplicas> replication;
  const auto parse = [](std::string_view item) -> Result<DataCentreReplicas> {
    const size_t colon = item.find(':');
    if (colon == std::string_view::npos || colon == 0) return fail(Code::kInvalidArgument, "must be \"dc:replicas\"");
    SLIPRING_ASSIGN(const uint64_t replicas, parse_u64(item.substr(colon + 1), 0, kMembersMax));
    return DataCentreReplicas{std::string(item.substr(0, colon)), static_cast<uint32_t>(replicas)};
  };
  SLIPRING_TRY(for_each_token(text, parse, [&](const DataCentreReplicas& dc) { replication.push_back(dc); }));
  std::vector<std::string_view> names;
  for (const DataCentreReplicas& dc : replication) names.push_back(dc.dc);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return fail(Code::kInvalidArgument, fmt::format("data centre {} twice", *twice));
  return replication;
}

Result<std::unique_ptr<const CassandraScheme>> CassandraScheme::make(const SchemeInput& input) {
  const auto partitioner =
      input.options.text("partitioner") == "random" ? CassandraPartitioner::kRandom : CassandraPartitioner::kMurmur3;
  std::unique_ptr<CassandraScheme> scheme(new CassandraScheme(input.members.size(), partitioner));
  SLIPRING_TRY(scheme->read_tokens(input));
  scheme->read_places(input);
  SLIPRING_TRY(scheme->read_strategy(input));
  return scheme;
}

Status CassandraScheme::read_tokens(const SchemeInput& input) {
  std::vector<RingPoint<CassandraPoint>> points;
  for (NodeIndex i = 0; i < input.members.size(); ++i) {
    const auto parse = [&](std::string_view text) { return parse_cassandra_token(partitioner_, text); };
    const auto take = [&](CassandraPoint point) { points.push_back({point, i}); };
    auto taken = for_each_token(input.attributes[i].text("tokens"), parse, take);
    if (!taken) return fail_in(fmt::format("node {}", input.members[i].name), taken.error());
  }
  ring_ = PointRing<CassandraPoint>(std::move(points), Ties::kKeepInOrder);
  for (size_t i = 1; i < ring_.size(); ++i) {
    if (ring_.point(i) != ring_.point(i - 1)) continue;
    return fail(Code::kInvalidArgument,
                fmt::format("token {}: named by {} and by {}", format_cassandra_token(partitioner_, ring_.point(i)),
                            input.members[ring_.member(i - 1)].name, input.members[ring_.member(i)].name));
  }
  return {};
}

// Numbers the data centres and the racks, each by first appearance.
void CassandraScheme::read_places(const SchemeInput& input) {
  std::map<std::string_view, uint32_t> dc_numbers;
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> rack_numbers;
  for (const Member& member : input.members) {
    const Zone zone = split_zone(member.zone);
    const auto [dc, new_dc] = dc_numbers.try_emplace(zone.dc, static_cast<uint32_t>(dcs_.size()));
    if (new_dc) dcs_.push_back({std::string(zone.dc)});
    DataCentre& centre = dcs_[dc->second];
    const auto [rack, new_rack] = rack_numbers.try_emplace({dc->second, zone.rack}, rack_count_);
    if (new_rack) {
      ++rack_count_;
      ++centre.racks;
    }
    ++centre.nodes;
    places_.push_back({dc->second, rack->second});
  }
}

Status CassandraScheme::read_strategy(const SchemeInput& input) {
  if (input.options.text("strategy") == "simple") {
    if (input.options.given("replication")) {
      return fail(Code::kInvalidArgument, "option replication: only with strategy=network");
    }
    simple_replicas_ = static_cast<uint32_t>(input.options.unsigned_integer("replication_factor"));
    return {};
  }
  if (input.options.given("replication_factor")) {
    return fail(Code::kInvalidArgument, "option replication_factor: only with strategy=simple");
  }
  auto replication = parse_cassandra_replication(input.options.text("replication"));
  if (!replication) return fail_in("option replication", replication.error());
  bool any = false;
  for (DataCentre& centre : dcs_) {
    for (const DataCentreReplicas& wanted : *replication) {
      if (wanted.dc == centre.name) centre.replicas = wanted.replicas;
    }
    any |= centre.replicas > 0;
  }
  if (!any) return fail(Code::kInvalidArgument, "option replication: no node is in any of its data centres");
  return {};
}

size_t CassandraScheme::position_of(std::string_view key) const {
  return ring_.wrap(ring_.at_or_after(cassandra_point(partitioner_, key)));
}

NodeIndex CassandraScheme::owner(std::string_view key) const {
  size_t at = position_of(key);
  // The first node met in a data centre that holds replicas stands in a rack not seen yet, so it is always taken.
  if (simple_replicas_ == 0) {
    while (dcs_[places_[ring_.member(at)].dc].replicas == 0) at = ring_.wrap(at + 1);
  }
  return ring_.member(at);
}

std::vector<NodeIndex> CassandraScheme::replicas(std::string_view key) const {
  const size_t at = position_of(key);
  if (simple_replicas_ == 0) return network_replicas(at);
  std::vector<NodeIndex> nodes(std::min<size_t>(simple_replicas_, member_count()));
  nodes.resize(ring_.distinct_from(at, nodes));
  return nodes;
}

std::vector<NodeIndex> CassandraScheme::network_replicas(size_t position) const {
  struct Left {
    int64_t replicas;
    int64_t rack_repeats;
  };
  std::vector<Left> left;
  int64_t wanted = 0;
  for (const DataCentre& dc : dcs_) {
    left.push_back({std::min<int64_t>(dc.replicas, dc.nodes), int64_t{dc.replicas} - dc.racks});
    wanted += left.back().replicas;
  }
  std::vector<NodeIndex> nodes;
  IndexSet taken;
  IndexSet racks;
  for (size_t step = 0; step < ring_.size() && std::ssize(nodes) < wanted;
       ++step, position = ring_.wrap(position + 1)) {
    const NodeIndex node = ring_.member(position);
    const Place place = places_[node];
    Left& dc = left[place.dc];
    if (dc.replicas == 0 || taken.contains(node)) continue;
    if (!racks.insert(place.rack) && dc.rack_repeats-- <= 0) continue;
    taken.insert(node);
    --dc.replicas;
    nodes.push_back(node);
  }
  return nodes;
}

size_t CassandraScheme::preference_list(std::string_view key, std::span<NodeIndex> out) const {
  if (simple_replicas_ != 0) return ring_.distinct_from(position_of(key), out);
  std::vector<NodeIndex> nodes = replicas(key);
  if (nodes.size() < out.size()) {
    std::vector<NodeIndex> all(member_count());
    all.resize(ring_.distinct_from(position_of(key), all));
    IndexSet listed;
    for (const NodeIndex node : nodes) listed.insert(node);
    std::copy_if(all.begin(), all.end(), std::back_inserter(nodes),
                 [&](NodeIndex node) { return !listed.contains(node); });
  }
  const size_t count = std::min(nodes.size(), out.size());
  std::copy_n(nodes.begin(), count, out.begin());
  return count;
}

Explanation CassandraScheme::explain(std::string_view key) const {
  const size_t at = position_of(key);
  return {.point = format_cassandra_token(partitioner_, cassandra_point(partitioner_, key)),
          .range = fmt::format("({}, {}]", format_cassandra_token(partitioner_, ring_.point(ring_.before(at))),
                               format_cassandra_token(partitioner_, ring_.point(at)))};
}

const SchemeDefinition& cassandra_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "cassandra",
               .system = "Apache Cassandra (server, trunk of October 2024)",
               .source = "Murmur3Partitioner, RandomPartitioner, SimpleStrategy, NetworkTopologyStrategy of Cassandra",
               .summary = "given tokens, both hashing partitioners, replicas by strategy",
               .options = {{"partitioner", ParameterType::kChoice, "murmur3", "murmur3|random",
                            "how keys become tokens"},
                           {"strategy", ParameterType::kChoice, "simple", "simple|network",
                            "SimpleStrategy or NetworkTopologyStrategy"},
                           {"replication_factor", ParameterType::kUnsigned, "1", "1..100000", "replicas (simple)"},
                           {"replication", ParameterType::kText, "", "",
                            "replicas by data centre (network): \"dc1:3,dc2:2\""}},
               .attributes = {{"tokens", ParameterType::kText, "", "", "the node's tokens: \"-9,17\""}},
               .zones = true,
               .preference_lists = true,
               .disruption = "only the ranges next to a token that comes or goes",
               .cost = "O(log tokens) and the walk to the replicas, 18 bytes a token"},
      .make = [](const SchemeInput& input) -> Result<std::unique_ptr<const Scheme>> {
        return CassandraScheme::make(input);
      }};
  return definition;
}

}  // namespace slipring
