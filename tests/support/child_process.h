// A process that a test started: known by pid, ended by pid, stopped and woken by signals. The destructor kills it.
// Thread-safety: one owner.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::testing {

class ChildProcess {
 public:
  ChildProcess() = default;
  // Starts argv[0] from the PATH with its output in log_path ("" = inherited). It dies with its parent.
  static Result<ChildProcess> start(const std::vector<std::string>& argv, const std::string& log_path = "");
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool running();
  // kill -9 and wait.
  void kill();
  // SIGTERM and wait; the exit code, or -signal.
  int terminate();
  // Waits for the end; the exit code, or -signal.
  int wait();
  // SIGSTOP; returns when the kernel shows every thread stopped.
  void stop();
  // By a signal, and not resumed.
  bool stopped() const;
  void resume();
  void signal(int number);

 private:
  pid_t pid_ = -1;
};

// A port on 127.0.0.1 that was free a moment ago and is not given twice to one test program.
int free_port();
// The first of `count` such ports in a row.
int free_ports(int count);

// A fresh directory, removed with its content by the destructor.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Polls until condition() is true; false after `seconds`.
template <typename Condition>
bool eventually(double seconds, Condition condition);

void pause_between_polls();
double monotonic_seconds();

template <typename Condition>
bool eventually(double seconds, Condition condition) {
  const double end = monotonic_seconds() + seconds;
  while (!condition()) {
    if (monotonic_seconds() > end) return false;
    pause_between_polls();
  }
  return true;
}

}  // namespace slipring::testing
