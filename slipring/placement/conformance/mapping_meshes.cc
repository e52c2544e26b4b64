// Load balancers that publish tables or rings: Envoy, gRPC, Cilium, Katran.
#include <fmt/format.h>

#include "slipring/base/bytes.h"
#include "slipring/base/parse.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/conformance/mapping.h"
#include "slipring/placement/lookup_table.h"
#include "slipring/placement/point_scheme.h"

namespace slipring::conformance {
namespace {

std::string hex_sha256(std::string_view bytes) {
  std::string hex;
  for (const uint8_t byte : sha256(bytes)) hex += fmt::format("{:02x}", byte);
  return hex;
}

// Members with weights, labelled by their address.
Result<std::vector<Member>> weighted_members(VectorLine& line) {
  std::vector<Member> members;
  for (Fields& server : line.servers) {
    Member member;
    member.name = member_name(members.size());
    SLIPRING_ASSIGN(member.label, take_address(&server));
    SLIPRING_TRY(take_weight(&server, &member));
    server.ignore({"name", "zone"});
    members.push_back(std::move(member));
  }
  return members;
}

// "114,114,114": how many points or entries each member has.
std::string counts_of(std::span<const NodeIndex> owners, size_t members) {
  std::vector<uint64_t> counts(members);
  for (const NodeIndex owner : owners) {
    if (owner != kNoNode) ++counts[owner];
  }
  return fmt::format("{}", fmt::join(counts, ","));
}

void take_answer(Fields& fields, const char* name, VectorCase& mapped, const std::string& actual) {
  if (const auto expected = fields.take(name)) mapped.answers.push_back({name, {*expected}, {actual}});
}

Status add_owners(VectorLine& line, VectorCase& mapped) {
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = 0, .expected = line.take_column("owners")});
  return {};
}

// The members of all points, sorted by point, and the points as little-endian words.
struct RingText {
  std::vector<NodeIndex> members;
  std::string bytes;
};

RingText text_of(const PointRing<uint64_t>& ring) {
  RingText text;
  ByteWriter writer;
  for (size_t i = 0; i < ring.size(); ++i) {
    text.members.push_back(ring.member(i));
    writer.u64(ring.point(i));
  }
  text.bytes = writer.take();
  return text;
}

Result<RingText> ring_text(const VectorCase& mapped) {
  SLIPRING_ASSIGN(const auto scheme, make_scheme(mapped.spec, mapped.members));
  return text_of(dynamic_cast<const PointScheme<uint64_t>&>(*scheme).ring());
}

Status take_ring_sizes(VectorLine& line, SchemeSpec& spec) {
  for (const char* name : {"min_ring_size", "max_ring_size"}) {
    SLIPRING_ASSIGN(spec.options[name], line.options.take_required(name));
  }
  SLIPRING_TRY(line.options.take_choice("point", {"host:port_i"}));
  return {};
}

Result<VectorCase> map_envoy_ring_hash(VectorLine& line) {
  VectorCase mapped;
  mapped.spec.name = "envoy-ring-hash";
  SLIPRING_TRY(take_ring_sizes(line, mapped.spec));
  SLIPRING_TRY(line.options.take_choice("successor", {">="}));
  SLIPRING_TRY(line.options.take_choice("key_hash", {"xxh64"}));
  if (line.hash == "murmur2-64 seed 0xc70f6907") {
    mapped.spec.options["hash"] = "murmur2";
  } else if (line.hash != "xxh64") {
    return fail(Code::kInvalidArgument, fmt::format("hash \"{}\": unknown", line.hash));
  }
  SLIPRING_ASSIGN(mapped.members, weighted_members(line));
  SLIPRING_TRY(add_owners(line, mapped));
  SLIPRING_ASSIGN(const RingText text, ring_text(mapped));
  take_answer(line.options, "counts", mapped, counts_of(text.members, mapped.members.size()));
  take_answer(line.options, "ring_sha256", mapped, hex_sha256(text.bytes));
  return mapped;
}

Result<VectorCase> map_grpc_ring_hash(VectorLine& line) {
  VectorCase mapped;
  mapped.spec.name = "grpc-ring-hash";
  SLIPRING_TRY(take_ring_sizes(line, mapped.spec));
  SLIPRING_ASSIGN(mapped.members, weighted_members(line));
  SLIPRING_TRY(add_owners(line, mapped));
  SLIPRING_ASSIGN(const RingText text, ring_text(mapped));
  take_answer(line.options, "points", mapped, std::to_string(text.members.size()));
  return mapped;
}

// Counts and the SHA-256 of the table as little-endian int32 are recorded either beside the options or among them.
void take_table_answers(VectorLine& line, std::span<const NodeIndex> table, VectorCase& mapped) {
  ByteWriter bytes;
  for (const NodeIndex owner : table) bytes.u32(owner);
  const std::string sum = hex_sha256(bytes.bytes());
  const std::string counts = counts_of(table, mapped.members.size());
  take_answer(line.options, "table_sha256", mapped, sum);
  take_answer(line.others, "table_sha256", mapped, sum);
  take_answer(line.options, "counts", mapped, counts);
  if (const Column column = line.take_column("counts"); !column.empty()) {
    std::string expected;
    for (const auto& row : column) expected += fmt::format("{}{}", expected.empty() ? "" : ",", fmt::join(row, ","));
    mapped.answers.push_back({"counts", {expected}, {counts}});
  }
}

