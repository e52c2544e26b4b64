// Bytes as a snapshot, and bytes as the body of one whose header and checksum hold: refused, or canonical.
#include <xxhash.h>

#include <string>

#include "fuzz/target.h"
#include "slipring/base/bytes.h"
#include "slipring/topology/codec.h"

namespace {

using slipring::fuzz::require;

std::string seal(std::string_view body) {
  slipring::ByteWriter out;
  out.raw("SLPRSNAP");
  out.u16(1);
  out.u64(body.size());
  out.raw(body);
  const XXH128_hash_t hash = XXH3_128bits(out.bytes().data(), out.bytes().size());
  out.u64(hash.low64);
  out.u64(hash.high64);
  return out.take();
}

void decode(std::string_view bytes) {
  const auto snapshot = slipring::decode_snapshot(bytes);
  if (!snapshot) return;
  require(slipring::encode_snapshot(*snapshot) == bytes, "an accepted snapshot encodes to its own bytes");
  require(!slipring::dump(*snapshot).empty(), "an accepted snapshot can be shown");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = slipring::fuzz::view(data, size);
  decode(input);
  decode(seal(input));
  return 0;
}
