// Named places in the product at which a test lets a process die, stop or wait. Off unless the environment names one:
//
//   SLIPRING_FAULT_POINT=plan.commit.before      the first time (":3" behind it: the third time)
//   SLIPRING_FAULT_ACTION=kill | stop            SIGKILL or SIGSTOP to the own process
//
// The environment is read once; a point that is not armed costs one comparison. Thread-safety: any thread.
#pragma once

#include <string_view>

namespace slipring {

namespace internal {
extern const bool fault_points_armed;
void reach_fault_point(std::string_view group, std::string_view name, std::string_view side);
}  // namespace internal

// Reaches the point "GROUP.NAME.SIDE".
inline void fault_point(std::string_view group, std::string_view name, std::string_view side) {
  if (internal::fault_points_armed) [[unlikely]]
    internal::reach_fault_point(group, name, side);
}

}  // namespace slipring
