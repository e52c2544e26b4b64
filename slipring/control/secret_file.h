// The file of the passwords that the controller logs in to store servers with.
// Thread-safety: values; reading is a pure function over the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/base/secret_file.h"

namespace slipring::control {

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
