// Files that hold secrets: read only if nobody but their owner can, written whole or not at all.
// Thread-safety: pure functions over the file system; writers of one path take turns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring {

inline constexpr size_t kSecretFileBytesMax = 1u << 20;

// The file's bytes. kNotFound; kResourceExhausted above bytes_max; kPermissionDenied if group or others have any right
// on it, or it belongs to another user, or it is no regular file. The message names the file and, where it helps,
// `chmod 600`.
Result<std::string> read_secret_file(const std::string& path, size_t bytes_max = kSecretFileBytesMax);

// Replaces the file by one with mode 0600 (written beside it, synced, renamed). kUnavailable with the reason.
Status write_secret_file(const std::string& path, std::string_view bytes);

}  // namespace slipring
