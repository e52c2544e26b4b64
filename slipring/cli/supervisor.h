// Runs controller, routers and store servers as child processes of `slipring up`: starts or adopts them, starts again
// what ends by itself, starts one more store server on request, ends all in an order that loses nothing.
//
// Control socket DIR/up.sock: one line in, one line out, then closed.
//   spawn NAME    -> ok ADDRESS     a new, empty store server under this name; the same answer when asked again
//   release NAME  -> ok             ends a spawned server that has not joined a pool
//   down          -> ok             ends everything, `up` too
//   anything else -> error CODE MESSAGE
//
// Invariant: at most one supervisor works on a directory (a lock on DIR/up.lock). Children live on after a kill -9 of
// it; the next one finds them by their pid files. Thread-safety: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/cli/command.h"
#include "slipring/cli/process.h"
#include "slipring/cli/up_layout.h"

namespace slipring::cli {

// The lock on a directory, held while this lives.
class UpLock {
 public:
  // kFailedPrecondition: another `up` holds it; the message names its pid.
  static Result<UpLock> take(const UpLayout& layout);
  UpLock(UpLock&& other) noexcept;
  UpLock& operator=(UpLock&&) = delete;
  ~UpLock();

 private:
  explicit UpLock(int fd) : fd_(fd) {}
  int fd_;
};

// Ends every child of the directory that still runs, by pid file: routers and controller first, because a store server
// with a feed takes ten seconds to end, then the store servers. Says on `out` what does not end in time.
void end_all_children(const UpLayout& layout, std::ostream& out);

class Supervisor {
 public:
  Supervisor(Context& context, Config config, UpLayout layout);
  ~Supervisor();

  // Starts everything, prints what runs where, works until SIGINT, SIGTERM or `down`, then ends everything.
  Result<Exit> run();

 private:
  struct Child {
    std::string name;  // "controller", "router-1", "node-n1"
    std::vector<std::string> argv;
    Process process;
    MonoTime started{};
    MonoTime restart_at{};
    int64_t backoff_ms = 0;
  };

  Status prepare();
  Status start_all();
  Status start_child(const std::string& name, std::vector<std::string> argv, bool adopt);
  Status start_node(const UpNode& node);
  Status wait_for_node(const UpNode& node);
  Status wait_for_controller();
  Status wait_for_router(uint32_t index);
  Status check_running(const std::string& child);
  void print_what_runs();

  void work();
  int64_t time_until_next() const;
  void restart_ended();
  void watch_topology();
  bool holds_nothing(const UpNode& node) const;
  void end_node(const UpNode& node);

  Status open_socket();
  void answer_one();
  std::string answer(std::string_view line);
  Result<std::string> spawn(const std::string& name);
  Status release(const std::string& name);

  Context& context_;
  const Config config_;
  const UpLayout layout_;
  SystemClock clock_;
  UpState state_;
  std::map<std::string, Child> children_;
  std::map<std::string, int> missing_;  // node -> looks at the topology in a row without it
  MonoTime next_watch_{};
  int socket_ = -1;
  bool ending_ = false;
};

}  // namespace slipring::cli
