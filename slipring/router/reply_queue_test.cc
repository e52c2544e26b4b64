// Whatever the order in which servers answer, a client reads its replies in the order of its commands.
#include "slipring/router/reply_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "slipring/base/random.h"

namespace slipring::router {
namespace {

struct Queue {
  net::BufferPool pool;
  net::Buffer out{pool};
  ReplyQueue replies{pool};
};

TEST(ReplyQueue, PassesTheReplyOfTheOldestCommandOnAtOnce) {
  Queue q;
  const uint32_t a = q.replies.push();
  const uint32_t b = q.replies.push();
  q.replies.complete(a, "A", q.out);
  EXPECT_EQ(q.out.view(), "A");
  q.replies.complete(b, "B", q.out);
  EXPECT_EQ(q.out.view(), "AB");
  EXPECT_TRUE(q.replies.empty());
}

TEST(ReplyQueue, KeepsAReplyUntilItsTurn) {
  Queue q;
  const uint32_t a = q.replies.push();
  const uint32_t b = q.replies.push();
  const uint32_t c = q.replies.push();
  q.replies.complete(c, "C", q.out);
  q.replies.complete(b, "B", q.out);
  EXPECT_TRUE(q.out.empty());
  EXPECT_EQ(q.replies.early_bytes(), 2u);
  q.replies.complete(a, "A", q.out);
  EXPECT_EQ(q.out.view(), "ABC");
  EXPECT_EQ(q.replies.early_bytes(), 0u);
}

TEST(ReplyQueue, AnAnswerKnownAtOnceWaitsForTheCommandsBeforeIt) {
  Queue q;
  q.replies.answer("first", q.out);
  EXPECT_EQ(q.out.view(), "first");
  const uint32_t a = q.replies.push();
  q.replies.answer("-third", q.out);
  EXPECT_EQ(q.out.view(), "first");
  q.replies.complete(a, "-second", q.out);
  EXPECT_EQ(q.out.view(), "first-second-third");
}

TEST(ReplyQueue, HoldsNoMemoryWhenNothingWaits) {
  Queue q;
  std::vector<uint32_t> places;
  for (int i = 0; i < 5000; ++i) places.push_back(q.replies.push());
  EXPECT_GT(q.pool.used_bytes(), 5000u * 8);
  for (size_t i = places.size(); i-- > 0;) q.replies.complete(places[i], "x", q.out);
  EXPECT_EQ(q.out.size(), 5000u);
  q.out.clear();
  EXPECT_EQ(q.pool.used_bytes(), 0u);
}

TEST(ReplyQueue, KeepsTheOrderUnderRandomArrivalsAndBoundsWhatIsKept) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    Queue q;
    std::string expected;
    std::vector<std::pair<uint32_t, std::string>> waiting;
    std::string got;
    size_t live = 0;
    for (int i = 0; i < 4000; ++i) {
      if (random.chance(0.5) || waiting.empty()) {
        std::string reply = std::to_string(i) + std::string(random.below(300), 'r') + ";";
        expected += reply;
        live += reply.size();
        waiting.emplace_back(q.replies.push(), std::move(reply));
      } else {
        const size_t pick = random.below(std::min<size_t>(waiting.size(), 40));
        q.replies.complete(waiting[pick].first, waiting[pick].second, q.out);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
      }
      got += q.out.view();
      q.out.clear();
      ASSERT_LE(q.replies.early_bytes(), 2 * (live - got.size()) + (64u << 10) + 600);
    }
    for (const auto& [place, reply] : waiting) q.replies.complete(place, reply, q.out);
    got += q.out.view();
    ASSERT_EQ(got, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace slipring::router
