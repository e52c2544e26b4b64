#include "slipring/topology/codec.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "slipring/base/bytes.h"
#include "slipring/base/parse.h"

namespace slipring {
namespace {

constexpr std::string_view kMagic = "SLPRSNAP";
constexpr uint16_t kFormat = 1;
constexpr size_t kHeaderBytes = 8 + 2 + 8;
constexpr size_t kChecksumBytes = 16;
// Bounds while decoding; validate() has the narrower ones with names.
constexpr size_t kNameBytes = 1024;
constexpr size_t kValueBytes = 4u << 20;
constexpr size_t kAddressBytes = 264;

std::string checksum(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  ByteWriter out;
  out.u64(hash.low64);
  out.u64(hash.high64);
  return out.take();
}

void put(ByteWriter& out, const std::map<std::string, std::string>& map) {
  out.u32(static_cast<uint32_t>(map.size()));
  for (const auto& [key, value] : map) {
    out.str(key);
    out.str(value);
  }
}

void put(ByteWriter& out, const Instance& instance) {
  out.str(instance.address);
  out.u64(instance.generation);
}

void put(ByteWriter& out, const Node& node) {
  out.str(node.name);
  out.str(node.label);
  out.str(node.zone);
  out.i64(node.weight_milli);
  put(out, node.attributes);
  put(out, node.instance);
}

void put(ByteWriter& out, const Layout& layout) {
  out.str(layout.scheme.name);
  put(out, layout.scheme.options);
  out.u32(layout.replicas);
  out.u32(static_cast<uint32_t>(layout.nodes.size()));
  for (const Node& node : layout.nodes) put(out, node);
}

// Moves name few instances many times: a sorted table of them once, then indexes into it.
void put(ByteWriter& out, const std::vector<MoveOwner>& moves) {
  std::map<Instance, uint32_t> table;
  for (const MoveOwner& move : moves) {
    table.emplace(move.source, 0);
    table.emplace(move.target, 0);
  }
  out.u32(static_cast<uint32_t>(table.size()));
  uint32_t index = 0;
  for (auto& [instance, number] : table) {
    number = index++;
    put(out, instance);
  }
  out.u32(static_cast<uint32_t>(moves.size()));
  for (const MoveOwner& move : moves) {
    out.u32(table.at(move.source));
    out.u32(table.at(move.target));
    out.u32(move.slice);
    out.u8(move.target_owns ? 1 : 0);
  }
}

void put(ByteWriter& out, const Pool& pool) {
  out.str(pool.name);
  out.u8(static_cast<uint8_t>(pool.kind));
  out.u8(static_cast<uint8_t>(pool.fence));
  out.str(pool.key_prefix);
  put(out, pool.layout);
  out.u8(pool.plan ? 1 : 0);
  if (!pool.plan) return;
  out.u64(pool.plan->id);
  put(out, pool.plan->next);
  out.u32(pool.plan->slices);
  put(out, pool.plan->moves);
}

bool get_bool(ByteReader& in) {
  const uint8_t v = in.u8();
  if (v > 1) in.mark_bad();
  return v == 1;
}

std::string get_name(ByteReader& in) {
  return std::string(in.str(kNameBytes));
}

// Keys must rise: one form for one value.
std::map<std::string, std::string> get_map(ByteReader& in) {
  std::map<std::string, std::string> map;
  for (uint32_t left = in.count(8); left > 0 && !in.bad(); --left) {
    std::string key = get_name(in);
    if (!map.empty() && key <= map.rbegin()->first) in.mark_bad();
    map.emplace_hint(map.end(), std::move(key), in.str(kValueBytes));
  }
  return map;
}

Instance get_instance(ByteReader& in) {
  Instance instance;
  instance.address = std::string(in.str(kAddressBytes));
  instance.generation = in.u64();
  return instance;
}

Node get_node(ByteReader& in) {
  Node node;
  node.name = get_name(in);
  node.label = get_name(in);
  node.zone = get_name(in);
  node.weight_milli = in.i64();
  node.attributes = get_map(in);
  node.instance = get_instance(in);
  return node;
}

Layout get_layout(ByteReader& in) {
  constexpr size_t kNodeBytesMin = 3 * 4 + 8 + 4 + 4 + 8;
  Layout layout;
  layout.scheme.name = get_name(in);
  layout.scheme.options = get_map(in);
  layout.replicas = in.u32();
  for (uint32_t left = in.count(kNodeBytesMin); left > 0 && !in.bad(); --left) layout.nodes.push_back(get_node(in));
  return layout;
}

std::vector<MoveOwner> get_moves(ByteReader& in) {
  std::vector<Instance> table;
  for (uint32_t left = in.count(12); left > 0 && !in.bad(); --left) {
    table.push_back(get_instance(in));
    if (table.size() > 1 && !(table[table.size() - 2] < table.back())) in.mark_bad();
  }
  std::vector<bool> used(table.size());
  std::vector<MoveOwner> moves;
  for (uint32_t left = in.count(13); left > 0 && !in.bad(); --left) {
    const uint32_t source = in.u32();
    const uint32_t target = in.u32();
    if (source >= table.size() || target >= table.size() || moves.size() >= kMovesPerPlanMax) {
      in.mark_bad();
      break;
    }
    used[source] = used[target] = true;
    MoveOwner move{table[source], table[target], in.u32(), false};
    move.target_owns = get_bool(in);
    moves.push_back(std::move(move));
  }
  if (std::find(used.begin(), used.end(), false) != used.end()) in.mark_bad();
  return moves;
}

Pool get_pool(ByteReader& in) {
  Pool pool;
  pool.name = get_name(in);
  const uint8_t kind = in.u8();
  if (kind > static_cast<uint8_t>(PoolKind::kCache)) in.mark_bad();
  pool.kind = static_cast<PoolKind>(kind);
  const uint8_t fence = in.u8();
  if (fence > static_cast<uint8_t>(PoolFence::kNames)) in.mark_bad();
  pool.fence = static_cast<PoolFence>(fence);
  pool.key_prefix = get_name(in);
  pool.layout = get_layout(in);
  if (!get_bool(in)) return pool;
  OpenPlan plan;
  plan.id = in.u64();
  plan.next = get_layout(in);
  plan.slices = in.u32();
  plan.moves = get_moves(in);
  pool.plan = std::move(plan);
  return pool;
}

// The body between header and checksum, both of which hold.
Result<std::string_view> open_envelope(std::string_view bytes) {
  if (bytes.size() > kSnapshotBytesMax) {
    return fail(Code::kDataLoss, fmt::format("snapshot of {} bytes: larger than any snapshot", bytes.size()));
  }
  if (!bytes.starts_with(kMagic)) return fail(Code::kDataLoss, "not a snapshot of Slipring");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) return fail(Code::kDataLoss, "snapshot: cut short");
  ByteReader in(bytes.substr(kMagic.size()));
  const uint16_t format = in.u16();
  const uint64_t length = in.u64();
  const std::string_view sealed = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (checksum(sealed) != bytes.substr(sealed.size()) || length != sealed.size() - kHeaderBytes) {
    return fail(Code::kDataLoss, "snapshot: damaged or cut short (length or checksum differ)");
  }
  if (format != kFormat) {
    return fail(Code::kUnimplemented,
                fmt::format("snapshot: format {}, this program reads format {}", format, kFormat));
  }
  return sealed.substr(kHeaderBytes);
}

void dump_layout(std::string& out, std::string_view indent, const Layout& layout) {
  out += fmt::format("{}scheme {} replicas {}", indent, layout.scheme.name, layout.replicas);
  for (const auto& [key, value] : layout.scheme.options) {
    out += fmt::format(" {}={}{}", key, value.substr(0, 64), value.size() > 64 ? "..." : "");
  }
  out += '\n';
  for (const Node& node : layout.nodes) {
    out += fmt::format("{}node {} {} generation {} weight {}", indent, node.name, node.instance.address,
                       node.instance.generation, format_milli(node.weight_milli));
    if (!node.label.empty()) out += " label " + node.label;
    if (!node.zone.empty()) out += " zone " + node.zone;
    for (const auto& [key, value] : node.attributes) {
      out += fmt::format(" {}={}{}", key, value.substr(0, 64), value.size() > 64 ? "..." : "");
    }
    out += '\n';
  }
}

}  // namespace

