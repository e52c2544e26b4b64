// Libraries and a router: mcrouter, ex_hash_ring, groupcache, stathat, buraksezer, go-jump.
#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/buraksezer.h"
#include "slipring/placement/conformance/mapping.h"
#include "slipring/placement/ex_hash_ring.h"
#include "slipring/placement/furc.h"
#include "slipring/placement/jump.h"
#include "slipring/placement/server_list.h"

namespace slipring::conformance {
namespace {

tl::unexpected<Error> unknown(std::string_view what, const std::string& value) {
  return fail(Code::kInvalidArgument, fmt::format("{} \"{}\": unknown", what, value));
}

// A count of things in an option, 1 to `max`.
Result<uint32_t> take_count(Fields& options, std::string_view name, uint64_t max) {
  SLIPRING_ASSIGN(const std::string text, options.take_required(name));
  SLIPRING_ASSIGN(const uint64_t count, parse_u64(text, 1, max));
  return static_cast<uint32_t>(count);
}

// Members labelled by the recorded name. Weights are recorded as 1 and mean nothing.
Result<std::vector<Member>> named_members(VectorLine& line) {
  std::vector<Member> members;
  for (Fields& server : line.servers) {
    Member member;
    member.name = member_name(members.size());
    SLIPRING_ASSIGN(member.label, server.take_required("name"));
    server.ignore({"host", "port", "weight", "zone"});
    members.push_back(std::move(member));
  }
  return members;
}

// The first `count` of the preference list, or the owner where one was recorded alone.
VectorCase list_case(VectorLine& line, SchemeSpec spec, std::vector<Member> members) {
  VectorCase mapped;
  mapped.spec = std::move(spec);
  mapped.members = std::move(members);
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kList, .rank = 0, .expected = line.take_column("owners")});
  return mapped;
}

// Compares "owners" with text_of(key).
template <typename TextOf>
Result<VectorCase> function_case(VectorLine& line, TextOf text_of) {
  const Column owners = line.take_column("owners");
  if (owners.size() != line.keys.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} keys but {} owners", line.keys.size(), owners.size()));
  }
  VectorCase mapped;
  for (size_t i = 0; i < owners.size(); ++i) {
    mapped.answers.push_back({line.keys[i], owners[i], {std::to_string(text_of(line.keys[i]))}});
  }
  return mapped;
}

std::vector<std::string_view> comma_items(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    items.push_back(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return items;
}

// What a server has that the list of weights does not reach.
constexpr double kMissingWeight = 0.5;

// Ch3 and its weighted forms know their servers by number only; all weights may be 0 there.
Result<VectorCase> map_mcrouter_numbers(VectorLine& line) {
  SLIPRING_ASSIGN(const uint32_t size, take_count(line.options, "pool_size", kFurcMax));
  for (Fields& server : line.servers) server.ignore({"name", "host", "port", "weight", "zone"});
  if (line.algorithm == "ch3 (furc)") {
    return function_case(line, [&](std::string_view key) { return furc_hash(key, size); });
  }
  std::vector<double> weights;
  SLIPRING_ASSIGN(const std::string text, line.options.take_required("weights"));
  for (const std::string_view item : comma_items(text)) {
    char* end = nullptr;
    const std::string number(item);
    weights.push_back(std::strtod(number.c_str(), &end));
    if (end != number.c_str() + number.size() || !(weights.back() >= 0 && weights.back() <= 1)) {
      return unknown("weight", number);
    }
  }
  weights.resize(size, kMissingWeight);
  const auto hash = line.algorithm == "weighted-ch3" ? weighted_ch3_hash : weighted_furc_hash;
  return function_case(line, [&](std::string_view key) { return hash(key, weights); });
}

Result<VectorCase> map_mcrouter_rendezvous(VectorLine& line, bool weighted) {
  SLIPRING_TRY(line.options.take_choice("endpoint_string", {"host:port"}));
  line.options.ignore({"weights", "replicas"});
  std::vector<Member> members;
  for (Fields& server : line.servers) {
    Member member;
    member.name = member_name(members.size());
    SLIPRING_ASSIGN(member.label, take_address(&server));
    if (weighted) SLIPRING_TRY(take_weight(&server, &member));
    server.ignore({"name", "weight", "zone"});
    members.push_back(std::move(member));
  }
  const char* name = weighted ? "mcrouter-weighted-rendezvous" : "mcrouter-rendezvous";
  return list_case(line, {name, {}}, std::move(members));
}

Result<VectorCase> map_mcrouter(VectorLine& line) {
  const bool weighted = line.algorithm == "weighted-rendezvous";
  if (weighted || line.algorithm == "rendezvous") return map_mcrouter_rendezvous(line, weighted);
  if (line.algorithm == "ch3 (furc)" || line.algorithm == "weighted-ch3" || line.algorithm == "weighted-furc") {
    return map_mcrouter_numbers(line);
  }
  return unknown("algorithm", line.algorithm);
}

// Found names are recorded as indices, names outside the ring (overrides may hold them) as they are.
std::string recorded_form(const std::string& name, const std::vector<ExHashRing::Node>& nodes) {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.name == name; });
  return it == nodes.end() ? name : std::to_string(it - nodes.begin());
}

