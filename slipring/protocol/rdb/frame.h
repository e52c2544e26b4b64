// The frame of a DUMP payload around a type byte and value: RDB version and CRC-64. For building payloads (tests, the
// fake store, fuzzing) and for giving a payload another version.
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipring::rdb {

inline constexpr size_t kFooterBytes = 10;

// type_and_value, then the version and the checksum that belong to them.
std::string frame_payload(std::string_view type_and_value, uint16_t rdb_version);

}  // namespace slipring::rdb
