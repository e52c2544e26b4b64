#include "slipring/cli/daemon.h"

namespace slipring::cli {

EndSignals::EndSignals() {
  ::sigemptyset(&set_);
  ::sigaddset(&set_, SIGTERM);
  ::sigaddset(&set_, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

EndSignals::~EndSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void EndSignals::wait() {
  int number = 0;
  ::sigwait(&set_, &number);
}

}  // namespace slipring::cli
