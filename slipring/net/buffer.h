// Bytes that wait for a socket or for the rest of a command: a contiguous queue, appended behind, taken in front.
// Blocks come from a pool of one thread and go back to it as soon as a buffer is empty, so something idle holds no
// memory and a busy loop allocates nothing; large blocks are mapped and grow without copying.
//
// Invariant: pool.used_bytes() is the sum of the capacities of the pool's live buffers.
// Thread-safety: a pool and its buffers belong to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace slipring::net {

class BufferPool {
 public:
  static constexpr size_t kBlockBytesMin = 1024;
  static constexpr size_t kPooledBytesMax = 512u << 10;  // larger blocks are mapped and never pooled

  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  struct Block {
    char* data = nullptr;
    size_t capacity = 0;
  };
  // A block of at least `bytes` (rounded up to a power of two).
  Block take(size_t bytes);
  void give(Block block);
  // A block of at least `bytes` that starts with the `used` bytes at block.data + offset; the old one is gone.
  Block grow(Block block, size_t offset, size_t used, size_t bytes);

  // Capacity of all blocks that buffers hold now.
  size_t used_bytes() const { return used_bytes_; }
  // Blocks kept for later.
  size_t spare_bytes() const { return spare_bytes_; }
  // Frees what lay unused since the last call: called about once a second it gives a burst's memory back.
  void trim();

 private:
  static constexpr size_t kClasses = 10;  // 1 KB << 0 .. 9 = 512 KB
  struct Class {
    std::vector<char*> free;
    size_t least_free = 0;  // since the last trim
  };
  static size_t class_of(size_t capacity);
  static size_t round_up(size_t bytes);

  std::array<Class, kClasses> classes_;
  size_t used_bytes_ = 0;
  size_t spare_bytes_ = 0;
};

class Buffer {
 public:
  static constexpr size_t kFirstBytes = 4096;

  explicit Buffer(BufferPool& pool) : pool_(&pool) {}
  ~Buffer() { clear(); }
  Buffer(Buffer&& other) noexcept
      : pool_(other.pool_),
        block_(std::exchange(other.block_, {})),
        head_(std::exchange(other.head_, 0)),
        tail_(std::exchange(other.tail_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(head_, other.head_);
    std::swap(tail_, other.tail_);
  }

  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }
  size_t capacity() const { return block_.capacity; }
  const char* data() const { return block_.data + head_; }
  std::string_view view() const { return {data(), size()}; }

  void append(std::string_view bytes) {
    if (block_.capacity - tail_ < bytes.size()) [[unlikely]]
      make_room(bytes.size());
    if (!bytes.empty()) std::memcpy(block_.data + tail_, bytes.data(), bytes.size());
    tail_ += bytes.size();
  }
  void append(char c) {
    if (block_.capacity == tail_) [[unlikely]]
      make_room(1);
    block_.data[tail_++] = c;
  }
  // Room of at least `bytes` behind the end, to be filled and then counted with commit().
  char* reserve(size_t bytes) {
    if (block_.capacity - tail_ < bytes) [[unlikely]]
      make_room(bytes);
    return block_.data + tail_;
  }
  size_t room() const { return block_.capacity - tail_; }
  void commit(size_t bytes) { tail_ += bytes; }
  // Drops bytes in front; an empty buffer gives its block back.
  void consume(size_t bytes) {
    head_ += bytes;
    if (head_ == tail_) clear();
  }
  void clear() {
    if (block_.data != nullptr) pool_->give(block_);
    block_ = {};
    head_ = tail_ = 0;
  }

 private:
  void make_room(size_t bytes);

  BufferPool* pool_;
  BufferPool::Block block_;
  size_t head_ = 0;
  size_t tail_ = 0;
};

}  // namespace slipring::net
