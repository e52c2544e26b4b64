// Requests that a server has not answered, oldest first: a ring that grows and shrinks with the load.
// Thread-safety: one loop thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace slipring::router {

class Client;

enum class CommandClass : uint8_t { kRead, kWrite, kSplit, kTransaction, kOther };
inline constexpr size_t kCommandClasses = 5;

inline constexpr uint32_t kNoMerge = UINT32_MAX;

struct Pending {
  Client* client = nullptr;   // nullptr: nobody waits for the reply
  uint32_t seq = 0;           // the command's place in the client's ReplyQueue
  uint32_t since_us = 0;      // loop time, wrapping after 71 minutes
  uint32_t merge = kNoMerge;  // part of a split command
  uint16_t part = 0;
  CommandClass command_class = CommandClass::kOther;
};

class PendingRing {
 public:
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }
  const Pending& front() const { return ring_[head_ & mask()]; }
  void pop() { ++head_; }
  void push(const Pending& pending) {
    if (size() == ring_.size()) [[unlikely]]
      resize(std::max<size_t>(16, 2 * ring_.size()));
    ring_[tail_++ & mask()] = pending;
  }
  // Gives memory back after a burst.
  void trim() {
    constexpr size_t kKept = 1024;
    if (ring_.size() > kKept && size() < ring_.size() / 4) resize(ring_.size() / 2);
  }

 private:
  uint32_t mask() const { return static_cast<uint32_t>(ring_.size()) - 1; }
  void resize(size_t capacity) {
    std::vector<Pending> larger(capacity);
    const uint32_t n = size();
    for (uint32_t i = 0; i < n; ++i) larger[i] = ring_[(head_ + i) & mask()];
    ring_.swap(larger);
    head_ = 0;
    tail_ = n;
  }
  std::vector<Pending> ring_;  // capacity a power of two, or 0
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace slipring::router
