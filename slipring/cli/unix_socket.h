// Lines over a unix socket between `slipring up`, its controller and `slipring down`. Only the directory's owner can
// connect; a line has at most kLineBytesMax bytes.
// Thread-safety: one owner.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "slipring/base/result.h"
#include "slipring/control/controller.h"

namespace slipring::cli {

inline constexpr size_t kLineBytesMax = 4096;

class UnixStream {
 public:
  explicit UnixStream(int fd) : fd_(fd) {}
  UnixStream(UnixStream&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  UnixStream& operator=(UnixStream&&) = delete;
  ~UnixStream();

  bool connect_to(const sockaddr* address, unsigned size);
  // Without the line's end. kDeadlineExceeded, kUnavailable: the peer has closed; kInvalidArgument: too long.
  Result<std::string> read_line(int64_t ms);
  Status write_line(std::string_view line);

 private:
  int fd_;
};

// Paths may be longer than a socket's address allows. A socket file that is there is replaced.
Result<int> listen_unix(const std::string& path);
UnixStream accept_unix(int listener);
// kUnavailable: nobody listens.
Result<UnixStream> connect_unix(const std::string& path);

// One request to the supervisor at `path`: what follows "ok", or the error that it answered.
Result<std::string> ask_supervisor(const std::string& path, const std::string& request, int64_t answer_ms);

// The controller's way to the supervisor that runs its servers.
class SupervisorClient final : public control::NodeSpawner {
 public:
  explicit SupervisorClient(std::string path) : path_(std::move(path)) {}
  Result<std::string> spawn(const std::string& name) override;
  Status release(const std::string& name) override;

 private:
  const std::string path_;
};

}  // namespace slipring::cli