Result<std::vector<uint64_t>> take_positions(VectorLine& line, size_t table_size) {
  std::vector<uint64_t> positions;
  if (const auto all = line.others.take("positions")) {
    if (*all != "all") return fail(Code::kInvalidArgument, fmt::format("positions \"{}\": unknown", *all));
    for (size_t i = 0; i < table_size; ++i) positions.push_back(i);
    return positions;
  }
  for (const auto& row : line.take_column("positions")) {
    if (row.size() != 1) return fail(Code::kInvalidArgument, "positions: a list stands where one value must");
    SLIPRING_ASSIGN(const uint64_t position, parse_u64(row.front(), 0, table_size - 1));
    positions.push_back(position);
  }
  return positions;
}

// owners[i] is the entry at positions[i] of the table.
Status add_table_owners(VectorLine& line, std::span<const NodeIndex> table, VectorCase& mapped) {
  SLIPRING_ASSIGN(const std::vector<uint64_t> positions, take_positions(line, table.size()));
  const Column owners = line.take_column("owners");
  if (owners.size() != positions.size()) {
    return fail(Code::kInvalidArgument, fmt::format("{} positions but {} owners", positions.size(), owners.size()));
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    const NodeIndex owner = table[positions[i]];
    mapped.answers.push_back({fmt::format("entry {}", positions[i]),
                              owners[i],
                              {owner == kNoNode ? std::string("-1") : std::to_string(owner)}});
  }
  return {};
}

Result<std::vector<NodeIndex>> table_of(const VectorCase& mapped) {
  SLIPRING_ASSIGN(const auto scheme, make_scheme(mapped.spec, mapped.members));
  const auto table = dynamic_cast<const LookupTableScheme&>(*scheme).table();
  return std::vector<NodeIndex>(table.begin(), table.end());
}

Result<VectorCase> map_envoy_maglev(VectorLine& line) {
  VectorCase mapped;
  mapped.spec.name = "envoy-maglev";
  SLIPRING_ASSIGN(mapped.spec.options["table_size"], line.options.take_required("table_size"));
  SLIPRING_TRY(line.options.take_choice("hash_key", {"host:port"}));
  SLIPRING_TRY(line.options.take_choice("key_hash", {"xxh64"}));
  SLIPRING_ASSIGN(mapped.members, weighted_members(line));
  SLIPRING_TRY(add_owners(line, mapped));
  SLIPRING_ASSIGN(const std::vector<NodeIndex> table, table_of(mapped));
  take_table_answers(line, table, mapped);
  return mapped;
}

Result<VectorCase> map_cilium_maglev(VectorLine& line) {
  VectorCase mapped;
  mapped.spec.name = "cilium-maglev";
  SLIPRING_ASSIGN(mapped.spec.options["table_size"], line.options.take_required("table_size"));
  SLIPRING_ASSIGN(mapped.spec.options["hash_seed"], line.options.take_required("hash_seed_base64"));
  SLIPRING_TRY(line.options.take_choice("hash_key", {"[ip:port/TCP,State:active]"}));
  SLIPRING_ASSIGN(mapped.members, weighted_members(line));
  for (Member& member : mapped.members) member.label = fmt::format("[{}/TCP,State:active]", member.label);
  SLIPRING_ASSIGN(const std::vector<NodeIndex> table, table_of(mapped));
  take_table_answers(line, table, mapped);
  SLIPRING_TRY(add_table_owners(line, table, mapped));
  return mapped;
}

// Recorded from the bare table functions, which take the reals as they stand.
Result<VectorCase> map_katran(VectorLine& line) {
  VectorCase mapped;
  mapped.spec = {"katran", {{"algorithm", line.algorithm}, {"order", "given"}}};
  SLIPRING_ASSIGN(mapped.spec.options["table_size"], line.options.take_required("table_size"));
  line.options.ignore({"weights"});
  SLIPRING_ASSIGN(mapped.members, weighted_members(line));
  for (size_t i = 0; i < mapped.members.size(); ++i) {
    SLIPRING_ASSIGN(mapped.members[i].attributes["hash"], line.servers[i].take_required("hash"));
  }
  SLIPRING_ASSIGN(const std::vector<NodeIndex> table, table_of(mapped));
  take_table_answers(line, table, mapped);
  SLIPRING_TRY(add_table_owners(line, table, mapped));
  return mapped;
}

}  // namespace

std::vector<MappedSystem> mesh_mappings() {
  return {
      {"cilium-maglev", map_cilium_maglev},
      {"envoy-maglev", map_envoy_maglev},
      {"envoy-ring-hash", map_envoy_ring_hash},
      {"grpc-ring-hash", map_grpc_ring_hash},
      {"katran", map_katran},
  };
}

}  // namespace slipring::conformance
