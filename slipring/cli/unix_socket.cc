#include "slipring/cli/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "slipring/base/clock.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

// A server may take its time to start or to end.
constexpr int64_t kAnswerMs = 90'000;

// The socket's address by way of its open directory, because an address holds 107 bytes only.
class Address {
 public:
  explicit Address(const std::string& path) {
    const size_t slash = path.rfind('/');
    dir_ = ::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const std::string name = fmt::format("/proc/self/fd/{}/{}", dir_, path.substr(slash + 1));
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, name.c_str(), std::min(name.size(), sizeof address_.sun_path - 1));
  }
  ~Address() {
    if (dir_ >= 0) ::close(dir_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }

 private:
  int dir_ = -1;
  sockaddr_un address_{};
};

tl::unexpected<Error> system_error(const std::string& path) {
  return fail(Code::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

UnixStream::~UnixStream() {
  if (fd_ >= 0) ::close(fd_);
}

bool UnixStream::connect_to(const sockaddr* address, unsigned size) {
  return ::connect(fd_, address, size) == 0;
}

Result<std::string> UnixStream::read_line(int64_t ms) {
  const SystemClock clock;
  const MonoTime until = clock.now() + Millis(ms);
  for (std::string line; line.size() <= kLineBytesMax;) {
    const int64_t left = std::chrono::duration_cast<Millis>(until - clock.now()).count();
    pollfd p{fd_, POLLIN, 0};
    if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) == 0)
      return fail(Code::kDeadlineExceeded, "no line in time");
    char c = 0;
    const ssize_t n = ::read(fd_, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Code::kUnavailable, "the connection was closed");
    if (c == '\n') return line;
    line += c;
  }
  return fail(Code::kInvalidArgument, fmt::format("a line has at most {} bytes", kLineBytesMax));
}

Status UnixStream::write_line(std::string_view line) {
  std::string text(line);
  std::replace(text.begin(), text.end(), '\n', ' ');
  text += '\n';
  const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
  if (n != static_cast<ssize_t>(text.size())) return fail(Code::kUnavailable, "the connection was closed");
  return {};
}

Result<int> listen_unix(const std::string& path) {
  ::unlink(path.c_str());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const Address address(path);
  const bool ok = fd >= 0 && ::bind(fd, address.get(), Address::size()) == 0 && ::chmod(path.c_str(), 0600) == 0 &&
                  ::listen(fd, 16) == 0;
  if (ok) return fd;
  const auto error = system_error(path);
  if (fd >= 0) ::close(fd);
  return error;
}

UnixStream accept_unix(int listener) {
  return UnixStream(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
}

Result<UnixStream> connect_unix(const std::string& path) {
  UnixStream stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address(path);
  if (!stream.connect_to(address.get(), Address::size())) return system_error(path);
  return stream;
}

Result<std::string> ask_supervisor(const std::string& path, const std::string& request, int64_t answer_ms) {
  SLIPRING_ASSIGN(UnixStream stream, connect_unix(path));
  SLIPRING_TRY(stream.write_line(request));
  SLIPRING_ASSIGN(const std::string line, stream.read_line(answer_ms));
  if (line == "ok") return std::string();
  if (line.starts_with("ok ")) return line.substr(3);
  const std::string rest = line.starts_with("error ") ? line.substr(6) : line;
  const size_t blank = std::min(rest.size(), rest.find(' '));
  return fail(control::code_of(rest.substr(0, blank)), rest.substr(std::min(rest.size(), blank + 1)));
}

Result<std::string> SupervisorClient::spawn(const std::string& name) {
  return ask_supervisor(path_, "spawn " + name, kAnswerMs);
}

Status SupervisorClient::release(const std::string& name) {
  SLIPRING_TRY(ask_supervisor(path_, "release " + name, kAnswerMs));
  return {};
}

}  // namespace slipring::cli
