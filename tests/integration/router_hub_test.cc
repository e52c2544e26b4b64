// The controller's end of the channel over real sockets: order, limits before Hello, heartbeats, ends.
#include "slipring/control/router_hub.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "slipring/control/router_links.h"
#include "slipring/net/blocking_stream.h"
#include "tests/support/child_process.h"

namespace slipring::control {
namespace {

using channel::Message;

class Recorder : public RouterHub::Listener {
 public:
  void on_message(ConnectionId connection, Message message) override {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(connection, std::move(message));
  }
  void on_gone(ConnectionId) override {
    const std::lock_guard lock(mutex_);
    ++gone_;
  }
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return messages_.size();
  }
  std::pair<ConnectionId, Message> at(size_t i) const {
    const std::lock_guard lock(mutex_);
    return messages_[i];
  }
  int gone() const {
    const std::lock_guard lock(mutex_);
    return gone_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<ConnectionId, Message>> messages_;
  int gone_ = 0;
};

class RouterHubTest : public ::testing::Test {
 protected:
  void SetUp() override {
    hub_ = RouterHub::bind("127.0.0.1:0", clock_, recorder_).value();
    hub_->serve();
    stream_ = net::BlockingStream::connect(hub_->address(), Millis(10000)).value();
  }
  void say(const Message& message) { ASSERT_TRUE(stream_.write(channel::encode(message, ++sequence_), Millis(10000))); }
  // The next message from the hub.
  Message hear() {
    for (;;) {
      auto message = decoder_.next();
      if (message && message->has_value()) return **message;
      std::string bytes;
      if (!message || !stream_.read_some(bytes, 65536, Millis(30000))) return channel::Refused{"nothing came", ""};
      decoder_.feed(bytes);
    }
  }
  bool closed_by_hub() {
    return testing::eventually(30, [&] {
      std::string bytes;
      auto got = stream_.read_some(bytes, 65536, Millis(10));
      return !got && got.error().code == Code::kUnavailable;
    });
  }
  channel::Hello hello() {
    channel::Hello h;
    h.token = "t";
    h.router_id = "r1";
    return h;
  }

  SystemClock clock_;
  Recorder recorder_;
  std::unique_ptr<RouterHub> hub_;
  net::BlockingStream stream_;
  channel::FrameDecoder decoder_;
  uint64_t sequence_ = 0;
};

TEST_F(RouterHubTest, MessagesArriveInOrderBothWays) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  const ConnectionId id = recorder_.at(0).first;
  hub_->welcome(id, 7);
  for (uint64_t n = 1; n <= 100; ++n) say(channel::AttemptAck{n, 1});
  for (uint64_t n = 1; n <= 100; ++n)
    hub_->send(id, channel::AttemptClosed{n, channel::AttemptOutcome::kWithdrawn, Epoch{0}});
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 101; }));
  for (uint64_t n = 1; n <= 100; ++n) {
    EXPECT_EQ(std::get<channel::AttemptAck>(recorder_.at(n).second).attempt, n);
    Message message = hear();
    while (std::holds_alternative<channel::ControllerHeartbeat>(message)) message = hear();
    EXPECT_EQ(std::get<channel::AttemptClosed>(message).attempt, n);
  }
}

TEST_F(RouterHubTest, AWelcomedRouterHearsTheHeartUnderTheTerm) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  hub_->welcome(recorder_.at(0).first, 7);
  EXPECT_EQ(hear(), Message(channel::ControllerHeartbeat{7}));
  EXPECT_EQ(hear(), Message(channel::ControllerHeartbeat{7}));
}

TEST_F(RouterHubTest, AStrangerMaySayLittle) {
  ASSERT_TRUE(stream_.write(std::string(RouterHub::kHelloBytesMax + 1, 'x'), Millis(10000)));
  EXPECT_TRUE(closed_by_hub());
  EXPECT_EQ(recorder_.count(), 0u);
}

TEST_F(RouterHubTest, AWelcomedRouterMayNotSendWhatNoRouterSends) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  hub_->welcome(recorder_.at(0).first, 7);
  // Whole and in order, but larger than any message of a router.
  say(channel::SnapshotPush{std::string(channel::kRouterFrameBytesMax + 1, 'x')});
  EXPECT_TRUE(closed_by_hub());
  EXPECT_EQ(recorder_.count(), 1u);
}

