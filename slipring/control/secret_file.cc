#include "slipring/control/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

constexpr size_t kSecretFileBytesMax = 1u << 20;

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

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

Result<NodeCredential> parse_line(std::string_view line) {
  NodeCredential out;
  out.address = take_word(line);
  out.user = take_word(line);
  out.password = line;
  if (out.user.empty() || out.password.empty()) {
    return fail(Code::kInvalidArgument, "must be: address user password");
  }
  if (out.address != "*") {
    SLIPRING_TRY(parse_host_port(out.address));
  }
  return out;
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
    return file_error(code, path, std::strerror(errno));
  }
  SLIPRING_TRY(check_owner_only(path, fd.get()));
  std::string bytes(kSecretFileBytesMax + 1, '\0');
  size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < bytes.size(); size += static_cast<size_t>(n)) {
    n = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0) return file_error(Code::kUnavailable, path, std::strerror(errno));
  }
  if (size > kSecretFileBytesMax) return file_error(Code::kResourceExhausted, path, "is larger than 1 MiB");
  bytes.resize(size);
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

Result<NodeCredentials> NodeCredentials::read(const std::string& path) {
  SLIPRING_ASSIGN(const std::string text, read_secret_file(path));
  return parse(text, path);
}

Result<NodeCredentials> NodeCredentials::parse(std::string_view text, std::string_view path) {
  NodeCredentials out;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto parsed = parse_line(line);
    // The line holds a password: its text stays out of the message.
    if (!parsed)
      return fail(Code::kInvalidArgument, fmt::format("{}:{}: must be: address user password", path, number));
    out.lines_.push_back(std::move(*parsed));
  }
  return out;
}

const NodeCredential* NodeCredentials::find(std::string_view address) const {
  const NodeCredential* any = nullptr;
  for (const NodeCredential& line : lines_) {
    if (line.address == address) return &line;
    if (line.address == "*" && any == nullptr) any = &line;
  }
  return any;
}

std::string format_credentials(const std::vector<NodeCredential>& lines) {
  std::string text;
  for (const NodeCredential& line : lines) text += fmt::format("{} {} {}\n", line.address, line.user, line.password);
  return text;
}

}  // namespace slipring::control
