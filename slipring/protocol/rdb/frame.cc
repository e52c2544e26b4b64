#include "slipring/protocol/rdb/frame.h"

#include "slipring/protocol/rdb/crc64.h"

namespace slipring::rdb {

std::string frame_payload(std::string_view type_and_value, uint16_t rdb_version) {
  std::string out(type_and_value);
  out.push_back(static_cast<char>(rdb_version & 0xff));
  out.push_back(static_cast<char>(rdb_version >> 8));
  const uint64_t crc = crc64(out);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(crc >> (8 * i)));
  return out;
}

}  // namespace slipring::rdb
