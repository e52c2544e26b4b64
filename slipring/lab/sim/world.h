// Time, chance and order of a simulation: one queue of events, one random generator, one trace. Processes are what can
// crash (lose everything that waits for them) or be stopped (it waits until they are woken).
//
// Invariant: the same seed gives the same sequence of events. Thread-safety: one owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/random.h"

namespace slipring::lab {

using Task = std::function<void()>;

class World {
 public:
  World(uint64_t seed, bool keep_trace) : random(seed), keep_trace_(keep_trace) {}

  int64_t now_us() const { return now_us_; }
  int64_t now_ms() const { return now_us_ / 1000; }
  MonoTime mono() const { return MonoTime(Nanos(now_us_ * 1000)); }
  ManualClock& clock() { return clock_; }

  void after_us(int64_t delay_us, Task task) { at_us(now_us_ + delay_us, std::move(task)); }
  void at_us(int64_t time_us, Task task) {
    queue_.push(Event{std::max(time_us, now_us_), ++last_sequence_, std::move(task)});
  }
  // Runs the next event. False: there is none, or a violation ended the run.
  bool step();

  // What a message takes on its way: mostly a fraction of a millisecond, sometimes much longer.
  int64_t delay_us() {
    const uint64_t dice = random.below(100);
    if (dice < 80) return 50 + static_cast<int64_t>(random.below(300));
    if (dice < 97) return 300 + static_cast<int64_t>(random.below(3'000));
    return 3'000 + static_cast<int64_t>(random.below(30'000));
  }

  void trace(const std::string& line);
  void cover(std::string_view what);
  // The first one counts and ends the run.
  void violate(const std::string& what);
  const std::string& violation() const { return violation_; }

  uint64_t events() const { return events_; }
  uint64_t digest() const { return digest_; }
  std::map<std::string, uint64_t> take_coverage() { return std::move(coverage_); }
  std::vector<std::string> take_trace() { return std::move(lines_); }

  Random random;

 private:
  struct Event {
    int64_t time_us;
    uint64_t sequence;
    Task task;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time_us != b.time_us ? a.time_us > b.time_us : a.sequence > b.sequence;
    }
  };

  bool keep_trace_;
  int64_t now_us_ = 0;
  uint64_t last_sequence_ = 0;
  uint64_t events_ = 0;
  uint64_t digest_ = 1469598103934665603ull;
  ManualClock clock_{1'000'000'000};
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  std::map<std::string, uint64_t> coverage_;
  std::vector<std::string> lines_;
  std::string violation_;
};

// Something that runs: it can crash and start again as another incarnation, or be stopped and woken.
class Process {
 public:
  explicit Process(World& w) : world(w) {}
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The task runs in this incarnation, later if it is stopped, never if it crashed meanwhile.
  void post_after_us(int64_t delay_us, Task task);
  void run(uint64_t of_incarnation, const Task& task);
  void crash();
  void restart();
  void stop();
  void wake();
  bool alive() const { return alive_; }
  bool stopped() const { return stopped_; }
  uint64_t incarnation() const { return incarnation_; }

  World& world;

 protected:
  virtual void on_crash() {}
  virtual void on_start() {}

 private:
  bool alive_ = false;
  bool stopped_ = false;
  uint64_t incarnation_ = 0;
  std::deque<Task> backlog_;
};

}  // namespace slipring::lab
