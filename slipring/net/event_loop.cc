#include "slipring/net/event_loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "slipring/base/check.h"

namespace slipring::net {

void Timer::arm(Nanos after) {
  cancel();
  at_ = loop_.now() + after;
  loop_.heap_insert(*this);
}

void Timer::cancel() {
  if (armed()) loop_.heap_remove(*this);
}

Status EventLoop::open() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) return fail(Code::kResourceExhausted, std::string("event loop: ") + std::strerror(errno));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the wake-up: no handler
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return fail(Code::kResourceExhausted, std::string("event loop: ") + std::strerror(errno));
  }
  return {};
}

Status EventLoop::watch(IoHandler& handler, uint32_t events) {
  if (handler.armed == events && events != 0) return {};
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  int op = handler.armed == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  int rc = ::epoll_ctl(epoll_.get(), op, handler.fd, &event);
  if (rc != 0 && errno == EEXIST) rc = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, handler.fd, &event);
  if (rc != 0) return fail(Code::kResourceExhausted, std::string("watch: ") + std::strerror(errno));
  handler.armed = events;
  return {};
}

void EventLoop::unwatch(IoHandler& handler) {
  if (handler.fd >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, handler.fd, nullptr);
  handler.armed = 0;
}

void EventLoop::run() {
  while (!stop_.load(std::memory_order_acquire)) run_once(Nanos::max());
}

void EventLoop::run_once(Nanos wait_max) {
  std::array<epoll_event, kEventsPerTurnMax> events;
  const int n = ::epoll_wait(epoll_.get(), events.data(), kEventsPerTurnMax, wait_ms(wait_max));
  now_ = clock_.now();
  for (int i = 0; i < n; ++i) {
    auto* handler = static_cast<IoHandler*>(events[static_cast<size_t>(i)].data.ptr);
    if (handler == nullptr) {
      run_posted();
    } else if (handler->fd >= 0) {
      handler->on_ready(*handler, events[static_cast<size_t>(i)].events);
    }
  }
  run_timers();
  if (turn_end_) turn_end_();
}

int EventLoop::wait_ms(Nanos wait_max) const {
  Nanos wait = wait_max;
  if (!heap_.empty()) wait = std::min(wait, heap_.front()->at_ - clock_.now());
  if (wait <= Nanos(0)) return 0;
  constexpr Nanos kLongest = std::chrono::hours(1);
  // Rounded up, so a timer is due when the wait ends.
  return static_cast<int>(std::chrono::ceil<Millis>(std::min(wait, kLongest)).count());
}

void EventLoop::stop() {
  stop_.store(true, std::memory_order_release);
  post([] {});
}

void EventLoop::post(std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard lock(posted_mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (!first) return;  // whoever came first has woken the loop
  const uint64_t one = 1;
  const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  SLIPRING_CHECK(written == sizeof one || errno == EAGAIN, "an eventfd takes a count of one");
}

void EventLoop::run_posted() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
  {
    const std::lock_guard lock(posted_mutex_);
    running_.swap(posted_);
  }
  for (auto& work : running_) work();
  running_.clear();
}

void EventLoop::run_timers() {
  while (!heap_.empty() && heap_.front()->at_ <= now_) {
    Timer& due = *heap_.front();
    heap_remove(due);
    due.on_time_();
  }
}

void EventLoop::heap_insert(Timer& timer) {
  heap_.push_back(&timer);
  heap_place(heap_.size() - 1, &timer);
  heap_up(timer.slot_);
}

void EventLoop::heap_remove(Timer& timer) {
  const size_t hole = timer.slot_;
  timer.slot_ = Timer::kNotArmed;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  heap_place(hole, last);
  heap_up(hole);
  heap_down(last->slot_);
}

void EventLoop::heap_place(size_t i, Timer* timer) {
  heap_[i] = timer;
  timer->slot_ = i;
}

void EventLoop::heap_up(size_t i) {
  while (i > 0) {
    const size_t parent = (i - 1) / 2;
    if (heap_[parent]->at_ <= heap_[i]->at_) return;
    Timer* timer = heap_[i];
    heap_place(i, heap_[parent]);
    heap_place(parent, timer);
    i = parent;
  }
}

void EventLoop::heap_down(size_t i) {
  for (;;) {
    size_t least = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_.size(); ++child) {
      if (heap_[child]->at_ < heap_[least]->at_) least = child;
    }
    if (least == i) return;
    Timer* timer = heap_[i];
    heap_place(i, heap_[least]);
    heap_place(least, timer);
    i = least;
  }
}

}  // namespace slipring::net
