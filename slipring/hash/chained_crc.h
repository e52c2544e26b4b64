// The points that nginx and Cache::Memcached::Fast give a server: each is the CRC-32 of HOST, a zero byte, PORT and the
// point before it as four little-endian bytes (0 at first).
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string_view>

#include "slipring/hash/crc.h"
#include "slipring/hash/load.h"

namespace slipring {

class ChainedCrc32 {
 public:
  ChainedCrc32(std::string_view host, std::string_view port)
      : base_(crc32(port, crc32(std::string_view("\0", 1), crc32(host)))) {}

  uint32_t next() {
    char bytes[4];
    store_le32(bytes, last_);
    last_ = crc32(std::string_view(bytes, sizeof bytes), base_);
    return last_;
  }

 private:
  uint32_t base_;
  uint32_t last_ = 0;
};

}  // namespace slipring
