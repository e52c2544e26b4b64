// What the schemes of memcached clients and proxies share: a list of servers in order, with whole weights, of which
// those with weight 0 are as if they were not in the list (or count as 1, by the client); and how such servers are
// written, host:port.
//
// Invariant: a ServerList has at least one server, and never more points or slots than kPointsMax.
// Thread-safety: values; texts refer to the SchemeInput.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

struct Server {
  NodeIndex member = 0;
  int64_t weight_milli = 1000;
  std::string_view label;

  uint32_t weight() const { return static_cast<uint32_t>(weight_milli / 1000); }
};

using ServerList = std::vector<Server>;

// Points or slots of a pool.
inline constexpr uint64_t kPointsMax = 16'777'216;

// Members of weight above 0, in order.
ServerList listed_servers(const SchemeInput& input);
// All members, in order, weight 0 counted as 1: what clients do that take 0 for "not given".
ServerList servers_zero_as_one(const SchemeInput& input);
// The same as either of them. kInvalidArgument: a weight that is no whole number.
Result<ServerList> whole_weight_servers(const SchemeInput& input);
Result<ServerList> whole_weight_servers_zero_as_one(const SchemeInput& input);

uint64_t total_weight(const ServerList& servers);

// kInvalidArgument if a pool would get more than kPointsMax points.
Status check_points(uint64_t points);

// kInvalidArgument if two servers have the same label.
Status check_distinct_labels(const ServerList& servers);

// The list with every server as often as its weight says: the slots of hash % n.
// kInvalidArgument: more than kPointsMax.
Result<std::vector<NodeIndex>> weighted_slots(const ServerList& servers);

// "host:port", "[v6]:port" or "host": what is hashed is often put together from the parts.
struct ServerAddress {
  std::string_view host;  // without brackets
  std::string_view port;  // digits; empty if none was written
};
// A text without ':' and digits at its end is all host. A path ("/run/m.sock") is a host without port.
ServerAddress split_address(std::string_view label);
// The port as a number, `otherwise` where none was written. kInvalidArgument above 65535.
Result<uint32_t> port_of(const ServerAddress& address, uint32_t otherwise);

inline constexpr uint32_t kMemcachedPort = 11211;

// "host:port", with 11211 where the label names no port.
std::string full_address(std::string_view label);

// How many of the points a pool has in the float32 formula of libketama's heirs:
// 4 * floor(weight/total * 160/4 * n + 1e-10), every step rounded to float32. Equal weights do not always get 160:
// 25, 47, 50, ... servers get 156.
uint32_t ketama_points_float32(uint64_t weight, uint64_t total, uint64_t servers);

}  // namespace slipring