Result<ExHashRing::Node> take_ex_node(Fields& server) {
  ExHashRing::Node node;
  SLIPRING_ASSIGN(node.name, server.take_required("name"));
  SLIPRING_ASSIGN(const std::string replicas, server.take_required("replicas"));
  SLIPRING_ASSIGN(const uint64_t count, parse_u64(replicas, 0, 65536));
  node.replicas = static_cast<uint32_t>(count);
  server.ignore({"host", "port", "weight", "zone"});
  return node;
}

ExHashRing::Overrides take_overrides(Fields& options) {
  ExHashRing::Overrides overrides;
  for (const auto& [key, names] : options.take_all("overrides")) {
    const auto items = comma_items(names);
    overrides[key].assign(items.begin(), items.end());
  }
  return overrides;
}

Result<VectorCase> map_ex_hash_ring(VectorLine& line) {
  std::vector<ExHashRing::Node> nodes;
  uint64_t points = 0;
  for (Fields& server : line.servers) {
    SLIPRING_ASSIGN(ExHashRing::Node node, take_ex_node(server));
    points += node.replicas;
    nodes.push_back(std::move(node));
    SLIPRING_TRY(check_points(points));
  }
  line.options.ignore({"replicas_default"});
  SLIPRING_ASSIGN(const uint32_t count, take_count(line.options, "num", kMembersMax));
  const Column owners = line.take_column("owners");
  if (owners.size() != line.keys.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} keys but {} owners", line.keys.size(), owners.size()));
  }
  const ExHashRing ring(nodes, take_overrides(line.options));
  VectorCase mapped;
  for (size_t i = 0; i < owners.size(); ++i) {
    std::vector<std::string> found = ring.find_nodes(line.keys[i], count);
    for (std::string& name : found) name = recorded_form(name, nodes);
    mapped.answers.push_back({line.keys[i], owners[i], std::move(found)});
  }
  return mapped;
}

Result<VectorCase> map_groupcache(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("point", {"decimal(i)+name"}));
  SLIPRING_TRY(line.options.take_choice("successor", {">="}));
  SchemeSpec spec = {"groupcache", {}};
  SLIPRING_ASSIGN(spec.options["replicas"], line.options.take_required("replicas"));
  SLIPRING_ASSIGN(std::vector<Member> members, named_members(line));
  return list_case(line, std::move(spec), std::move(members));
}

