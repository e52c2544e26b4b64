// Databases and their proxies: Redis Cluster, Codis, Couchbase, Dynomite, Cassandra.
#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/placement/cassandra.h"
#include "slipring/placement/codis.h"
#include "slipring/placement/conformance/mapping.h"
#include "slipring/placement/couchbase.h"
#include "slipring/placement/dynomite.h"
#include "slipring/placement/redis_cluster.h"

namespace slipring::conformance {
namespace {

// Compares a column with text_of(key).
template <typename TextOf>
Status add_column(VectorLine& line, std::string_view name, VectorCase& mapped, TextOf text_of) {
  const Column column = line.take_column(name);
  if (column.size() != line.keys.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} keys but {} {}", line.keys.size(), column.size(), name));
  }
  for (size_t i = 0; i < column.size(); ++i) {
    mapped.answers.push_back({line.keys[i], column[i], {text_of(line.keys[i])}});
  }
  return {};
}

template <typename Slot>
Result<VectorCase> slots_case(VectorLine& line, Slot slot_of) {
  VectorCase mapped;
  SLIPRING_TRY(add_column(line, "slots", mapped, [&](std::string_view key) { return std::to_string(slot_of(key)); }));
  return mapped;
}

Result<VectorCase> map_redis_cluster(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("slots", {"16384"}));
  line.options.ignore({"hash_tag", "empty_tag"});
  return slots_case(line, redis_cluster_slot);
}

Result<VectorCase> map_codis(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("slots", {"1024"}));
  line.options.ignore({"hash_tag", "empty_tag"});
  return slots_case(line, codis_slot);
}

Result<VectorCase> map_couchbase(VectorLine& line) {
  SLIPRING_ASSIGN(const std::string text, line.options.take_required("vbuckets"));
  SLIPRING_ASSIGN(const uint64_t vbuckets, parse_u64(text, 1, 32768));
  return slots_case(line,
                    [&](std::string_view key) { return couchbase_vbucket(key, static_cast<uint32_t>(vbuckets)); });
}

// Members with zone and tokens; a server's name is free, and its weight and address play no part.
Result<std::vector<Member>> token_members(VectorLine& line) {
  std::vector<Member> members;
  for (Fields& server : line.servers) {
    Member member;
    member.name = member_name(members.size());
    member.zone = server.take_or("zone", "");
    SLIPRING_ASSIGN(member.attributes["tokens"], server.take_required("tokens"));
    server.ignore({"name", "host", "port", "weight"});
    members.push_back(std::move(member));
  }
  return members;
}

Result<VectorCase> map_dynomite(VectorLine& line) {
  VectorCase mapped;
  if (line.algorithm == "token") {
    SLIPRING_TRY(
        add_column(line, "tokens", mapped, [](std::string_view key) { return std::to_string(dynomite_token(key)); }));
    return mapped;
  }
  line.options.ignore({"tokens"});
  SLIPRING_TRY(line.options.take_choice("successor", {">="}));
  mapped.spec = {"dynomite", {}};
  for (const char* name : {"hash_tag", "rack"}) {
    if (const auto value = line.options.take(name)) mapped.spec.options[name] = *value;
  }
  SLIPRING_ASSIGN(mapped.members, token_members(line));
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = 0, .expected = line.take_column("owners")});
  return mapped;
}

Result<CassandraPartitioner> partitioner_of(const VectorLine& line) {
  if (line.hash == "murmur3-x64-128-cassandra") return CassandraPartitioner::kMurmur3;
  if (line.hash == "md5-abs") return CassandraPartitioner::kRandom;
  return fail(Code::kInvalidArgument, fmt::format("hash \"{}\": unknown", line.hash));
}

Result<VectorCase> map_cassandra_tokens(VectorLine& line, CassandraPartitioner partitioner) {
  line.options.ignore({"partitioner"});
  VectorCase mapped;
  SLIPRING_TRY(add_column(line, "tokens", mapped, [&](std::string_view key) {
    return format_cassandra_token(partitioner, cassandra_point(partitioner, key));
  }));
  return mapped;
}

// "replication" as CQL writes it: {"replication_factor": "3"} or {"dc1": "3", "dc2": "2"}.
Result<SchemeSpec> cassandra_spec(VectorLine& line, CassandraPartitioner partitioner) {
  SchemeSpec spec = {"cassandra",
                     {{"partitioner", partitioner == CassandraPartitioner::kMurmur3 ? "murmur3" : "random"}}};
  if (line.algorithm == "SimpleStrategy") {
    SLIPRING_ASSIGN(spec.options["replication_factor"], line.options.take_required("replication.replication_factor"));
    return spec;
  }
  if (line.algorithm != "NetworkTopologyStrategy") {
    return fail(Code::kInvalidArgument, fmt::format("algorithm \"{}\": unknown", line.algorithm));
  }
  spec.options["strategy"] = "network";
  std::string& replication = spec.options["replication"];
  for (const auto& [dc, replicas] : line.options.take_all("replication")) {
    replication += fmt::format("{}{}:{}", replication.empty() ? "" : ",", dc, replicas);
  }
  return spec;
}

std::vector<std::string> texts_of(std::span<const NodeIndex> nodes) {
  std::vector<std::string> texts;
  for (const NodeIndex node : nodes) texts.push_back(std::to_string(node));
  return texts;
}

// The recorded lists are the server's whole lists of replicas, so their lengths must agree too.
Result<VectorCase> map_cassandra(VectorLine& line) {
  SLIPRING_ASSIGN(const CassandraPartitioner partitioner, partitioner_of(line));
  if (line.algorithm == "token") return map_cassandra_tokens(line, partitioner);
  line.options.ignore({"owners_rule"});
  line.take_column("driver_owners_differ_at");
  VectorCase mapped;
  SLIPRING_ASSIGN(mapped.spec, cassandra_spec(line, partitioner));
  SLIPRING_ASSIGN(mapped.members, token_members(line));
  mapped.keys = line.keys;
  const Column owners = line.take_column("owners");
  if (owners.size() != line.keys.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} keys but {} owners", line.keys.size(), owners.size()));
  }
  SLIPRING_ASSIGN(const auto scheme, make_scheme(mapped.spec, mapped.members));
  const auto& cassandra = dynamic_cast<const CassandraScheme&>(*scheme);
  for (size_t i = 0; i < owners.size(); ++i) {
    mapped.answers.push_back({line.keys[i], owners[i], texts_of(cassandra.replicas(line.keys[i]))});
  }
  return mapped;
}

}  // namespace

std::vector<MappedSystem> database_mappings() {
  return {
      {"cassandra", map_cassandra},         {"codis", map_codis},
      {"couchbase", map_couchbase},         {"dynomite", map_dynomite},
      {"redis-cluster", map_redis_cluster},
  };
}

}  // namespace slipring::conformance
