// Time is an input. Cores are handed a time point or a Clock; only programs own a SystemClock.
// Thread-safety: now() of every clock may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace slipring {

using Nanos = std::chrono::nanoseconds;
using Millis = std::chrono::milliseconds;
// Monotonic time since an arbitrary start. Never compared between processes.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, Nanos>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime now() const = 0;
  // Milliseconds since 1970; may jump.
  virtual int64_t wall_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  MonoTime now() const override {
    return std::chrono::time_point_cast<Nanos>(std::chrono::steady_clock::now());
  }
  int64_t wall_ms() const override {
    return std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

// A clock that moves only when told to: for tests and simulation.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_ms = 0) : wall_ms_(wall_ms) {}
  MonoTime now() const override { return MonoTime(Nanos(now_ns_.load())); }
  int64_t wall_ms() const override { return wall_ms_.load(); }
  void advance(Nanos by) {
    now_ns_ += by.count();
    wall_ms_ += std::chrono::duration_cast<Millis>(by).count();
  }
  // Moves the wall clock alone, forwards or backwards.
  void jump_wall(Millis by) { wall_ms_ += by.count(); }

 private:
  std::atomic<int64_t> now_ns_{0};
  std::atomic<int64_t> wall_ms_;
};

}  // namespace slipring
