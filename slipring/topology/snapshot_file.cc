#include "slipring/topology/snapshot_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "slipring/topology/codec.h"

namespace slipring {
namespace {

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> system_error(const std::string& path, std::string_view action) {
  const int error = errno;
  const Code code = error == ENOENT ? Code::kNotFound : Code::kUnavailable;
  return fail(code, fmt::format("{}: {}: {}", path, action, std::strerror(error)));
}

Status write_all(const std::string& path, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, "write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status write_synced(const std::string& path, std::string_view bytes) {
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.fd() < 0) return system_error(path, "create");
  if (::fchmod(file.fd(), 0600) != 0) return system_error(path, "chmod");
  SLIPRING_TRY(write_all(path, file.fd(), bytes));
  if (::fsync(file.fd()) != 0) return system_error(path, "fsync");
  return {};
}

// The rename is durable once the folder is.
Status sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.fd() < 0 || ::fsync(file.fd()) != 0) return system_error(folder, "fsync");
  return {};
}

// At most one byte more than the largest snapshot: enough for decode to refuse it.
Result<std::string> read_bounded(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd() < 0) return system_error(path, "open");
  std::string bytes;
  char chunk[1 << 16];
  while (bytes.size() <= kSnapshotBytesMax) {
    const ssize_t n = ::read(file.fd(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, "read");
    if (n == 0) break;
    bytes.append(chunk, static_cast<size_t>(n));
  }
  return bytes;
}

}  // namespace

Status write_snapshot_file(const std::string& path, const Snapshot& snapshot) {
  const std::string fresh = path + ".new";
  if (auto written = write_synced(fresh, encode_snapshot(snapshot)); !written) {
    ::unlink(fresh.c_str());
    return written;
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    auto error = system_error(path, "rename");
    ::unlink(fresh.c_str());
    return error;
  }
  return sync_folder_of(path);
}

Result<Snapshot> read_snapshot_file(const std::string& path) {
  SLIPRING_ASSIGN(const std::string bytes, read_bounded(path));
  auto snapshot = decode_snapshot(bytes);
  if (!snapshot) return fail_in(path, snapshot.error());
  if (auto ok = validate(*snapshot); !ok) return fail_in(path, ok.error());
  return snapshot;
}

}  // namespace slipring
