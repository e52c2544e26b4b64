#include "slipring/net/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "slipring/base/check.h"

namespace slipring::net {
namespace {

char* map_bytes(size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SLIPRING_CHECK(at != MAP_FAILED, "out of address space");
  return static_cast<char*>(at);
}

}  // namespace

BufferPool::~BufferPool() {
  for (Class& c : classes_) {
    for (char* data : c.free) std::free(data);
  }
}

size_t BufferPool::class_of(size_t capacity) {
  return static_cast<size_t>(std::countr_zero(capacity) - std::countr_zero(kBlockBytesMin));
}

size_t BufferPool::round_up(size_t bytes) {
  return std::bit_ceil(std::max(bytes, kBlockBytesMin));
}

BufferPool::Block BufferPool::take(size_t bytes) {
  const size_t capacity = round_up(bytes);
  used_bytes_ += capacity;
  if (capacity > kPooledBytesMax) return {map_bytes(capacity), capacity};
  Class& c = classes_[class_of(capacity)];
  if (c.free.empty()) {
    auto* data = static_cast<char*>(std::malloc(capacity));
    SLIPRING_CHECK(data != nullptr, "out of memory");
    return {data, capacity};
  }
  char* data = c.free.back();
  c.free.pop_back();
  c.least_free = std::min(c.least_free, c.free.size());
  spare_bytes_ -= capacity;
  return {data, capacity};
}

void BufferPool::give(Block block) {
  used_bytes_ -= block.capacity;
  if (block.capacity > kPooledBytesMax) {
    ::munmap(block.data, block.capacity);
    return;
  }
  classes_[class_of(block.capacity)].free.push_back(block.data);
  spare_bytes_ += block.capacity;
}

BufferPool::Block BufferPool::grow(Block block, size_t offset, size_t used, size_t bytes) {
  if (block.capacity > kPooledBytesMax) {
    std::memmove(block.data, block.data + offset, used);
    const size_t capacity = round_up(bytes);
    void* at = ::mremap(block.data, block.capacity, capacity, MREMAP_MAYMOVE);
    SLIPRING_CHECK(at != MAP_FAILED, "out of address space");
    used_bytes_ += capacity - block.capacity;
    return {static_cast<char*>(at), capacity};
  }
  const Block larger = take(bytes);
  if (used != 0) std::memcpy(larger.data, block.data + offset, used);
  if (block.data != nullptr) give(block);
  return larger;
}

void BufferPool::trim() {
  for (size_t i = 0; i < kClasses; ++i) {
    Class& c = classes_[i];
    for (size_t n = c.least_free; n > 0; --n) {
      std::free(c.free.back());
      c.free.pop_back();
      spare_bytes_ -= kBlockBytesMin << i;
    }
    c.least_free = c.free.size();
  }
}

void Buffer::make_room(size_t bytes) {
  constexpr size_t kStepMax = 64u << 20;
  const size_t used = size();
  // Moving the rest to the front is cheaper than growing while at least half of the block is free again.
  if (block_.data != nullptr && used + bytes <= block_.capacity && used <= block_.capacity / 2) {
    std::memmove(block_.data, block_.data + head_, used);
  } else {
    const size_t doubled = block_.capacity + std::min(block_.capacity, kStepMax);
    block_ = pool_->grow(block_, head_, used, std::max({used + bytes, doubled, kFirstBytes}));
  }
  head_ = 0;
  tail_ = used;
}

}  // namespace slipring::net
