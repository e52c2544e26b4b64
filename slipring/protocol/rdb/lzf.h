// LZF decompression as RDB strings use it, bounded on both sides.
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipring::rdb {

// No LZF text grows by more than this factor (3 bytes stand for at most 264), so a larger claim is refused unread.
inline constexpr uint64_t kLzfGrowthMax = 88;

// Appends exactly `size` bytes to `out`, or answers false (out then holds rubbish behind its old end).
bool lzf_decompress(std::string_view in, size_t size, std::string& out);

}  // namespace slipring::rdb
