// Requests leave the ring in the order they came, also while it grows and shrinks.
#include "slipring/router/pending.h"

#include <gtest/gtest.h>

#include <deque>

#include "slipring/base/random.h"

namespace slipring::router {
namespace {

TEST(PendingRing, IsAQueueAtEverySize) {
  Random random(3);
  PendingRing ring;
  std::deque<uint32_t> model;
  uint32_t next = 0;
  for (int step = 0; step < 60'000; ++step) {
    const bool filling = (step / 10'000) % 2 == 0;
    if (model.empty() || random.chance(filling ? 0.7 : 0.3)) {
      Pending pending;
      pending.seq = next;
      ring.push(pending);
      model.push_back(next++);
    } else {
      ASSERT_EQ(ring.front().seq, model.front());
      ring.pop();
      model.pop_front();
    }
    if (step % 100 == 0) ring.trim();
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
  }
}

}  // namespace
}  // namespace slipring::router
