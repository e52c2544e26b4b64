#include "slipring/router/disk_state.h"

#include <fmt/format.h>

#include "slipring/base/bytes.h"
#include "slipring/base/secret_file.h"
#include "slipring/hash/xx.h"
#include "slipring/topology/codec.h"

namespace slipring::router {
namespace {

constexpr std::string_view kMagic = "SLPRRTR1";
constexpr size_t kTextBytesMax = 512;
constexpr size_t kFileBytesMax = kSnapshotBytesMax + 4096;

}  // namespace

// magic | u64 generation | user | password | snapshot | u64 XXH3-64 of everything before
std::string encode_disk_state(const DiskState& state) {
  ByteWriter out;
  out.raw(kMagic);
  out.u64(state.spare.generation);
  out.str(state.spare.user);
  out.str(state.spare.password);
  out.str(encode_snapshot(state.snapshot));
  const uint64_t sum = xxh3_64(out.bytes());
  out.u64(sum);
  return out.take();
}

Result<DiskState> decode_disk_state(std::string_view bytes) {
  ByteReader in(bytes);
  DiskState state;
  const bool ours = in.raw(kMagic.size()) == kMagic;
  if (!ours) return fail(Code::kDataLoss, "is no state of a router");
  state.spare.generation = in.u64();
  state.spare.user = in.str(kTextBytesMax);
  state.spare.password = in.str(kTextBytesMax);
  const std::string_view snapshot = in.str(kSnapshotBytesMax);
  const size_t summed = bytes.size() - in.left();
  const uint64_t sum = in.u64();
  if (!in.done() || sum != xxh3_64(bytes.substr(0, summed))) return fail(Code::kDataLoss, "is damaged");
  SLIPRING_ASSIGN(state.snapshot, decode_snapshot(snapshot));
  SLIPRING_TRY(validate(state.snapshot));
  return state;
}

std::string disk_state_path(std::string_view dir, std::string_view router_id) {
  return fmt::format("{}/router-{}.state", dir, router_id);
}

std::string shared_snapshot_path(std::string_view dir, std::string_view router_id) {
  return fmt::format("{}/router-{}.snapshot", dir, router_id);
}

Status write_disk_state(const std::string& path, const DiskState& state) {
  return write_secret_file(path, encode_disk_state(state));
}

Result<DiskState> read_disk_state(const std::string& path) {
  SLIPRING_ASSIGN(const std::string bytes, read_secret_file(path, kFileBytesMax));
  auto state = decode_disk_state(bytes);
  if (!state) return fail_in(path, state.error());
  return state;
}

}  // namespace slipring::router
