#include "slipring/base/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace slipring {
namespace {

// Closes on leaving the scope.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> file_error(Code code, const std::string& path, std::string_view what) {
  return fail(code, fmt::format("{}: {}", path, what));
}

Status check_owner_only(const std::string& path, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return file_error(Code::kPermissionDenied, path, "is no regular file");
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return file_error(Code::kPermissionDenied, path, "holds a secret and belongs to another user");
  }
  if ((info.st_mode & 077) != 0) {
    return file_error(Code::kPermissionDenied, path,
                      fmt::format("holds a secret and others can reach it: chmod 600 {}", path));
  }
  return {};
}

Status write_all(const std::string& path, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (::fsync(fd) != 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
  return {};
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path, size_t bytes_max) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
    return file_error(code, path, std::strerror(errno));
  }
  SLIPRING_TRY(check_owner_only(path, fd.get()));
  std::string bytes;
  std::array<char, 64 << 10> chunk;
  for (ssize_t n = 1; n > 0 && bytes.size() <= bytes_max;) {
    n = ::read(fd.get(), chunk.data(), chunk.size());
    if (n < 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
    bytes.append(chunk.data(), static_cast<size_t>(n));
  }
  if (bytes.size() > bytes_max) {
    return file_error(Code::kResourceExhausted, path, fmt::format("is larger than {} bytes", bytes_max));
  }
  return bytes;
}

Status write_secret_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  {
    const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.get() < 0 || ::fchmod(fd.get(), 0600) != 0) {
      return file_error(Code::kUnavailable, beside, std::strerror(errno));
    }
    SLIPRING_TRY(write_all(beside, fd.get(), bytes));
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
  return {};
}

}  // namespace slipring
