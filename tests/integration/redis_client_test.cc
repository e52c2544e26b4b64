// The blocking client against a real redis-server: replies of every kind, pipelines, refused passwords, time-outs.
#include <gtest/gtest.h>

#include "slipring/store/redis/client.h"
#include "tests/support/redis_server.h"

namespace slipring::redis {
namespace {

using testing::RedisServer;

Endpoint admin(const RedisServer& server) {
  return {server.address(), server.admin_user(), server.admin_password(), "test"};
}

TEST(RedisClient, ReadsRepliesOfEveryKind) {
  RedisServer server;
  server.start();
  auto client = Client::connect(admin(server));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(client->command({"SET", "k", std::string("a\0b\r\n", 5)})->text, "OK");
  EXPECT_EQ(client->command({"GET", "k"})->text, std::string("a\0b\r\n", 5));
  EXPECT_TRUE(client->command({"GET", "none"})->is_null());
  EXPECT_EQ(client->command({"INCR", "n"})->integer, 1);
  EXPECT_TRUE(client->command({"INCR", "k"})->is_error());
  EXPECT_EQ(client->call({"INCR", "k"}).error().code, Code::kFailedPrecondition);
  client->command({"RPUSH", "l", "a", "", "c"}).value();
  auto list = client->command({"LRANGE", "l", "0", "-1"});
  ASSERT_EQ(list->items.size(), 3u);
  EXPECT_EQ(list->items[1].text, "");
  EXPECT_EQ(client->command({"LRANGE", "nothing", "0", "-1"})->items.size(), 0u);
  auto nested = client->command({"SCAN", "0", "COUNT", "100"});
  ASSERT_EQ(nested->items.size(), 2u);
  EXPECT_EQ(nested->items[1].items.size(), 3u);
  EXPECT_EQ(client->info("server")->at("tcp_port"), std::to_string(server.port()));
}

TEST(RedisClient, PipelinesKeepOrderAndLargeValuesArriveWhole) {
  RedisServer server;
  server.start();
  auto client = Client::connect(admin(server));
  ASSERT_TRUE(client);
  const std::string large(5'000'000, 'x');
  client->append({"SET", "large", large});
  for (int i = 0; i < 1000; ++i) client->append({"INCR", "n"});
  client->append({"GET", "large"});
  ASSERT_TRUE(client->flush());
  EXPECT_EQ(client->read_reply()->text, "OK");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(client->read_reply()->integer, i + 1);
  EXPECT_EQ(client->read_reply()->text, large);
}

TEST(RedisClient, ARefusedPasswordIsAnErrorBeforeAnyCommand) {
  RedisServer server;
  server.start();
  auto refused = Client::connect({server.address(), server.admin_user(), "wrong", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
  auto anonymous = Client::connect({server.address(), "", "", ""});
  ASSERT_TRUE(anonymous);
  EXPECT_EQ(anonymous->call({"GET", "k"}).error().code, Code::kUnauthenticated);
}

TEST(RedisClient, AStoppedServerTimesOutAndTheConnectionIsClosed) {
  RedisServer server;
  server.start();
  Endpoint endpoint = admin(server);
  endpoint.io_timeout = Millis(100);
  auto client = Client::connect(endpoint);
  ASSERT_TRUE(client);
  server.stop();
  EXPECT_EQ(client->command({"PING"}).error().code, Code::kDeadlineExceeded);
  EXPECT_FALSE(client->open());
  server.resume();
  EXPECT_EQ(client->command({"PING"}).error().code, Code::kUnavailable);
}

TEST(RedisClient, ARefusedConnectionNamesTheAddress) {
  const std::string address = "127.0.0.1:" + std::to_string(testing::free_port());
  auto client = Client::connect({address, "", "", ""});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::kUnavailable);
  EXPECT_NE(client.error().message.find(address), std::string::npos);
}

}  // namespace
}  // namespace slipring::redis
