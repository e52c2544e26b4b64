#include "slipring/placement/server_list.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "slipring/base/parse.h"

namespace slipring {
namespace {

Result<ServerList> with_whole_weights(const SchemeInput& input, ServerList servers) {
  for (const Server& server : servers) {
    if (server.weight_milli % 1000 == 0) continue;
    return fail(Code::kInvalidArgument,
                fmt::format("node {}: weight {}: must be a whole number", input.members[server.member].name,
                            format_milli(server.weight_milli)));
  }
  return servers;
}

}  // namespace

ServerList listed_servers(const SchemeInput& input) {
  ServerList servers;
  for (size_t i = 0; i < input.members.size(); ++i) {
    const int64_t weight = input.members[i].weight_milli;
    if (weight > 0) servers.push_back({static_cast<NodeIndex>(i), weight, input.label(i)});
  }
  return servers;
}

ServerList servers_zero_as_one(const SchemeInput& input) {
  ServerList servers;
  for (size_t i = 0; i < input.members.size(); ++i) {
    const int64_t weight = input.members[i].weight_milli;
    servers.push_back({static_cast<NodeIndex>(i), weight == 0 ? 1000 : weight, input.label(i)});
  }
  return servers;
}

Result<ServerList> whole_weight_servers(const SchemeInput& input) {
  return with_whole_weights(input, listed_servers(input));
}

Result<ServerList> whole_weight_servers_zero_as_one(const SchemeInput& input) {
  return with_whole_weights(input, servers_zero_as_one(input));
}

uint64_t total_weight(const ServerList& servers) {
  uint64_t total = 0;
  for (const Server& server : servers) total += server.weight();
  return total;
}

Status check_points(uint64_t points) {
  if (points <= kPointsMax) return {};
  return fail(Code::kInvalidArgument, fmt::format("{} points: at most {}", points, kPointsMax));
}

Status check_distinct_labels(const ServerList& servers) {
  std::unordered_set<std::string_view> seen;
  for (const Server& server : servers) {
    if (!seen.insert(server.label).second)
      return fail(Code::kInvalidArgument, fmt::format("label \"{}\": used twice", server.label));
  }
  return {};
}

Result<std::vector<NodeIndex>> weighted_slots(const ServerList& servers) {
  SLIPRING_TRY(check_points(total_weight(servers)));
  std::vector<NodeIndex> slots;
  slots.reserve(total_weight(servers));
  for (const Server& server : servers) slots.insert(slots.end(), server.weight(), server.member);
  return slots;
}

ServerAddress split_address(std::string_view label) {
  std::string_view host = label;
  std::string_view port;
  const size_t colon = label.rfind(':');
  const bool has_port =
      colon != label.npos && colon + 1 < label.size() && label.find_first_not_of("0123456789", colon + 1) == label.npos;
  if (has_port && !label.starts_with('/')) {
    host = label.substr(0, colon);
    port = label.substr(colon + 1);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {host, port};
}

Result<uint32_t> port_of(const ServerAddress& address, uint32_t otherwise) {
  if (address.port.empty()) return otherwise;
  const auto port = parse_u64(address.port, 0, 65535);
  if (!port) {
    return fail(Code::kInvalidArgument,
                fmt::format("label \"{}:{}\": port must be 0 to 65535", address.host, address.port));
  }
  return static_cast<uint32_t>(*port);
}

std::string full_address(std::string_view label) {
  const ServerAddress address = split_address(label);
  return fmt::format("{}:{}", address.host, address.port.empty() ? std::to_string(kMemcachedPort) : address.port);
}

uint32_t ketama_points_float32(uint64_t weight, uint64_t total, uint64_t servers) {
  const float share = static_cast<float>(weight) / static_cast<float>(total);
  const float groups = share * 160 / 4 * static_cast<float>(servers);
  return static_cast<uint32_t>(std::floor(static_cast<float>(static_cast<double>(groups) + 1e-10))) * 4;
}

}  // namespace slipring
