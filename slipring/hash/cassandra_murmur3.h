// The first word of MurmurHash3-x64-128 with seed 0 as Apache Cassandra computes it: the bytes of the tail (the last
// length % 16) are sign-extended before they are shifted, so tail bytes >= 0x80 hash differently from the published
// function. Whole blocks of 16 bytes are as published.
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

uint64_t cassandra_murmur3(std::string_view s);

}  // namespace slipring
