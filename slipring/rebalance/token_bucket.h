// A rate limit whose time is an input: at most `per_second` units on average, bursts of at most a tenth of a second.
// What an action costs may be known only afterwards: the balance goes below zero and the next one waits.
// Thread-safety: one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "slipring/base/clock.h"

namespace slipring::rebalance {

class TokenBucket {
 public:
  // 0 = no limit.
  explicit TokenBucket(uint64_t per_second) : per_second_(static_cast<double>(per_second)) {}

  bool ready(MonoTime now) {
    refill(now);
    return per_second_ == 0 || balance_ >= 0;
  }
  void spend(uint64_t units) { balance_ -= per_second_ == 0 ? 0 : static_cast<double>(units); }
  // When ready() will be true, as far as known now.
  MonoTime ready_at() const {
    if (per_second_ == 0 || balance_ >= 0) return last_;
    return last_ + Nanos(static_cast<int64_t>(-balance_ / per_second_ * 1e9) + 1);
  }

 private:
  void refill(MonoTime now) {
    if (now <= last_) return;
    const double seconds = static_cast<double>((now - last_).count()) * 1e-9;
    balance_ = std::min(balance_ + seconds * per_second_, per_second_ / 10);
    last_ = now;
  }

  double per_second_;
  double balance_ = 0;
  MonoTime last_{};
};

}  // namespace slipring::rebalance
