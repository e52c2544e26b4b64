// A process that `slipring up` runs, known by pid and start time, never by name. It outlives a kill -9 of `up`: its pid
// file, written by the process itself before it becomes its program, lets the next `up` or `down` find it again, and
// the start time tells it from a stranger that was given the same pid.
//
// Invariant: a signal goes only to the very process that the pid file meant (a pidfd is opened first, the start time is
// compared after). Thread-safety: one owner.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::cli {

class Process {
 public:
  // Starts argv[0] (from the PATH) in a process group of its own, output appended to log_path. kUnavailable: no such
  // program, no such directory.
  static Result<Process> start(const std::vector<std::string>& argv, const std::string& log_path,
                               const std::string& pid_file);
  // The process that pid_file means, if it still runs.
  static std::optional<Process> adopt(const std::string& pid_file);

  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();  // does not end the process

  bool valid() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // Becomes readable for poll() when the process ends.
  int fd() const { return fd_; }
  // Collects the exit if it was our child.
  bool running();
  void signal(int number);
  // True once it has ended; false after `ms`.
  bool wait(int64_t ms);

 private:
  Process(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_ = -1;
  int fd_ = -1;
};

// Field 22 of /proc/PID/stat, clock ticks since boot; nullopt: no such process.
std::optional<uint64_t> process_start_time(pid_t pid);

// A port of 127.0.0.1 that nobody listens on, below the range that outgoing connections are given, and not in `taken`.
Result<uint16_t> find_free_port(const std::vector<uint16_t>& taken);

}  // namespace slipring::cli