std::string encode_snapshot(const Snapshot& snapshot) {
  ByteWriter body;
  body.u64(to_u64(snapshot.epoch));
  body.str(snapshot.cluster_id);
  body.u32(static_cast<uint32_t>(snapshot.pools.size()));
  for (const Pool& pool : snapshot.pools) put(body, pool);

  ByteWriter out;
  out.raw(kMagic);
  out.u16(kFormat);
  out.u64(body.bytes().size());
  out.raw(body.bytes());
  out.raw(checksum(out.bytes()));
  return out.take();
}

Result<Snapshot> decode_snapshot(std::string_view bytes) {
  SLIPRING_ASSIGN(const std::string_view body, open_envelope(bytes));
  constexpr size_t kPoolBytesMin = 4 + 1 + 1 + 4 + (4 + 4 + 4 + 4) + 1;
  ByteReader in(body);
  Snapshot snapshot;
  snapshot.epoch = Epoch{in.u64()};
  snapshot.cluster_id = get_name(in);
  for (uint32_t left = in.count(kPoolBytesMin); left > 0 && !in.bad(); --left) snapshot.pools.push_back(get_pool(in));
  if (!in.done()) return fail(Code::kDataLoss, "snapshot: its content does not follow the format");
  return snapshot;
}

std::string dump(const Snapshot& snapshot) {
  std::string out = fmt::format("epoch {} cluster {}\n", to_u64(snapshot.epoch), snapshot.cluster_id);
  for (const Pool& pool : snapshot.pools) {
    out += fmt::format("pool {} kind {}", pool.name, pool.kind == PoolKind::kStore ? "store" : "cache");
    if (pool.fence != PoolFence::kAcl) out += fmt::format(" fence {}", fence_name(pool.fence));
    if (!pool.key_prefix.empty()) out += " prefix " + pool.key_prefix;
    out += '\n';
    dump_layout(out, "  ", pool.layout);
    if (!pool.plan) continue;
    const auto switched = std::count_if(pool.plan->moves.begin(), pool.plan->moves.end(),
                                        [](const MoveOwner& m) { return m.target_owns; });
    out += fmt::format("  plan {} slices {} moves {}, target owns {}\n", pool.plan->id, pool.plan->slices,
                       pool.plan->moves.size(), switched);
    dump_layout(out, "    ", pool.plan->next);
  }
  return out;
}

}  // namespace slipring
