// Files that hold secrets: read only if nobody but their owner can, written whole or not at all.
// Thread-safety: pure functions over the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::control {

// The file's bytes, at most 1 MiB. kNotFound; kPermissionDenied if group or others have any right on it, or it belongs
// to another user, or it is no regular file. The message names the file and, where it helps, `chmod 600`.
Result<std::string> read_secret_file(const std::string& path);

// Replaces the file by one with mode 0600 (written beside it, synced, renamed). kUnavailable with the reason.
Status write_secret_file(const std::string& path, std::string_view bytes);

// How the controller logs in to store servers: one line a server, `address user password`, `*` for any address; blank
// lines and lines that start with # are skipped. The password is the rest of the line.
struct NodeCredential {
  std::string address;
  std::string user;
  std::string password;
};
class NodeCredentials {
 public:
  // kInvalidArgument with file and line, never with the line's text.
  static Result<NodeCredentials> read(const std::string& path);
  static Result<NodeCredentials> parse(std::string_view text, std::string_view path);

  // The line of this address, else the one of `*`, else nullptr.
  const NodeCredential* find(std::string_view address) const;
  const std::vector<NodeCredential>& all() const { return lines_; }

 private:
  std::vector<NodeCredential> lines_;
};
// The text that parse() reads.
std::string format_credentials(const std::vector<NodeCredential>& lines);

}  // namespace slipring::control
