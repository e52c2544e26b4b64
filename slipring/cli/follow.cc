#include "slipring/cli/follow.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ostream>

#include "slipring/base/clock.h"
#include "slipring/cli/render.h"

namespace slipring::cli {
namespace {

using control::PlanDetail;
using control::PlanState;

constexpr size_t kRowsMax = 20;
// Without a terminal a line is printed when something changes, or after this long.
constexpr int64_t kLineEveryMs = 5'000;

std::atomic<bool> interrupted = false;
void on_interrupt(int) {
  interrupted = true;
}

// Takes Ctrl-C while it lives.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = false;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    ::sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() { ::sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ {};
};

// Draws the progress in place on a terminal, and as few lines as say what happens elsewhere.
class Display {
 public:
  Display(Context& context, bool quiet) : context_(context), quiet_(quiet) {}

  void show(const PlanDetail& plan, MonoTime now) {
    if (quiet_) return;
    const std::string text = render_progress(plan, kRowsMax);
    if (context_.console.out_is_terminal) {
      redraw(text);
    } else {
      print_changes(plan, text, now);
    }
  }
  void say(const std::string& text) {
    if (!quiet_) context_.console.err << text << std::flush;
  }

 private:
  void redraw(const std::string& text) {
    if (lines_ > 0) context_.console.out << fmt::format("\x1b[{}A\x1b[J", lines_);
    context_.console.out << text << std::flush;
    lines_ = std::count(text.begin(), text.end(), '\n');
  }
  void print_changes(const PlanDetail& plan, const std::string& text, MonoTime now) {
    std::string stages = fmt::format("{}", static_cast<int>(plan.summary.state));
    for (const auto& move : plan.moves) stages += static_cast<char>('a' + static_cast<int>(move.stage));
    const bool due = std::chrono::duration_cast<Millis>(now - printed_at_).count() >= kLineEveryMs;
    if (stages == stages_ && !due) return;
    stages_ = stages;
    printed_at_ = now;
    context_.console.out << text << std::flush;
  }

  Context& context_;
  const bool quiet_;
  std::ptrdiff_t lines_ = 0;
  std::string stages_;
  MonoTime printed_at_{};
};

bool waits_for_a_person(PlanState state) {
  return state == PlanState::kStopped || state == PlanState::kNeedsDecision;
}

bool rests(PlanState state, Until until) {
  return is_final(state) || waits_for_a_person(state) || (state == PlanState::kGrace && until == Until::kRest);
}

Exit exit_for(const PlanDetail& plan, PlanState wanted) {
  const PlanState state = plan.summary.state;
  if (state == wanted || state == PlanState::kCompleted) return Exit::kDone;
  if (wanted == PlanState::kCompleted && state == PlanState::kGrace) return Exit::kDone;
  const bool differs =
      std::any_of(plan.verification.begin(), plan.verification.end(), [](const auto& r) { return !r.equal; });
  return waits_for_a_person(state) && differs ? Exit::kVerification : Exit::kStopped;
}

// Sleeps, but not on after Ctrl-C.
void pause_ms(int64_t ms) {
  if (!interrupted) ::poll(nullptr, 0, static_cast<int>(ms));
}

// Looks at the plan, waiting for a controller that is away for a while.
class Watcher {
 public:
  Watcher(control::ControllerService& service, uint64_t id, const FollowOptions& options, Display& display)
      : service_(service), id_(id), options_(options), display_(display) {}

  Result<PlanDetail> look() {
    const MonoTime since = clock_.now();
    for (bool said = false;; said = true) {
      auto plan = service_.plan(id_, {0, control::kPageItemsMax});
      const bool away =
          !plan && (plan.error().code == Code::kUnavailable || plan.error().code == Code::kDeadlineExceeded);
      if (!away || interrupted ||
          std::chrono::duration_cast<Millis>(clock_.now() - since).count() >= options_.unreachable_ms_max) {
        return plan;
      }
      if (!said) display_.say(plan.error().message + "; trying again\n");
      pause_ms(options_.look_every_ms);
    }
  }
  MonoTime now() const { return clock_.now(); }

 private:
  control::ControllerService& service_;
  const uint64_t id_;
  const FollowOptions& options_;
  Display& display_;
  SystemClock clock_;
};

}  // namespace

Result<Followed> follow_plan(Context& context, control::ControllerService& service, uint64_t id,
                             const FollowOptions& options) {
  const InterruptGuard guard;
  Display display(context, options.quiet);
  Watcher watcher(service, id, options, display);
  for (;;) {
    SLIPRING_ASSIGN(PlanDetail plan, watcher.look());
    display.show(plan, watcher.now());
    if (rests(plan.summary.state, options.until)) {
      const Exit exit = exit_for(plan, options.wanted);
      return Followed{std::move(plan), exit, false};
    }
    pause_ms(options.look_every_ms);
    if (!interrupted) continue;
    display.say(fmt::format("\ndetached; plan {} goes on.\n{}", id, render_next_steps(plan.summary)));
    return Followed{std::move(plan), Exit::kDone, true};
  }
}

Result<control::PlanSummary> choose_plan(control::ControllerService& service, const std::string& pool, bool or_last) {
  SLIPRING_ASSIGN(const std::vector<control::PlanSummary> plans, service.plans(pool, {0, 1}));
  const bool open = !plans.empty() && !is_final(plans[0].state);
  if (open || (or_last && !plans.empty())) return plans[0];
  return fail(plans.empty() ? Code::kNotFound : Code::kFailedPrecondition,
              plans.empty() ? "there has been no plan yet"
                            : fmt::format("no plan is open; the last one, {}, has ended", plans[0].id));
}

}  // namespace slipring::cli