Result<VectorCase> map_stathat(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("point", {"decimal(i)+name"}));
  SLIPRING_TRY(line.options.take_choice("successor", {">"}));
  line.options.ignore({"num"});
  SchemeSpec spec = {"stathat", {}};
  SLIPRING_ASSIGN(spec.options["replicas"], line.options.take_required("replicas"));
  if (line.hash == "fnv1a-32") {
    spec.options["hash"] = "fnv1a";
  } else if (line.hash != "crc32-ieee") {
    return unknown("hash", line.hash);
  }
  SLIPRING_ASSIGN(std::vector<Member> members, named_members(line));
  return list_case(line, std::move(spec), std::move(members));
}

Result<VectorCase> map_pymemcache_rendezvous(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("input", {"node-key"}));
  SchemeSpec spec = {"pymemcache", {}};
  SLIPRING_ASSIGN(spec.options["seed"], line.options.take_required("seed"));
  SLIPRING_ASSIGN(std::vector<Member> members, named_members(line));
  return list_case(line, std::move(spec), std::move(members));
}

Result<VectorCase> map_buraksezer(VectorLine& line) {
  SchemeSpec spec = {"buraksezer", {}};
  SLIPRING_ASSIGN(const uint32_t partitions, take_count(line.options, "partition_count", 1'048'576));
  spec.options["partition_count"] = std::to_string(partitions);
  for (const char* name : {"replication_factor", "load"}) {
    SLIPRING_ASSIGN(spec.options[name], line.options.take_required(name));
  }
  if (line.version.find("\"name+i\"") != std::string::npos || line.version.find("\"namei\"") != std::string::npos) {
    spec.options["release"] = "0.x";
  }
  line.options.ignore({"num"});
  const Column recorded = line.take_column("partitions");
  const std::vector<std::string> keys = line.keys;
  SLIPRING_ASSIGN(std::vector<Member> members, named_members(line));
  VectorCase mapped = list_case(line, std::move(spec), std::move(members));
  if (Column closest = line.take_column("closest"); !closest.empty()) {
    mapped.checks.push_back({.kind = Check::Kind::kList, .rank = 0, .expected = std::move(closest)});
  }
  for (size_t i = 0; i < recorded.size() && i < keys.size(); ++i) {
    mapped.answers.push_back({keys[i], recorded[i], {fmt::format("{}", buraksezer_partition_of(keys[i], partitions))}});
  }
  return mapped;
}

Result<VectorCase> map_jump_integers(VectorLine& line, uint32_t buckets) {
  const Column keys = line.take_column("int_keys");
  const Column owners = line.take_column("owners");
  if (owners.size() != keys.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} keys but {} owners", keys.size(), owners.size()));
  }
  VectorCase mapped;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].size() != 1) return fail(Code::kInvalidArgument, "int_keys: a list stands where one value must");
    SLIPRING_ASSIGN(const uint64_t key, parse_u64(keys[i].front(), 0, UINT64_MAX));
    mapped.answers.push_back({keys[i].front(), owners[i], {std::to_string(jump_hash(key, buckets))}});
  }
  return mapped;
}

Result<VectorCase> map_jump(VectorLine& line) {
  SLIPRING_ASSIGN(const uint32_t buckets, take_count(line.options, "buckets", INT32_MAX));
  if (line.columns.contains("int_keys")) return map_jump_integers(line, buckets);
  if (line.hash != "xxh64 seed 0") return unknown("hash", line.hash);
  return function_case(line, [&](std::string_view key) { return jump_hash(xxh64(key), buckets); });
}

}  // namespace

std::vector<MappedSystem> library_mappings() {
  return {
      {"buraksezer-consistent", map_buraksezer},
      {"ex_hash_ring", map_ex_hash_ring},
      {"groupcache", map_groupcache},
      {"jump", map_jump},
      {"mcrouter", map_mcrouter},
      {"pymemcache-rendezvous", map_pymemcache_rendezvous},
      {"stathat-consistent", map_stathat},
  };
}

}  // namespace slipring::conformance
