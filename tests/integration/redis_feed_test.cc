// The replication stream as a feed, against a real redis-server: nothing before it, everything after it, no fork, an
// exact barrier, honest WAIT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/store/redis/inspect.h"
#include "slipring/store/redis/psync_feed.h"
#include "tests/support/redis_server.h"

namespace slipring::redis {
namespace {

using ::testing::ElementsAre;
using testing::RedisServer;
using testing::RedisServerOptions;

const SystemClock kClock;

Endpoint endpoint_of(const RedisServer& server) {
  return {server.address(), server.admin_user(), server.admin_password(), "slipring/mover/1"};
}

// Reads the feed up to the server's current offset: the commands as "NAME key".
std::vector<std::string> read_to_barrier(PsyncFeed& feed, Client& client) {
  const uint64_t barrier = live_state(client)->replication_offset;
  std::vector<std::string> seen;
  while (feed.offset() < barrier) {
    const Status polled = feed.poll(
        [&](const resp::Args& command, uint32_t) {
          if (command[0] == "PING" || command[0] == "REPLCONF") return;
          seen.push_back(std::string(command[0]) + (command.size() > 1 ? " " + std::string(command[1]) : ""));
        },
        Millis(1000));
    if (!polled) {
      ADD_FAILURE() << polled.error().message;
      break;
    }
  }
  return seen;
}

TEST(PsyncFeed, CarriesEveryEffectInOrderAndNeverForks) {
  RedisServer server;
  server.start();
  auto client = Client::connect(endpoint_of(server));
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->call({"SET", "before", "1"}));
  const uint64_t forks = inspect(*client, kClock)->total_forks;
  auto feed = PsyncFeed::open(endpoint_of(server), kClock);
  ASSERT_TRUE(feed) << feed.error().message;
  EXPECT_EQ(feed->identity(), live_state(*client)->identity);
  ASSERT_TRUE(client->call({"SET", "a", "1"}));
  ASSERT_TRUE(client->call({"EVAL", "redis.call('incr', 'b') redis.call('del', 'a')", "0"}));
  ASSERT_TRUE(client->call({"XADD", "s", "1-1", "f", "v"}));
  ASSERT_TRUE(client->call({"XGROUP", "CREATE", "s", "g", "0"}));
  EXPECT_THAT(read_to_barrier(*feed, *client),
              ElementsAre("SET a", "MULTI", "incr b", "del a", "EXEC", "XADD s", "XGROUP CREATE"));
  EXPECT_EQ(inspect(*client, kClock)->total_forks, forks);
}

TEST(PsyncFeed, TwoFeedsOfOneServerSeeTheSame) {
  RedisServer server;
  server.start();
  auto client = Client::connect(endpoint_of(server));
  auto first = PsyncFeed::open(endpoint_of(server), kClock);
  auto second = PsyncFeed::open(endpoint_of(server), kClock);
  ASSERT_TRUE(client && first && second);
  for (int i = 0; i < 1000; ++i) client->append({"SET", "k" + std::to_string(i), std::string(1000, 'x')});
  ASSERT_TRUE(client->flush());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(client->read_reply());
  const auto seen = read_to_barrier(*first, *client);
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(read_to_barrier(*second, *client), seen);
}

TEST(PsyncFeed, WaitDoesNotCountItAsAReplicaThatHoldsTheData) {
  RedisServer server;
  server.start();
  auto client = Client::connect(endpoint_of(server));
  auto feed = PsyncFeed::open(endpoint_of(server), kClock);
  ASSERT_TRUE(client && feed);
  ASSERT_TRUE(client->call({"SET", "a", "1"}));
  read_to_barrier(*feed, *client);
  EXPECT_EQ(client->call({"WAIT", "1", "50"})->integer, 0);
}

TEST(PsyncFeed, RefusesWhereItWouldFork) {
  RedisServerOptions options;
  options.config = {"repl-diskless-sync no"};
  RedisServer server(options);
  server.start();
  auto feed = PsyncFeed::open(endpoint_of(server), kClock);
  ASSERT_FALSE(feed);
  EXPECT_EQ(feed.error().code, Code::kFailedPrecondition);
}

TEST(PsyncFeed, AKilledServerLosesTheFeed) {
  RedisServer server;
  server.start();
  auto feed = PsyncFeed::open(endpoint_of(server), kClock);
  ASSERT_TRUE(feed);
  server.kill();
  Status polled;
  for (int i = 0; i < 100 && polled; ++i) polled = feed->poll([](const resp::Args&, uint32_t) {}, Millis(100));
  EXPECT_FALSE(polled);
}

}  // namespace
}  // namespace slipring::redis
