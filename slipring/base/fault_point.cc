#include "slipring/base/fault_point.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "slipring/base/parse.h"

namespace slipring::internal {
namespace {

struct Armed {
  std::string name;
  std::atomic<uint64_t> left{1};
  int signal = SIGKILL;

  Armed() {
    const char* point = std::getenv("SLIPRING_FAULT_POINT");
    const char* action = std::getenv("SLIPRING_FAULT_ACTION");
    if (point == nullptr) return;
    name = point;
    if (const size_t colon = name.find(':'); colon != std::string::npos) {
      left = parse_u64(std::string_view(name).substr(colon + 1), 1, UINT64_MAX).value_or(1);
      name.resize(colon);
    }
    if (action != nullptr && std::string_view(action) == "stop") signal = SIGSTOP;
  }
};

Armed& armed() {
  static Armed instance;
  return instance;
}

}  // namespace

const bool fault_points_armed = std::getenv("SLIPRING_FAULT_POINT") != nullptr;

void reach_fault_point(std::string_view group, std::string_view name, std::string_view side) {
  std::string reached(group);
  reached.append(".").append(name).append(".").append(side);
  if (reached == armed().name && armed().left.fetch_sub(1) == 1) ::kill(::getpid(), armed().signal);
}

}  // namespace slipring::internal
