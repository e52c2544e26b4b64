// What the long-running commands have in common: they end on SIGTERM and SIGINT, in the main thread, in order.
// Thread-safety: one thread; made before any other thread starts, so that they inherit its mask.
#pragma once

#include <csignal>

namespace slipring::cli {

// From its making on SIGTERM and SIGINT wait until wait() takes them.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Blocks until one comes.
  void wait();

 private:
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace slipring::cli
