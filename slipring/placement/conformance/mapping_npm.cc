// Packages of npm; "rank" is which distinct server was asked for: 0 the owner, 1 the next, ...
#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/placement/conformance/mapping.h"
#include "slipring/placement/npm_ketama.h"

namespace slipring::conformance {
namespace {

Result<VectorCase> ranked_case(VectorLine& line, SchemeSpec spec) {
  VectorCase mapped;
  mapped.spec = std::move(spec);
  SLIPRING_ASSIGN(const uint64_t rank, parse_u64(line.options.take_or("rank", "0"), 0, 1000));
  for (size_t i = 0; i < line.servers.size(); ++i) {
    Member member;
    member.name = member_name(i);
    SLIPRING_ASSIGN(const std::string address, take_address(&line.servers[i]));
    member.label = line.servers[i].take_or("name", address);
    SLIPRING_TRY(take_weight(&line.servers[i], &member));
    if (const auto vnodes = line.servers[i].take("vnodes")) member.attributes["vnodes"] = *vnodes;
    mapped.members.push_back(std::move(member));
  }
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = rank, .expected = line.take_column("owners")});
  return mapped;
}

Result<VectorCase> map_hashring(VectorLine& line) {
  SchemeSpec spec = {"npm-hashring", {{"algorithm", line.hash}}};
  const std::pair<const char*, const char*> names[] = {{"vnode count", "vnode_count"},
                                                       {"replicas", "replicas"},
                                                       {"compatibility", "compatibility"},
                                                       {"default port", "default_port"}};
  for (const auto& [recorded, ours] : names) {
    if (const auto value = line.options.take(recorded)) spec.options[ours] = *value;
  }
  return ranked_case(line, std::move(spec));
}

// The package always has default port 11211; the option repeats it.
Result<VectorCase> map_memcached(VectorLine& line) {
  if (const auto port = line.options.take("default_port"); port && *port != "11211")
    return fail(Code::kInvalidArgument, "default_port: must be 11211");
  return ranked_case(line, {"npm-memcached", {}});
}

// Rank 0 was asked by getNode(), others as the last of getNodes(rank + 1), which has an order of its own for all nodes.
Result<VectorCase> map_ketama(VectorLine& line) {
  SLIPRING_ASSIGN(VectorCase mapped, ranked_case(line, {"npm-ketama", {{"algorithm", line.hash}}}));
  const Check ranked = mapped.checks.front();
  if (ranked.rank == 0) return mapped;
  if (ranked.expected.size() != mapped.keys.size())
    return fail(Code::kInvalidArgument,
                fmt::format("{} keys but {} answers", mapped.keys.size(), ranked.expected.size()));
  SLIPRING_ASSIGN(const auto scheme, make_scheme(mapped.spec, mapped.members));
  mapped.checks.clear();
  for (size_t i = 0; i < mapped.keys.size(); ++i) {
    const auto nodes = npm_ketama_nodes(*scheme, mapped.members, mapped.keys[i], ranked.rank + 1);
    const bool there = ranked.rank < nodes.size();
    mapped.answers.push_back(
        {mapped.keys[i], ranked.expected[i], {there ? std::to_string(nodes[ranked.rank]) : std::string("-1")}});
  }
  return mapped;
}

Result<VectorCase> map_consistent_hash(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("distribution", {"uniform"}));
  SchemeSpec spec = {"npm-consistent-hash", {}};
  if (const auto points = line.options.take("controlPoints")) spec.options["control_points"] = *points;
  if (const auto range = line.options.take("range")) spec.options["range"] = *range;
  return ranked_case(line, std::move(spec));
}

}  // namespace

std::vector<MappedSystem> npm_mappings() {
  return {
      {"hashring", map_hashring},
      {"npm-consistent-hash", map_consistent_hash},
      {"npm-ketama", map_ketama},
      {"npm-memcached", map_memcached},
  };
}

}  // namespace slipring::conformance
