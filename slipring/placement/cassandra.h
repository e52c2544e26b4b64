// cassandra: the token ring and replica placement of Apache Cassandra, for both hashing partitioners and both
// strategies.
//
// Members give their tokens ("tokens") and place (zone "dc/rack"). Token of a key: Murmur3Partitioner: first word of
// MurmurHash3-x64-128 with sign-extended tail bytes, the lowest replaced by the highest, the empty key the lowest;
// RandomPartitioner: |MD5 as a signed number|, the empty key -1. Range of a token: (previous, token].
// Guarantee: replicas() is the server's natural replica list: SimpleStrategy takes distinct nodes clockwise;
// NetworkTopologyStrategy takes in one walk min(RF, nodes) nodes of each data centre, a rack seen before only RF -
// racks times. preference_list() goes on with the remaining nodes clockwise. Cost: O(log tokens) plus the walk, 18
// bytes a token. Disruption: only ranges next to a token that comes or goes. Source: Cassandra trunk of October 2024
// (RandomPartitioner, Murmur3Partitioner, NetworkTopologyStrategy). The Node.js driver departs from the server for
// NetworkTopologyStrategy; this follows the server.
#pragma once

#include "slipring/placement/point_ring.h"
#include "slipring/placement/registry.h"

namespace slipring {

enum class CassandraPartitioner { kMurmur3, kRandom };

// Both partitioners' tokens in one order: the murmur3 token as an offset from the lowest, shifted to 127 bits; the
// random token plus one, so that -1 is zero.
__extension__ using CassandraPoint = unsigned __int128;

CassandraPoint cassandra_point(CassandraPartitioner partitioner, std::string_view key);
// The point of a token written in decimal. kInvalidArgument: no token of the partitioner.
Result<CassandraPoint> parse_cassandra_token(CassandraPartitioner partitioner, std::string_view text);
// The token in decimal, as nodetool writes it.
std::string format_cassandra_token(CassandraPartitioner partitioner, CassandraPoint point);

template <>
struct PointTraits<CassandraPoint> {
  static constexpr uint64_t index_word(CassandraPoint p) { return static_cast<uint64_t>(p >> 64); }
  static constexpr CassandraPoint highest() { return ~CassandraPoint{0}; }
};

// How many replicas a data centre holds.
struct DataCentreReplicas {
  std::string dc;
  uint32_t replicas = 0;
};

// "dc1:3,dc2:2". kInvalidArgument: not of this form, a data centre twice.
Result<std::vector<DataCentreReplicas>> parse_cassandra_replication(std::string_view text);

class CassandraScheme final : public Scheme {
 public:
  static Result<std::unique_ptr<const CassandraScheme>> make(const SchemeInput& input);

  // The natural replicas of the key, the owner first: no more than the strategy places.
  std::vector<NodeIndex> replicas(std::string_view key) const;

  NodeIndex owner(std::string_view key) const override;
  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override;
  Explanation explain(std::string_view key) const override;

 private:
  // One data centre of the topology; replicas 0 if the strategy places none there.
  struct DataCentre {
    std::string name;
    uint32_t replicas = 0;
    uint32_t nodes = 0;
    uint32_t racks = 0;
  };
  struct Place {
    uint32_t dc = 0;    // index into dcs_
    uint32_t rack = 0;  // numbered over all data centres
  };

  CassandraScheme(size_t members, CassandraPartitioner partitioner) : Scheme(members), partitioner_(partitioner) {}

  Status read_tokens(const SchemeInput& input);
  void read_places(const SchemeInput& input);
  Status read_strategy(const SchemeInput& input);
  size_t position_of(std::string_view key) const;
  std::vector<NodeIndex> network_replicas(size_t position) const;

  CassandraPartitioner partitioner_;
  PointRing<CassandraPoint> ring_;
  uint32_t simple_replicas_ = 0;  // SimpleStrategy; 0 = NetworkTopologyStrategy
  std::vector<DataCentre> dcs_;
  std::vector<Place> places_;  // by member
  uint32_t rack_count_ = 0;
};

const SchemeDefinition& cassandra_scheme();

}  // namespace slipring
