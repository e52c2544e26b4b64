// The topology of one epoch: pools, their nodes, schemes and, while a plan is open, both placements and who owns each
// move. A snapshot is a value that never changes once published; routers, controller, CLI and libraries share it as
// shared_ptr<const Snapshot>.
//
// Placements give node *names*; the snapshot binds names to *instances*, for the old and the new side of a plan.
// Thread-safety: values; a const Snapshot may be read from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/scheme.h"

namespace slipring {

// Rises by one for every published change; 0 = nothing published yet.
enum class Epoch : uint64_t {};
constexpr uint64_t to_u64(Epoch e) {
  return static_cast<uint64_t>(e);
}
constexpr Epoch next(Epoch e) {
  return Epoch{to_u64(e) + 1};
}

// Limits: a snapshot outside them is refused.
inline constexpr size_t kPoolsMax = 64;
inline constexpr size_t kNodesPerPoolMax = 10'000;
inline constexpr size_t kMovesPerPlanMax = 1'000'000;
inline constexpr uint32_t kSlicesMax = 4096;  // 1, 16, 256 or 4096
inline constexpr uint32_t kReplicasMax = 16;
inline constexpr size_t kKeyPrefixBytesMax = 256;
inline constexpr size_t kZoneBytesMax = 64;
inline constexpr size_t kLabelBytesMax = 255;
inline constexpr size_t kSettingsMax = 64;                // options of a scheme, attributes of a node
inline constexpr size_t kSettingBytesMax = 1024u * 1024;  // one value: token lists and slot tables are long

// One server process behind a node's name: an address and how often the name was given a new one.
struct Instance {
  std::string address;  // "host:port"
  uint64_t generation = 1;

  auto operator<=>(const Instance&) const = default;
};

struct Node {
  std::string name;
  std::string label;  // what the scheme hashes; empty: the name
  std::string zone;
  int64_t weight_milli = 1000;
  std::map<std::string, std::string> attributes;
  Instance instance;

  bool operator==(const Node&) const = default;
};

// One placement: a scheme over an ordered list of nodes.
struct Layout {
  SchemeSpec scheme;
  std::vector<Node> nodes;
  uint32_t replicas = 1;

  bool operator==(const Layout&) const = default;
};

enum class PoolKind : uint8_t { kStore = 0, kCache = 1 };

// How outdated routers, movers and controllers are kept from a pool's servers: by ACL users that are deleted, or, where
// servers have no ACL, by connections that carry names and are killed (design/0008).
enum class PoolFence : uint8_t { kAcl = 0, kNames = 1 };
std::string_view fence_name(PoolFence fence);  // "acl", "names"

// The keys of one slice that go from one instance to another, and which of the two owns them in this epoch.
struct MoveOwner {
  Instance source;
  Instance target;
  uint32_t slice = 0;
  bool target_owns = false;

  bool operator==(const MoveOwner&) const = default;
};

// The open plan of a pool as routers need it: the other placement and the owner of every move. A key whose old and new
// instance are equal is not touched by the plan.
struct OpenPlan {
  uint64_t id = 0;
  Layout next;
  uint32_t slices = 1;
  std::vector<MoveOwner> moves;  // sorted by (source, target, slice), no two equal

  bool operator==(const OpenPlan&) const = default;
};

struct Pool {
  std::string name;
  PoolKind kind = PoolKind::kStore;
  std::string key_prefix;  // only these keys are ours on the servers; empty: all
  Layout layout;           // while a plan is open: the placement before it
  std::optional<OpenPlan> plan;
  PoolFence fence = PoolFence::kAcl;

  bool operator==(const Pool&) const = default;
};

struct Snapshot {
  Epoch epoch{0};
  std::string cluster_id;  // 16 lower-case hex digits, made once
  std::vector<Pool> pools;

  const Pool* find_pool(std::string_view name) const;
  bool operator==(const Snapshot&) const = default;
};

// Everything that must hold in a published snapshot: limits, names, weights, distinct nodes and addresses, schemes that
// can be made, one pool a server, moves that name instances of both sides and are sorted. kInvalidArgument with the
// place and the reason.
Status validate(const Snapshot& snapshot);

// 1, 16, 256 or 4096.
bool is_slice_count(uint32_t slices);

// The slice of a key: the top log2(slices) bits of XXH3-64 (seed 0) of its tag. REQUIRES: slices is 1, 16, 256 or 4096.
uint32_t slice_of(std::string_view tag, uint32_t slices);

// The scheme of a layout over its nodes, in their order.
Result<std::unique_ptr<const Scheme>> make_scheme(const Layout& layout);
// The members that a layout's scheme is made of, in its order.
std::vector<Member> members_of(const Layout& layout);

}  // namespace slipring
