// ex_hash_ring: Discord's ex_hash_ring, list for list, overrides included.
//
// A hash is bytes 8 to 15, little endian, of the MD5. Points: name (label) followed by the decimal index, nothing in
// between, as many as the attribute "replicas" says (option "replicas", 512, where it does not; 0 is allowed); owner =
// first point STRICTLY greater than the key's, wrapping. Without a separator names clash: "node1" + "12" is "node11" +
// "2"; who owns such a point is decided by Erlang's sort (erlang_sort.h), which is followed.
// find_nodes: distinct nodes clockwise. Overrides: the nodes listed for a key come first, the rest is filled from the
// ring's own answer. Where the library would walk for ever (more nodes asked for than have points), the list ends.
// Guarantee: ring. Cost: O(1) search, 10 bytes a point. Disruption: the node's own share, and points shared by name.
// Source: discord/ex_hash_ring 7.0.0 (627589b3).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slipring/placement/point_ring.h"
#include "slipring/placement/registry.h"

namespace slipring {

uint64_t ex_hash(std::string_view s);

class ExHashRing {
 public:
  struct Node {
    std::string name;
    uint32_t replicas = 512;
  };
  // By key, the names that come first; they may be unknown to the ring, and repeat.
  using Overrides = std::map<std::string, std::vector<std::string>, std::less<>>;

  // Nodes in the order in which the ring was given them.
  ExHashRing(std::vector<Node> nodes, Overrides overrides);

  // The library's find_nodes: names, at most `count`.
  std::vector<std::string> find_nodes(std::string_view key, size_t count) const;
  // The same without overrides, as indices of nodes.
  size_t find_in_ring(std::string_view key, std::span<NodeIndex> out) const;
  // The names that override the key, nullptr if none do.
  const std::vector<std::string>* overridden(std::string_view key) const;

  const PointRing<uint64_t>& ring() const { return ring_; }

 private:
  std::vector<Node> nodes_;
  Overrides overrides_;
  PointRing<uint64_t> ring_;
};

// "key:0=node3;key:1=node4,node0"; %3D, %3B, %2C and %25 stand for the signs and for any other byte. kInvalidArgument:
// not of this form, a key twice.
Result<ExHashRing::Overrides> parse_ex_hash_overrides(std::string_view text);

const SchemeDefinition& ex_hash_ring_scheme();

}  // namespace slipring
