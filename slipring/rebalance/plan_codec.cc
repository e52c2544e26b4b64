// The binary form of the records: u32 magic, u8 format, fields. The two layouts of a plan are carried as a snapshot of
// one pool with an open plan, so they have one encoding in the whole project.
#include <fmt/format.h>

#include "slipring/base/bytes.h"
#include "slipring/rebalance/plan.h"
#include "slipring/topology/codec.h"

namespace slipring::rebalance {
namespace {

constexpr uint32_t kPlanMagic = 0x4e4c5053;     // "SPLN"
constexpr uint32_t kGroupMagic = 0x50524753;    // "SGRP"
constexpr uint32_t kAttemptMagic = 0x54544153;  // "SATT"
constexpr uint8_t kFormat = 1;
constexpr size_t kNameBytesMax = 256;
constexpr size_t kTextBytesMax = 64u << 10;

void begin(ByteWriter& out, uint32_t magic) {
  out.u32(magic);
  out.u8(kFormat);
}

Status open(ByteReader& in, uint32_t magic, std::string_view what) {
  if (in.u32() != magic || in.bad()) return fail(Code::kDataLoss, fmt::format("{} record: not one", what));
  const uint8_t format = in.u8();
  if (in.bad()) return fail(Code::kDataLoss, fmt::format("{} record: truncated", what));
  if (format != kFormat) {
    return fail(Code::kUnimplemented, fmt::format("{} record: format {} is not known, only {}", what, format, kFormat));
  }
  return {};
}

Status close(const ByteReader& in, std::string_view what) {
  if (in.done()) return {};
  return fail(Code::kDataLoss, fmt::format("{} record: damaged", what));
}

// A value of an enumeration whose last one is `last`.
template <typename Enum>
Enum get_enum(ByteReader& in, Enum last) {
  const uint8_t v = in.u8();
  if (v > static_cast<uint8_t>(last)) in.mark_bad();
  return in.bad() ? Enum{} : static_cast<Enum>(v);
}

bool get_bool(ByteReader& in) {
  const uint8_t v = in.u8();
  if (v > 1) in.mark_bad();
  return v == 1;
}

template <typename Enum>
void put_enum(ByteWriter& out, Enum v) {
  out.u8(static_cast<uint8_t>(v));
}

void put(ByteWriter& out, const PlanOptions& o) {
  out.i64(o.grace_ms);
  out.u64(o.keys_per_second);
  out.u64(o.bytes_per_second);
  out.u32(o.hold_bound_ms);
  out.u32(o.hold_max_ms);
  out.u32(o.attempts_max);
  out.u64(o.key_bytes_max);
  out.i64(o.unreachable_ms);
  out.u8(o.accept_weaker);
  out.u8(o.serial_slices);
}

PlanOptions get_options(ByteReader& in) {
  PlanOptions o;
  o.grace_ms = in.i64();
  o.keys_per_second = in.u64();
  o.bytes_per_second = in.u64();
  o.hold_bound_ms = in.u32();
  o.hold_max_ms = in.u32();
  o.attempts_max = in.u32();
  o.key_bytes_max = in.u64();
  o.unreachable_ms = in.i64();
  o.accept_weaker = get_bool(in);
  o.serial_slices = get_bool(in);
  return o;
}

std::string encode_layouts(const PlanRecord& r) {
  Pool pool;
  pool.name = r.pool;
  pool.layout = r.old_layout;
  pool.plan = OpenPlan{r.id, r.next_layout, r.slices, {}};
  Snapshot carrier;
  carrier.epoch = r.base_epoch;
  carrier.pools.push_back(std::move(pool));
  return encode_snapshot(carrier);
}

Status decode_layouts(std::string_view bytes, PlanRecord& r) {
  SLIPRING_ASSIGN(Snapshot carrier, decode_snapshot(bytes));
  if (carrier.pools.size() != 1 || !carrier.pools[0].plan) return fail(Code::kDataLoss, "plan record: no layouts");
  Pool& pool = carrier.pools[0];
  r.base_epoch = carrier.epoch;
  r.pool = std::move(pool.name);
  r.old_layout = std::move(pool.layout);
  r.id = pool.plan->id;
  r.next_layout = std::move(pool.plan->next);
  r.slices = pool.plan->slices;
  return {};
}

void put(ByteWriter& out, const Instance& i) {
  out.str(i.address);
  out.u64(i.generation);
}

Instance get_instance(ByteReader& in) {
  Instance i;
  i.address = in.str(kNameBytesMax);
  i.generation = in.u64();
  return i;
}

void put(ByteWriter& out, const DigestSum& d) {
  out.u64(d.low);
  out.u64(d.high);
}

DigestSum get_digest(ByteReader& in) {
  DigestSum d;
  d.low = in.u64();
  d.high = in.u64();
  return d;
}

void put(ByteWriter& out, const GroupMove& m) {
  out.u32(m.move);
  put(out, m.target);
  out.u64(m.totals.keys);
  out.u64(m.totals.bytes);
  put(out, m.totals.owner);
  put(out, m.totals.other);
}

GroupMove get_move(ByteReader& in) {
  GroupMove m;
  m.move = in.u32();
  m.target = get_instance(in);
  m.totals.keys = in.u64();
  m.totals.bytes = in.u64();
  m.totals.owner = get_digest(in);
  m.totals.other = get_digest(in);
  return m;
}

void put(ByteWriter& out, const ServerIdentity& i) {
  out.str(i.run_id);
  out.str(i.role);
  out.str(i.repl_id);
}

ServerIdentity get_identity(ByteReader& in) {
  ServerIdentity i;
  i.run_id = in.str(kNameBytesMax);
  i.role = in.str(kNameBytesMax);
  i.repl_id = in.str(kNameBytesMax);
  return i;
}

}  // namespace

std::string encode(const PlanRecord& r) {
  ByteWriter out;
  begin(out, kPlanMagic);
  out.str(encode_layouts(r));
  out.str(std::string_view(r.title).substr(0, kTextBytesMax));
  put(out, r.options);
  put_enum(out, r.state);
  put_enum(out, r.goal);
  out.u8(r.paused);
  out.u32(r.group_count);
  out.i64(r.created_at_ms);
  out.i64(r.finished_at_ms);
  return out.take();
}

Result<PlanRecord> decode_plan(std::string_view bytes) {
  ByteReader in(bytes);
  PlanRecord r;
  SLIPRING_TRY(open(in, kPlanMagic, "plan"));
  SLIPRING_TRY(decode_layouts(in.str(kSnapshotBytesMax), r));
  r.title = in.str(kTextBytesMax);
  r.options = get_options(in);
  r.state = get_enum(in, PlanState::kCancelled);
  r.goal = get_enum(in, Goal::kForceBack);
  r.paused = get_bool(in);
  r.group_count = in.u32();
  r.created_at_ms = in.i64();
  r.finished_at_ms = in.i64();
  SLIPRING_TRY(close(in, "plan"));
  return r;
}

std::string encode(const GroupRecord& r) {
  ByteWriter out;
  begin(out, kGroupMagic);
  out.u64(r.plan);
  out.u32(r.index);
  out.u32(r.slice);
  put(out, r.source);
  out.u32(static_cast<uint32_t>(r.moves.size()));
  for (const GroupMove& m : r.moves) put(out, m);
  put_enum(out, r.stage);
  put_enum(out, r.from);
  out.u8(r.target_owns);
  out.u32(r.attempts);
  out.str(std::string_view(r.reason).substr(0, kTextBytesMax));
  out.u64(r.strays);
  out.u8(r.merge);
  out.u8(r.force);
  out.u32(r.changed_server);
  out.i64(r.grace_ends_at_ms);
  out.i64(r.committed_at_ms);
  out.u32(static_cast<uint32_t>(r.identities.size()));
  for (const ServerIdentity& i : r.identities) put(out, i);
  return out.take();
}

Result<GroupRecord> decode_group(std::string_view bytes) {
  constexpr size_t kMoveBytesMin = 64;
  constexpr size_t kIdentityBytesMin = 12;
  ByteReader in(bytes);
  GroupRecord r;
  SLIPRING_TRY(open(in, kGroupMagic, "group"));
  r.plan = in.u64();
  r.index = in.u32();
  r.slice = in.u32();
  r.source = get_instance(in);
  for (uint32_t left = in.count(kMoveBytesMin); left > 0 && !in.bad(); --left) r.moves.push_back(get_move(in));
  r.stage = get_enum(in, Stage::kCancelled);
  r.from = get_enum(in, Stage::kCancelled);
  r.target_owns = get_bool(in);
  r.attempts = in.u32();
  r.reason = in.str(kTextBytesMax);
  r.strays = in.u64();
  r.merge = get_bool(in);
  r.force = get_bool(in);
  r.changed_server = in.u32();
  r.grace_ends_at_ms = in.i64();
  r.committed_at_ms = in.i64();
  for (uint32_t left = in.count(kIdentityBytesMin); left > 0 && !in.bad(); --left) {
    r.identities.push_back(get_identity(in));
  }
  SLIPRING_TRY(close(in, "group"));
  if (r.identities.size() != r.moves.size() + 1) return fail(Code::kDataLoss, "group record: identities do not fit");
  return r;
}

std::string encode(const AttemptRecord& r) {
  ByteWriter out;
  begin(out, kAttemptMagic);
  out.u64(r.number);
  out.u64(r.plan);
  out.u32(r.group);
  out.u64(to_u64(r.epoch));
  out.u8(r.back);
  put_enum(out, r.state);
  out.u32(static_cast<uint32_t>(r.generations.size()));
  for (const uint64_t g : r.generations) out.u64(g);
  return out.take();
}

Result<AttemptRecord> decode_attempt(std::string_view bytes) {
  ByteReader in(bytes);
  AttemptRecord r;
  SLIPRING_TRY(open(in, kAttemptMagic, "attempt"));
  r.number = in.u64();
  r.plan = in.u64();
  r.group = in.u32();
  r.epoch = Epoch{in.u64()};
  r.back = get_bool(in);
  r.state = get_enum(in, AttemptState::kWithdrawn);
  for (uint32_t left = in.count(8); left > 0 && !in.bad(); --left) r.generations.push_back(in.u64());
  SLIPRING_TRY(close(in, "attempt"));
  return r;
}

}  // namespace slipring::rebalance
