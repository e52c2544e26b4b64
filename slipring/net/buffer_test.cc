// A buffer is a queue of bytes whose memory goes back when it is empty.
#include "slipring/net/buffer.h"

#include <gtest/gtest.h>

#include <string>

#include "slipring/base/random.h"

namespace slipring::net {
namespace {

TEST(Buffer, GivesBackWhatWasAppendedInOrder) {
  BufferPool pool;
  Buffer buffer(pool);
  buffer.append("abc");
  buffer.append('d');
  EXPECT_EQ(buffer.view(), "abcd");
  buffer.consume(2);
  buffer.append("efg");
  EXPECT_EQ(buffer.view(), "cdefg");
}

TEST(Buffer, HoldsNoMemoryWhenEmpty) {
  BufferPool pool;
  Buffer buffer(pool);
  EXPECT_EQ(pool.used_bytes(), 0u);
  buffer.append("abc");
  EXPECT_EQ(pool.used_bytes(), Buffer::kFirstBytes);
  buffer.consume(3);
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, BehavesLikeAStringUnderRandomAppendsAndTakes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    BufferPool pool;
    Buffer buffer(pool);
    std::string model;
    for (int step = 0; step < 300; ++step) {
      if (random.chance(0.6)) {
        const std::string piece(random.below(random.chance(0.05) ? 300'000 : 700), static_cast<char>('a' + step % 26));
        buffer.append(piece);
        model += piece;
      } else {
        const size_t n = random.below(model.size() + 1);
        buffer.consume(n);
        model.erase(0, n);
      }
      ASSERT_EQ(buffer.view(), model) << "seed " << seed << " step " << step;
    }
    buffer.clear();
    EXPECT_EQ(pool.used_bytes(), 0u);
  }
}

TEST(Buffer, GrowsPastTheLargestPooledBlockWithItsContentUnchanged) {
  BufferPool pool;
  Buffer buffer(pool);
  std::string model;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(100'000, static_cast<char>('a' + i % 26));
    buffer.append(piece);
    model += piece;
    if (i % 7 == 3) {
      buffer.consume(50'000);
      model.erase(0, 50'000);
    }
  }
  EXPECT_EQ(buffer.view(), model);
  buffer.clear();
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_LE(pool.spare_bytes(), 2 * BufferPool::kPooledBytesMax);
}

TEST(Buffer, ReservedRoomIsCountedOnlyWhenCommitted) {
  BufferPool pool;
  Buffer buffer(pool);
  std::memcpy(buffer.reserve(100), "hello", 5);
  EXPECT_GE(buffer.room(), 100u);
  EXPECT_TRUE(buffer.empty());
  buffer.commit(5);
  EXPECT_EQ(buffer.view(), "hello");
}

TEST(Buffer, MovesAndSwapsItsBytes) {
  BufferPool pool;
  Buffer a(pool);
  a.append("one");
  Buffer b(std::move(a));
  EXPECT_EQ(b.view(), "one");
  Buffer c(pool);
  c.append("two");
  c.swap(b);
  EXPECT_EQ(c.view(), "one");
  EXPECT_EQ(b.view(), "two");
}

TEST(BufferPool, TakesABlockThatWasGivenBackBeforeItAllocates) {
  BufferPool pool;
  const BufferPool::Block first = pool.take(5000);
  EXPECT_EQ(first.capacity, 8192u);
  pool.give(first);
  EXPECT_EQ(pool.spare_bytes(), 8192u);
  const BufferPool::Block second = pool.take(8192);
  EXPECT_EQ(second.data, first.data);
  pool.give(second);
}

TEST(BufferPool, TrimFreesOnlyWhatLayUnusedSinceTheLastTrim) {
  BufferPool pool;
  const BufferPool::Block a = pool.take(4096);
  const BufferPool::Block b = pool.take(4096);
  pool.give(a);
  pool.give(b);
  pool.trim();
  const BufferPool::Block again = pool.take(4096);
  pool.give(again);
  pool.trim();
  EXPECT_EQ(pool.spare_bytes(), 4096u);
  pool.trim();
  EXPECT_EQ(pool.spare_bytes(), 0u);
}

}  // namespace
}  // namespace slipring::net
