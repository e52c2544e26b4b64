// Values of DUMP payloads: the input is a type byte and a value, framed with a right checksum so that the decoder
// itself has to judge. It stays within the value, gives the same answer twice, and refuses every value with a byte
// more.
#include <string>

#include "fuzz/target.h"
#include "slipring/protocol/rdb/digest.h"
#include "slipring/protocol/rdb/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipring;
  using namespace slipring::rdb;
  constexpr DecodeLimits kLimits = {.blob_bytes_max = 1 << 20};
  const std::string_view value = fuzz::view(data, size);
  const fuzz::ExactCopy payload(frame_payload(value, 12));
  const auto first = digest_value(payload.view(), 1, kLimits);
  const auto second = digest_value(payload.view(), 1, kLimits);
  fuzz::require(first.has_value() == second.has_value(), "the same answer twice");
  if (first) {
    fuzz::require(*first == *second, "the same digest twice");
    const fuzz::ExactCopy longer(frame_payload(std::string(value) + '\0', 12));
    fuzz::require(!digest_value(longer.view(), 1, kLimits), "a value with a byte more is refused");
  }
  const fuzz::ExactCopy raw(value);
  ValueVisitor nothing;
  const auto unframed = decode_value(raw.view(), nothing, kLimits);
  fuzz::require(unframed || !unframed.error().message.empty(), "a refusal has a reason");
  return 0;
}
