// The replies of one client in the order of its commands. Commands go to many servers and answers come back as they
// like: the reply of the oldest command goes to the output at once, with all that was ready behind it; others wait
// here. One place is 8 bytes of a ring that an idle client does not have.
//
// Invariant: places are completed once each; output order = order of push(). No I/O.
// Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "slipring/net/buffer.h"

namespace slipring::router {

class ReplyQueue {
 public:
  explicit ReplyQueue(net::BufferPool& pool) : pool_(pool), early_(pool) {}
  ~ReplyQueue() { release_ring(); }
  ReplyQueue(const ReplyQueue&) = delete;
  ReplyQueue& operator=(const ReplyQueue&) = delete;

  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }
  // Bytes of replies that came before their turn.
  size_t early_bytes() const { return early_.size(); }

  // A place for the next command; its number is handed to complete().
  uint32_t push() {
    if (size() == capacity_) [[unlikely]]
      grow();
    at(tail_) = {0, kWaiting};
    return tail_++;
  }
  // The reply of place `seq`. Cost: one copy of it, two if it comes before its turn.
  void complete(uint32_t seq, std::string_view reply, net::Buffer& out) {
    if (seq != head_) [[unlikely]] {
      keep(seq, reply);
      return;
    }
    out.append(reply);
    ++head_;
    if (early_places_ != 0) [[unlikely]]
      release_ready(out);
    if (empty()) release_ring();
  }
  // A reply that is known at once: complete(push(), reply, out), without a place if nothing is before it.
  void answer(std::string_view reply, net::Buffer& out) {
    if (empty()) {
      out.append(reply);
    } else {
      keep(push(), reply);
    }
  }

 private:
  static constexpr uint32_t kWaiting = UINT32_MAX;
  struct Place {
    uint32_t offset;  // of a reply kept in early_
    uint32_t bytes;   // kWaiting: no reply yet
  };

  Place& at(uint32_t seq) { return ring_[seq & (capacity_ - 1)]; }
  void keep(uint32_t seq, std::string_view reply);
  void release_ready(net::Buffer& out);
  void compact();
  void grow();
  void release_ring();

  net::BufferPool& pool_;
  net::BufferPool::Block block_;
  Place* ring_ = nullptr;
  uint32_t capacity_ = 0;  // a power of two, or 0
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t early_places_ = 0;
  size_t early_live_bytes_ = 0;
  net::Buffer early_;
};

}  // namespace slipring::router
