// The loop runs timers in order of their time, posted work in order of posting, and handlers while their fd is ready.
#include "slipring/net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>

#include "slipring/base/random.h"
#include "slipring/net/socket.h"

namespace slipring::net {
namespace {

using std::chrono::milliseconds;

struct Loop : ::testing::Test {
  void SetUp() override { ASSERT_TRUE(loop.open()); }
  void turn() { loop.run_once(Nanos(0)); }
  ManualClock clock;
  EventLoop loop{clock};
};

TEST_F(Loop, RunsATimerOnceItsTimeHasComeAndOnlyOnce) {
  int runs = 0;
  Timer timer(loop, [&] { ++runs; });
  timer.arm(milliseconds(10));
  clock.advance(milliseconds(9));
  turn();
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(timer.armed());
  clock.advance(milliseconds(1));
  turn();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(timer.armed());
  clock.advance(milliseconds(100));
  turn();
  EXPECT_EQ(runs, 1);
}

TEST_F(Loop, RunsManyTimersInTheOrderOfTheirTimesWhateverWasCancelled) {
  Random random(7);
  std::vector<int64_t> ran;
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<int64_t> expected;
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<int64_t>(random.below(1000)) + 1;
    timers.push_back(std::make_unique<Timer>(loop, [&ran, at] { ran.push_back(at); }));
    timers.back()->arm(milliseconds(at));
    if (random.chance(0.3)) {
      timers[random.below(timers.size())]->cancel();
    } else if (random.chance(0.1)) {
      timers.erase(timers.begin() + static_cast<std::ptrdiff_t>(random.below(timers.size())));
    }
  }
  const auto armed = std::count_if(timers.begin(), timers.end(), [](const auto& t) { return t->armed(); });
  clock.advance(milliseconds(2000));
  turn();
  EXPECT_EQ(ran.size(), static_cast<size_t>(armed));
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST_F(Loop, ATimerMayArmItselfAgain) {
  int runs = 0;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&] {
    if (++runs < 3) timer->arm(milliseconds(5));
  });
  timer->arm(milliseconds(5));
  for (int i = 0; i < 5; ++i) {
    clock.advance(milliseconds(5));
    turn();
  }
  EXPECT_EQ(runs, 3);
}

TEST_F(Loop, RunsPostedWorkInOrderAndWhatItPostsInTheNextTurn) {
  std::string order;
  loop.post([&] {
    order += 'a';
    loop.post([&] { order += 'c'; });
  });
  loop.post([&] { order += 'b'; });
  turn();
  EXPECT_EQ(order, "ab");
  turn();
  EXPECT_EQ(order, "abc");
}

struct Echo : IoHandler {
  Echo() : IoHandler([](IoHandler& self, uint32_t events) { static_cast<Echo&>(self).ready(events); }) {}
  void ready(uint32_t events) {
    seen = events;
    char bytes[16];
    if ((events & EPOLLIN) != 0) got += std::string(bytes, read_some(fd, bytes, sizeof bytes).bytes);
  }
  uint32_t seen = 0;
  std::string got;
};

TEST_F(Loop, WakesAHandlerForWhatItIsArmedForOnly) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const UniqueFd a(ends[0]);
  const UniqueFd b(ends[1]);
  Echo echo;
  echo.fd = a.get();
  ASSERT_TRUE(loop.watch(echo, EPOLLIN));
  turn();
  EXPECT_EQ(echo.seen, 0u);
  EXPECT_EQ(write_some(b.get(), "hi").bytes, 2u);
  turn();
  EXPECT_EQ(echo.got, "hi");
  ASSERT_TRUE(loop.watch(echo, EPOLLOUT));
  turn();
  EXPECT_EQ(echo.seen, static_cast<uint32_t>(EPOLLOUT));
  loop.unwatch(echo);
  echo.seen = 0;
  turn();
  EXPECT_EQ(echo.seen, 0u);
}

TEST_F(Loop, DropsAnEventOfAHandlerThatWasClosedEarlierInTheTurn) {
  int one[2], two[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, one), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, two), 0);
  const UniqueFd fds[4] = {UniqueFd(one[0]), UniqueFd(one[1]), UniqueFd(two[0]), UniqueFd(two[1])};
  struct Closer : IoHandler {
    Closer() : IoHandler([](IoHandler& self, uint32_t) { static_cast<Closer&>(self).run(); }) {}
    void run() {
      ++runs;
      loop->unwatch(*other);
      other->fd = -1;
    }
    int runs = 0;
    EventLoop* loop = nullptr;
    IoHandler* other = nullptr;
  };
  Closer a, b;
  a.loop = b.loop = &loop;
  a.other = &b;
  b.other = &a;
  a.fd = one[0];
  b.fd = two[0];
  ASSERT_TRUE(loop.watch(a, EPOLLOUT));
  ASSERT_TRUE(loop.watch(b, EPOLLOUT));
  turn();
  EXPECT_EQ(a.runs + b.runs, 1);
}

TEST(LoopThread, TakesWorkFromManyThreadsAndLosesNone) {
  const SystemClock clock;
  EventLoop loop(clock);
  ASSERT_TRUE(loop.open());
  int total = 0;
  std::thread runner([&] { loop.run(); });
  std::vector<std::thread> posters;
  for (int t = 0; t < 4; ++t) {
    posters.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) loop.post([&] { ++total; });
    });
  }
  for (auto& poster : posters) poster.join();
  loop.stop();
  runner.join();
  EXPECT_EQ(total, 4000);
}

TEST_F(Loop, EndsEveryTurnWithItsHook) {
  std::string order;
  loop.at_turn_end([&] { order += 'E'; });
  loop.post([&] { order += 'p'; });
  turn();
  turn();
  EXPECT_EQ(order, "pEE");
}

}  // namespace
}  // namespace slipring::net
