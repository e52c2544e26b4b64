#include "tests/support/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace slipring::testing {
namespace {

int decode_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The state letter of /proc/PID/stat: R, S, T, Z, ...
char process_state(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(stat, line);
  const size_t end = line.rfind(')');
  return end == std::string::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& argv, const std::string& log_path) {
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return fail(Code::kUnavailable, fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!log_path.empty()) {
      const int fd = ::open(log_path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
      dup2(fd, STDOUT_FILENO);
      dup2(fd, STDERR_FILENO);
    }
    execvp(args[0], args.data());
    _exit(127);
  }
  ChildProcess child;
  child.pid_ = pid;
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_) {
  other.pid_ = -1;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = other.pid_;
    other.pid_ = -1;
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
}

bool ChildProcess::running() {
  if (pid_ <= 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

void ChildProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

int ChildProcess::terminate() {
  if (pid_ <= 0) return 0;
  ::kill(pid_, SIGTERM);
  return wait();
}

int ChildProcess::wait() {
  if (pid_ <= 0) return 0;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return decode_status(status);
}

void ChildProcess::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGSTOP);
  eventually(30, [&] { return stopped(); });
}

bool ChildProcess::stopped() const {
  return pid_ > 0 && process_state(pid_) == 'T';
}

void ChildProcess::resume() {
  signal(SIGCONT);
}

void ChildProcess::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

namespace {

// Binds the port (0: any) for a moment; the port, or -1 if it is taken.
int try_port(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool ok = bind(fd, generic, length) == 0 && getsockname(fd, generic, &length) == 0;
  close(fd);
  return ok ? ntohs(address.sin_port) : -1;
}

// Ports below the range that the system gives to clients, a block for each test program (fleet.py takes blocks as well):
// a port that is free when it is asked for is still free when its server starts, and when it is started again.
constexpr int kFirstPort = 10'000;
constexpr int kBlockPorts = 200;
constexpr int kBlocks = 110;

// The first port of a block that nobody else holds. It is held by a name in the kernel, which goes with the process.
int take_block() {
  for (int tried = 0; tried < kBlocks; ++tried) {
    const int block = (getpid() + tried) % kBlocks;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("slipring-test-ports-{}", block);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return kFirstPort + block * kBlockPorts;
    close(fd);
  }
  return -1;
}

}  // namespace

int free_port() {
  return free_ports(1);
}

int free_ports(int count) {
  static const int block = take_block();
  static int next = block;
  if (block < 0) return -1;
  for (int tried = 0; tried < kBlockPorts; ++tried) {
    if (next + count > block + kBlockPorts) next = block;
    const int first = next;
    int port = first;
    while (port < first + count && try_port(port) == port) ++port;
    next = std::max(port, first + 1);
    if (port == first + count) return first;
  }
  return -1;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "slipring-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void pause_between_polls() {
  const timespec two_ms{0, 2'000'000};
  nanosleep(&two_ms, nullptr);
}

double monotonic_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace slipring::testing
