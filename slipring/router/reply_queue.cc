#include "slipring/router/reply_queue.h"

#include <algorithm>
#include <bit>

namespace slipring::router {

void ReplyQueue::keep(uint32_t seq, std::string_view reply) {
  at(seq) = {static_cast<uint32_t>(early_.size()), static_cast<uint32_t>(reply.size())};
  early_.append(reply);
  early_live_bytes_ += reply.size();
  ++early_places_;
}

void ReplyQueue::release_ready(net::Buffer& out) {
  while (head_ != tail_ && at(head_).bytes != kWaiting) {
    const Place place = at(head_++);
    out.append({early_.data() + place.offset, place.bytes});
    early_live_bytes_ -= place.bytes;
    --early_places_;
  }
  constexpr size_t kGarbageBytesMax = 64u << 10;
  const size_t garbage = early_.size() - early_live_bytes_;
  if (early_places_ == 0) {
    early_.clear();
  } else if (garbage > kGarbageBytesMax && garbage > early_live_bytes_) {
    compact();
  }
}

// Copies what is still to come into a fresh buffer: paid for by the bytes that went since the last time.
void ReplyQueue::compact() {
  net::Buffer live(pool_);
  for (uint32_t seq = head_; seq != tail_; ++seq) {
    Place& place = at(seq);
    if (place.bytes == kWaiting) continue;
    const std::string_view reply(early_.data() + place.offset, place.bytes);
    place.offset = static_cast<uint32_t>(live.size());
    live.append(reply);
  }
  early_.swap(live);
}

void ReplyQueue::grow() {
  const net::BufferPool::Block larger = pool_.take(std::max<size_t>(1, size_t{2} * capacity_ * sizeof(Place)));
  auto* ring = reinterpret_cast<Place*>(larger.data);
  const auto capacity = static_cast<uint32_t>(std::bit_floor(larger.capacity / sizeof(Place)));
  for (uint32_t seq = head_; seq != tail_; ++seq) ring[seq & (capacity - 1)] = at(seq);
  if (block_.data != nullptr) pool_.give(block_);
  block_ = larger;
  ring_ = ring;
  capacity_ = capacity;
}

void ReplyQueue::release_ring() {
  if (block_.data != nullptr) pool_.give(block_);
  block_ = {};
  ring_ = nullptr;
  capacity_ = 0;
}

}  // namespace slipring::router
