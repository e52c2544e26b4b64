// One thread's loop: epoll for sockets, a heap of timers, and closures posted by other threads. Handlers and timers are
// owned by whoever uses them; the loop allocates nothing per event.
//
// Invariant: now() is read once per turn, so work inside a turn needs no clock; at_turn_end runs after the events of a
// turn, which is where batched output is written. A handler may be unwatched at any time but must stay in memory until
// the turn ends, since epoll may have reported it already.
// Thread-safety: post() and stop() from any thread, everything else from the loop's own.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/net/fd.h"

namespace slipring::net {

// What epoll wakes. A plain function pointer: the loop knows nothing of what stands behind it.
struct IoHandler {
  using OnReady = void (*)(IoHandler& self, uint32_t events);
  explicit IoHandler(OnReady fn) : on_ready(fn) {}
  OnReady on_ready;
  int fd = -1;         // -1: not open; events that were reported earlier in the turn are dropped
  uint32_t armed = 0;  // the events that epoll watches now
};

class EventLoop;

// A one-shot timer; arming it again moves it. Destroying it cancels it.
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> on_time) : loop_(loop), on_time_(std::move(on_time)) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void arm(Nanos after);
  void cancel();
  bool armed() const { return slot_ != kNotArmed; }

 private:
  friend class EventLoop;
  static constexpr size_t kNotArmed = SIZE_MAX;
  EventLoop& loop_;
  std::function<void()> on_time_;
  MonoTime at_{};
  size_t slot_ = kNotArmed;  // position in the loop's heap
};

class EventLoop {
 public:
  explicit EventLoop(const Clock& clock) : clock_(clock), now_(clock.now()) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // kResourceExhausted: no file descriptor left. Must succeed before anything else is called.
  Status open();

  // Watches handler.fd for `events` (EPOLLIN, EPOLLOUT, ...; level-triggered); again to change them.
  // kResourceExhausted: the kernel's limit on watches.
  Status watch(IoHandler& handler, uint32_t events);
  void unwatch(IoHandler& handler);

  // Runs turns until stop().
  void run();
  // One turn; waits at most wait_max for something to happen.
  void run_once(Nanos wait_max);
  void stop();
  // Runs `work` on the loop's thread, in the order of the calls. After the loop has ended it never runs.
  void post(std::function<void()> work);

  void at_turn_end(std::function<void()> work) { turn_end_ = std::move(work); }

  MonoTime now() const { return now_; }

 private:
  friend class Timer;
  static constexpr int kEventsPerTurnMax = 256;

  int wait_ms(Nanos wait_max) const;
  void run_posted();
  void run_timers();
  void heap_insert(Timer& timer);
  void heap_remove(Timer& timer);
  void heap_up(size_t i);
  void heap_down(size_t i);
  void heap_place(size_t i, Timer* timer);

  const Clock& clock_;
  MonoTime now_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::function<void()> turn_end_;
  std::vector<Timer*> heap_;  // binary heap by at_
  std::atomic<bool> stop_{false};

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  std::vector<std::function<void()>> running_;
};

}  // namespace slipring::net