TEST_F(RouterHubTest, RubbishEndsTheConnectionAndOthersGoOn) {
  auto other = net::BlockingStream::connect(hub_->address(), Millis(10000)).value();
  ASSERT_TRUE(stream_.write(std::string(100, '\0'), Millis(10000)));
  EXPECT_TRUE(closed_by_hub());
  ASSERT_TRUE(other.write(channel::encode(hello(), 1), Millis(10000)));
  EXPECT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1 && recorder_.gone() == 1; }));
}

TEST_F(RouterHubTest, ARouterThatGoesIsReportedAndSilenceIsMeasured) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  const ConnectionId id = recorder_.at(0).first;
  EXPECT_TRUE(hub_->heard(id));
  stream_.close();
  EXPECT_TRUE(testing::eventually(30, [&] { return recorder_.gone() == 1; }));
  EXPECT_FALSE(hub_->heard(id));
  hub_->send(id, channel::Synced{});  // swallowed
}

TEST_F(RouterHubTest, DropWritesWhatWasSaidBefore) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  hub_->send(recorder_.at(0).first, channel::Refused{"wrong token", ""});
  hub_->drop(recorder_.at(0).first);
  EXPECT_EQ(hear(), Message(channel::Refused{"wrong token", ""}));
  EXPECT_TRUE(closed_by_hub());
}

// Enrolment takes its time; a router may be killed meanwhile and be back before it is over.
TEST_F(RouterHubTest, ARouterThatLeftBeforeItsWelcomeIsNoLink) {
  RouterLinks links(*hub_, clock_, 1);
  const RouterRecord record{"r1", "", {3, "user", "password"}, {}};
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  const ConnectionId left = recorder_.at(0).first;
  stream_.close();
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.gone() == 1; }));
  EXPECT_FALSE(links.welcome(left, record, hello()));
  EXPECT_FALSE(links.find(left));

  auto back = net::BlockingStream::connect(hub_->address(), Millis(10000)).value();
  ASSERT_TRUE(back.write(channel::encode(hello(), 1), Millis(10000)));
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 2; }));
  EXPECT_TRUE(links.welcome(recorder_.at(1).first, record, hello()));
  ASSERT_TRUE(links.alive("r1"));
  EXPECT_EQ(links.alive("r1")->connection, recorder_.at(1).first);
}

TEST_F(RouterHubTest, WhoComesBeforeItServesIsHeardOnceItDoes) {
  const auto hub = RouterHub::bind("127.0.0.1:0", clock_, recorder_).value();
  auto early = net::BlockingStream::connect(hub->address(), Millis(10000)).value();
  ASSERT_TRUE(early.write(channel::encode(hello(), 1), Millis(10000)));
  EXPECT_EQ(recorder_.count(), 0u);
  hub->serve();
  EXPECT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
}

TEST_F(RouterHubTest, OnceStoppedItCallsNobodyAndSwallowsWhatIsSent) {
  say(hello());
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  hub_->stop();
  say(channel::AttemptAck{1, 1});
  hub_->send(recorder_.at(0).first, channel::Synced{});
  hub_->drop(recorder_.at(0).first);
  EXPECT_EQ(recorder_.count(), 1u);
  EXPECT_EQ(recorder_.gone(), 0);
}

TEST_F(RouterHubTest, ARoutersNewConnectionTakesThePlaceOfTheEarlierOne) {
  RouterLinks links(*hub_, clock_, 1);
  const RouterRecord record{"r1", "", {3, "user", "password"}, {}};
  say(hello());
  auto second = net::BlockingStream::connect(hub_->address(), Millis(10000)).value();
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 1; }));
  ASSERT_TRUE(second.write(channel::encode(hello(), 1), Millis(10000)));
  ASSERT_TRUE(testing::eventually(30, [&] { return recorder_.count() == 2; }));
  const ConnectionId first = recorder_.at(0).first;
  ASSERT_TRUE(links.welcome(first, record, hello()));
  ASSERT_TRUE(links.welcome(recorder_.at(1).first, record, hello()));
  EXPECT_FALSE(links.find(first));
  EXPECT_EQ(links.alive("r1")->connection, recorder_.at(1).first);
  EXPECT_TRUE(closed_by_hub());
}

}  // namespace
}  // namespace slipring::control
