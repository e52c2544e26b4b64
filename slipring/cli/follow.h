// Follows a plan on the console: live progress, then how it ended. Ctrl-C stops the following and never the plan.
// Thread-safety: one thread; one follow at a time, because it owns the process's SIGINT meanwhile.
#pragma once

#include <functional>

#include "slipring/cli/command.h"
#include "slipring/control/service.h"

namespace slipring::cli {

// Where a follower stops looking.
enum class Until {
  kRest,   // nothing more happens by itself soon: grace, an end, or a state that waits for a person
  kFinal,  // the plan is closed, or waits for a person; grace is waited out
};

struct FollowOptions {
  Until until = Until::kRest;
  bool quiet = false;                                      // no progress, for --json
  control::PlanState wanted = control::PlanState::kGrace;  // the end that was asked for; kCompleted counts too
  int64_t look_every_ms = 500;
  int64_t unreachable_ms_max = 60'000;  // a controller that is restarted meanwhile is waited for
};

// The last look at the plan, and the exit code: kDone for the end that was wanted, kVerification when it stopped
// because sides differ, kStopped for every other end or state that waits for a person. `detached`: Ctrl-C was pressed.
struct Followed {
  control::PlanDetail plan;
  Exit exit = Exit::kOther;
  bool detached = false;
};

// kUnavailable: the controller did not answer for unreachable_ms_max.
Result<Followed> follow_plan(Context& context, control::ControllerService& service, uint64_t id,
                             const FollowOptions& options);

// The plan that a command without an ID means: the open one of the pool, else with `or_last` the newest.
Result<control::PlanSummary> choose_plan(control::ControllerService& service, const std::string& pool, bool or_last);

}  // namespace slipring::cli
