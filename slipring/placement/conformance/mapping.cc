#include "slipring/placement/conformance/mapping.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring::conformance {
namespace {

std::vector<MappedSystem> make_table() {
  std::vector<MappedSystem> table;
  for (const auto family :
       {memcached_mappings, proxy_mappings, npm_mappings, database_mappings, mesh_mappings, library_mappings}) {
    const std::vector<MappedSystem> systems = family();
    table.insert(table.end(), systems.begin(), systems.end());
  }
  return table;
}

const std::vector<MappedSystem>& table() {
  static const std::vector<MappedSystem> systems = make_table();
  return systems;
}

Status check_understood(const VectorLine& line) {
  SLIPRING_TRY(line.options.check_all_taken("option"));
  SLIPRING_TRY(line.others.check_all_taken("field"));
  for (const Fields& server : line.servers) SLIPRING_TRY(server.check_all_taken("server field"));
  if (!line.columns.empty())
    return fail(Code::kInvalidArgument, fmt::format("field \"{}\": unknown", line.columns.begin()->first));
  return {};
}

Status check_shape(const VectorCase& mapped) {
  if (mapped.checks.empty() && mapped.answers.empty())
    return fail(Code::kInvalidArgument, "no answers to compare with");
  for (const Check& check : mapped.checks) {
    if (check.expected.size() != mapped.keys.size()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} keys but {} answers", mapped.keys.size(), check.expected.size()));
    }
  }
  return {};
}

}  // namespace

std::vector<std::string_view> replayable_systems() {
  std::vector<std::string_view> names;
  for (const MappedSystem& entry : table()) names.push_back(entry.system);
  return names;
}

Result<VectorCase> map_line(VectorLine line) {
  for (const MappedSystem& entry : table()) {
    if (entry.system != line.system) continue;
    line.options.ignore({"case"});
    line.others.ignore({"case"});
    SLIPRING_ASSIGN(VectorCase mapped, entry.mapping(line));
    SLIPRING_TRY(check_understood(line));
    SLIPRING_TRY(check_shape(mapped));
    return mapped;
  }
  return fail(Code::kInvalidArgument, fmt::format("system \"{}\": unknown", line.system.substr(0, 64)));
}

std::string member_name(size_t i) {
  return fmt::format("s{}", i);
}

Result<std::string> take_address(Fields* server) {
  SLIPRING_ASSIGN(std::string host, server->take_required("host"));
  const std::optional<std::string> port = server->take("port");
  if (!port) return host;
  SLIPRING_ASSIGN(const uint64_t number, parse_u64(*port, 1, 65535));
  return format_host_port({host, static_cast<uint16_t>(number)});
}

Status take_weight(Fields* server, Member* member) {
  const std::optional<std::string> weight = server->take("weight");
  if (!weight) return {};
  SLIPRING_ASSIGN(member->weight_milli, parse_milli(*weight, 0, kWeightMilliMax));
  return {};
}

}  // namespace slipring::conformance
