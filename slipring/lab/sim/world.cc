#include "slipring/lab/sim/world.h"

#include <fmt/format.h>

#include <utility>

namespace slipring::lab {

bool World::step() {
  if (queue_.empty() || !violation_.empty()) return false;
  // The queue's top is const only to protect its order, which the move does not touch.
  Event event = std::move(const_cast<Event&>(queue_.top()));
  queue_.pop();
  // Whole milliseconds: ManualClock::advance() would drop what is less at every step.
  clock_.jump_wall(Millis(event.time_us / 1000 - now_us_ / 1000));
  now_us_ = event.time_us;
  ++events_;
  event.task();
  return true;
}

void World::trace(const std::string& line) {
  for (const char c : line) digest_ = (digest_ ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  digest_ = (digest_ ^ static_cast<uint64_t>(now_us_)) * 1099511628211ull;
  if (keep_trace_) lines_.push_back(fmt::format("{:>10.3f} {}", static_cast<double>(now_us_) / 1000, line));
}

void World::cover(std::string_view what) {
  ++coverage_[std::string(what)];
}

void World::violate(const std::string& what) {
  if (!violation_.empty()) return;
  violation_ = what;
  trace("VIOLATION " + what);
}

void Process::post_after_us(int64_t delay_us, Task task) {
  world.after_us(delay_us, [this, of = incarnation_, task = std::move(task)] { run(of, task); });
}

void Process::run(uint64_t of_incarnation, const Task& task) {
  if (!alive_ || of_incarnation != incarnation_) return;
  if (stopped_) {
    backlog_.push_back(task);
  } else {
    task();
  }
}

void Process::crash() {
  if (!alive_) return;
  alive_ = false;
  stopped_ = false;
  backlog_.clear();
  ++incarnation_;
  on_crash();
}

void Process::restart() {
  if (alive_) return;
  alive_ = true;
  on_start();
}

void Process::stop() {
  stopped_ = alive_;
}

void Process::wake() {
  if (!stopped_) return;
  stopped_ = false;
  // What a woken process does first is what waited for it, in order; a task may stop or crash it again.
  std::deque<Task> tasks = std::exchange(backlog_, {});
  const uint64_t of = incarnation_;
  for (const Task& task : tasks) run(of, task);
}

}  // namespace slipring::lab
