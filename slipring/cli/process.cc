#include "slipring/cli/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "slipring/base/parse.h"
#include "slipring/base/random.h"
#include "slipring/base/secret.h"
#include "slipring/net/socket.h"

namespace slipring::cli {
namespace {

constexpr uint16_t kPortMin = 20'000;
constexpr uint16_t kPortMax = 32'000;

int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

// Runs between fork and exec; `up` has one thread, so nothing is locked here. A failure is written to report_fd as
// errno.
[[noreturn]] void become(char* const* argv, const char* log_path, const char* pid_file, int report_fd) {
  const auto fail_with_errno = [&] {
    const int error = errno;
    static_cast<void>(!::write(report_fd, &error, sizeof error));
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::umask(077);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
  const int log = ::open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int null = ::open("/dev/null", O_RDONLY);
  if (log < 0 || null < 0) fail_with_errno();
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  const auto started = process_start_time(::getpid());
  const std::string line = fmt::format("{} {}\n", ::getpid(), started.value_or(0));
  const int pid = ::open(pid_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (pid < 0 || ::write(pid, line.data(), line.size()) != static_cast<ssize_t>(line.size())) fail_with_errno();
  ::execvp(argv[0], argv);
  fail_with_errno();
  std::abort();
}

bool port_is_free(uint16_t port) {
  const auto address = net::resolve({"127.0.0.1", port});
  return address && net::listen_tcp(*address, false).has_value();
}

}  // namespace

std::optional<uint64_t> process_start_time(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The program's name stands in parentheses and may hold anything, a parenthesis too.
  size_t at = text.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  const auto ticks = parse_u64(std::string_view(text).substr(at + 1, text.find(' ', at + 1) - at - 1), 0, UINT64_MAX);
  return ticks ? std::optional(*ticks) : std::nullopt;
}

Result<Process> Process::start(const std::vector<std::string>& argv, const std::string& log_path,
                               const std::string& pid_file) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return fail(Code::kUnavailable, std::strerror(errno));
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), log_path.c_str(), pid_file.c_str(), report[1]);
  ::close(report[1]);
  int error = pid < 0 ? errno : 0;
  // Ends with nothing read once exec has closed the child's side.
  if (pid > 0 && ::read(report[0], &error, sizeof error) != sizeof error) error = 0;
  ::close(report[0]);
  if (error != 0) {
    if (pid > 0) ::waitpid(pid, nullptr, 0);
    return fail(Code::kUnavailable, fmt::format("start {}: {}", argv[0], std::strerror(error)));
  }
  return Process(pid, open_pidfd(pid));
}

std::optional<Process> Process::adopt(const std::string& pid_file) {
  std::ifstream file(pid_file);
  int64_t pid = 0;
  uint64_t started = 0;
  if (!(file >> pid >> started) || pid <= 1 || pid > INT32_MAX) return std::nullopt;
  Process process(static_cast<pid_t>(pid), open_pidfd(static_cast<pid_t>(pid)));
  if (process.fd_ < 0 || process_start_time(process.pid_) != started || !process.running()) return std::nullopt;
  return process;
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), fd_(std::exchange(other.fd_, -1)) {}
Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  return *this;
}
Process::~Process() {
  if (fd_ >= 0) ::close(fd_);
}

bool Process::running() {
  if (!valid() || fd_ < 0) return false;
  ::waitpid(pid_, nullptr, WNOHANG);
  pollfd p{fd_, POLLIN, 0};
  return ::poll(&p, 1, 0) == 0;
}

void Process::signal(int number) {
  if (fd_ >= 0) ::syscall(SYS_pidfd_send_signal, fd_, number, nullptr, 0);
}

bool Process::wait(int64_t ms) {
  if (!running()) return true;
  pollfd p{fd_, POLLIN, 0};
  ::poll(&p, 1, static_cast<int>(std::min<int64_t>(ms, INT32_MAX)));
  return !running();
}

Result<uint16_t> find_free_port(const std::vector<uint16_t>& taken) {
  Random random(std::hash<std::string>()(random_secret()));
  for (int i = 0; i < 1000; ++i) {
    const auto port = static_cast<uint16_t>(kPortMin + random.below(kPortMax - kPortMin));
    if (std::find(taken.begin(), taken.end(), port) == taken.end() && port_is_free(port)) return port;
  }
  return fail(Code::kResourceExhausted, fmt::format("no free port between {} and {}", kPortMin, kPortMax));
}

}  // namespace slipring::cli
