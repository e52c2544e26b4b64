// A router in front of real servers: commands reach the node of their keys, answers come back in order, and what is
// wrong with a request is said in Redis's manner without an effect on the connection.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/router_fixture.h"

namespace slipring::testing {
namespace {

TEST(RouterCommands, SetsAndGetsThroughTheNodesOfTheKeys) {
  RouterFixture fleet(3);
  RawClient client(fleet.port());
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key:" + std::to_string(i);
    EXPECT_EQ(client.ask({"SET", key, std::to_string(i)}), "+OK\r\n");
  }
  for (int i = 0; i < 200; ++i) {
    const std::string value = std::to_string(i);
    EXPECT_EQ(client.ask({"GET", "key:" + value}), "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
  }
  for (int node = 0; node < 3; ++node) EXPECT_GT(fleet.keys_on(node), 20);
  EXPECT_EQ(fleet.keys_on(0) + fleet.keys_on(1) + fleet.keys_on(2), 200);
}

TEST(RouterCommands, KeepsTheOrderOfAPipelineOverAllNodes) {
  RouterFixture fleet(3);
  RawClient client(fleet.port());
  std::string sent;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = "p:" + std::to_string(i % 700);
    resp::append_command(sent, {"SET", key, std::to_string(i)});
    resp::append_command(sent, {"GET", key});
    if (i % 10 == 0) resp::append_command(sent, {"PING"});
    expected += "+OK\r\n";
    resp::append_bulk(expected, std::to_string(i));
    if (i % 10 == 0) expected += "+PONG\r\n";
  }
  client.send(sent);
  EXPECT_EQ(client.read(expected.size()), expected);
}

struct Commands : ::testing::Test {
  RouterFixture fleet{3};
  RawClient client{fleet.port()};
};

TEST_F(Commands, SplitCommandsAnswerInTheOrderOfTheirKeys) {
  const std::string a = fleet.key_on(0), b = fleet.key_on(1), c = fleet.key_on(2);
  EXPECT_EQ(client.ask({"MSET", c, "3", a, "1", b, "2"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"MGET", a, "none", b, c, a}), "*5\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n1\r\n");
  EXPECT_EQ(client.ask({"EXISTS", a, b, a, "none"}), ":3\r\n");
  EXPECT_EQ(client.ask({"TOUCH", a, b, c}), ":3\r\n");
  EXPECT_EQ(client.ask({"DEL", a, b, "none"}), ":2\r\n");
  EXPECT_EQ(client.ask({"UNLINK", c, b}), ":1\r\n");
  EXPECT_EQ(client.ask({"MSET", a, "1", b}), "-ERR wrong number of arguments for 'mset' command\r\n");
  EXPECT_EQ(client.ask({"MGET"}), "-ERR wrong number of arguments for 'mget' command\r\n");
}

TEST_F(Commands, SeveralKeysPassTogetherAndAreRefusedApart) {
  EXPECT_EQ(client.ask({"SADD", "{t}a", "1", "2"}), ":2\r\n");
  EXPECT_EQ(client.ask({"SADD", "{t}b", "2", "3"}), ":2\r\n");
  EXPECT_EQ(client.ask({"SINTER", "{t}a", "{t}b"}), "*1\r\n$1\r\n2\r\n");
  EXPECT_EQ(client.ask({"RENAME", "{t}a", "{t}c"}), "+OK\r\n");
  EXPECT_TRUE(client.ask({"RENAME", fleet.key_on(0), fleet.key_on(1)}).starts_with("-CROSSSLOT "));
  EXPECT_TRUE(client.ask({"MSETNX", fleet.key_on(0), "1", fleet.key_on(1), "2"}).starts_with("-CROSSSLOT "));
  EXPECT_EQ(client.ask({"EVAL", "return redis.call('GET', KEYS[1])", "1", "{t}x"}), "$-1\r\n");
  EXPECT_TRUE(client.ask({"EVAL", "return 1", "0"}).starts_with("-ERR slipring:"));
  EXPECT_EQ(client.ask({"PING"}), "+PONG\r\n");
}

TEST_F(Commands, ATransactionRunsOnTheNodeOfItsKeys) {
  EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"MULTI"}), "-ERR MULTI calls can not be nested\r\n");
  EXPECT_EQ(client.ask({"SET", "{t}a", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"INCR", "{t}a"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"MGET", "{t}a", "{t}b"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"PING"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"LPUSH", "{t}a", "x"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"EXEC"}),
            "*5\r\n+OK\r\n:2\r\n*2\r\n$1\r\n2\r\n$-1\r\n+PONG\r\n"
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
  EXPECT_EQ(client.ask({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

TEST_F(Commands, ATransactionOverSeveralNodesIsRefusedAtExecAndNothingRuns) {
  const std::string a = fleet.key_on(0), b = fleet.key_on(1);
  EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"SET", a, "1"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"SET", b, "1"}), "+QUEUED\r\n");
  EXPECT_TRUE(client.ask({"EXEC"}).starts_with("-EXECABORT slipring:"));
  EXPECT_EQ(client.ask({"EXISTS", a, b}), ":0\r\n");
}

TEST_F(Commands, ATransactionWithAnErrorWhileQueueingIsAborted) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"NOPE"}, {"GET"}, {"SUBSCRIBE", "x"}, {"SCAN", "0"}}) {
    EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
    EXPECT_EQ(client.ask({"SET", "k", "1"}), "+QUEUED\r\n");
    EXPECT_TRUE(client.ask(wrong).starts_with("-ERR ")) << wrong[0];
    EXPECT_EQ(client.ask({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    EXPECT_EQ(client.ask({"EXISTS", "k"}), ":0\r\n");
  }
}

TEST_F(Commands, ATransactionMayBeEmptyDiscardedOrReset) {
  EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"EXEC"}), "*0\r\n");
  EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"SET", "k", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(client.ask({"DISCARD"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
  EXPECT_EQ(client.ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(client.ask({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(client.ask({"EXISTS", "k"}), ":0\r\n");
}

TEST_F(Commands, TransactionsOfManyClientsNeverMix) {
  std::vector<std::unique_ptr<RawClient>> clients;
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    resp::append_command(sent, {"MULTI"});
    resp::append_command(sent, {"INCR", "{t}n"});
    resp::append_command(sent, {"INCR", "{t}n"});
    resp::append_command(sent, {"EXEC"});
  }
  for (int i = 0; i < 10; ++i) clients.push_back(std::make_unique<RawClient>(fleet.port()));
  for (auto& one : clients) one->send(sent);
  for (auto& one : clients) {
    for (int i = 0; i < 50; ++i) {
      for (int j = 0; j < 3; ++j) one->read_reply();
      const std::string buffer = one->read_reply();
      resp::ReplyReader reader(buffer);
      int64_t count = 0, first = 0, second = 0;
      ASSERT_TRUE(reader.next_array(count) && reader.next_int(first) && reader.next_int(second)) << buffer;
      EXPECT_EQ(second, first + 1) << "another transaction ran in between";
    }
  }
  EXPECT_EQ(client.ask({"GET", "{t}n"}), "$4\r\n1000\r\n");
}

TEST_F(Commands, Resp3ClientsGetResp3RepliesBesideOthers) {
  RawClient three(fleet.port());
  EXPECT_TRUE(three.ask({"HELLO", "3"}).starts_with("%7\r\n"));
  EXPECT_EQ(three.ask({"HSET", "h", "f", "v"}), ":1\r\n");
  EXPECT_EQ(three.ask({"HGETALL", "h"}), "%1\r\n$1\r\nf\r\n$1\r\nv\r\n");
  EXPECT_EQ(client.ask({"HGETALL", "h"}), "*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
  EXPECT_EQ(three.ask({"GET", "none"}), "_\r\n");
  EXPECT_EQ(three.ask({"MGET", fleet.key_on(0), fleet.key_on(1)}), "*2\r\n_\r\n_\r\n");
  EXPECT_TRUE(three.ask({"HELLO", "2"}).starts_with("*14\r\n"));
  EXPECT_EQ(three.ask({"GET", "none"}), "$-1\r\n");
}

TEST_F(Commands, ChangingTheProtocolInAPipelineKeepsTheOrder) {
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    resp::append_command(sent, {"SET", "k", std::to_string(i)});
    resp::append_command(sent, {"HELLO", i % 2 == 0 ? "3" : "2"});
    resp::append_command(sent, {"GET", "k"});
  }
  client.send(sent);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client.read_reply(), "+OK\r\n");
    EXPECT_TRUE(client.read_reply().starts_with(i % 2 == 0 ? "%7" : "*14"));
    const std::string value = std::to_string(i);
    EXPECT_EQ(client.read_reply(), "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
  }
}

TEST_F(Commands, UnknownAndWrongCommandsGetRedissErrors) {
  EXPECT_EQ(client.ask({"FOO", "a", "b"}), "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(client.ask({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(client.ask({"get", "a", "b"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_TRUE(client.ask({"SUBSCRIBE", "x"}).starts_with("-ERR slipring: 'subscribe' is not supported yet"));
  EXPECT_TRUE(client.ask({"FLUSHALL"}).starts_with("-ERR slipring: 'flushall' is not supported yet"));
  EXPECT_EQ(client.ask({"LCS"}), "-ERR wrong number of arguments for 'lcs' command\r\n");
  EXPECT_EQ(client.ask({"ZUNION", "x", "a"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(client.ask({"SET", "k", "1"}), "+OK\r\n");
}

TEST_F(Commands, MalformedFramingIsAnsweredAndEndsTheConnection) {
  for (const char* bad : {"*1\r\n$-5\r\n", "*-7x\r\n", "*1\r\n+OK\r\n", "*2147483648\r\n", "*99999999999999999999\r\n",
                          "*1\r\n$999999999999\r\n", "*1\r\n$x\r\n", "\"unbalanced\r\n"}) {
    RawClient one(fleet.port());
    std::string sent;
    resp::append_command(sent, {"SET", "k", "1"});
    one.send(sent + bad);
    EXPECT_EQ(one.read_reply(), "+OK\r\n") << bad;
    EXPECT_TRUE(one.read_reply().starts_with("-ERR Protocol error")) << bad;
    EXPECT_TRUE(one.ended()) << bad;
  }
  EXPECT_EQ(client.ask({"GET", "k"}), "$1\r\n1\r\n");
}

TEST_F(Commands, InlineCommandsAndEmptyOnesAreTaken) {
  client.send("PING\r\n\r\n*0\r\nSET k \"a b\"\r\nGET k\nEXISTS k nope\r\n");
  EXPECT_EQ(client.read_reply(), "+PONG\r\n");
  EXPECT_EQ(client.read_reply(), "+OK\r\n");
  EXPECT_EQ(client.read_reply(), "$3\r\na b\r\n");
  EXPECT_EQ(client.read_reply(), ":1\r\n");
}

TEST_F(Commands, BytesMayComeOneByOne) {
  std::string sent;
  resp::append_command(sent, {"SET", "k", "hello"});
  resp::append_command(sent, {"MGET", fleet.key_on(0), "k"});
  sent += "PING\r\n";
  for (const char byte : sent) client.send({&byte, 1});
  EXPECT_EQ(client.read_reply(), "+OK\r\n");
  EXPECT_EQ(client.read_reply(), "*2\r\n$-1\r\n$5\r\nhello\r\n");
  EXPECT_EQ(client.read_reply(), "+PONG\r\n");
}

TEST_F(Commands, LargeValuesPassBothWays) {
  for (const size_t size : {size_t{1000}, size_t{65'536}, size_t{300'000}, size_t{20'000'000}}) {
    std::string value(size, 'v');
    for (size_t i = 0; i < size; i += 997) value[i] = static_cast<char>(i);
    EXPECT_EQ(client.ask({"SET", "big", value}), "+OK\r\n");
    EXPECT_TRUE(client.ask({"GET", "big"}) == "$" + std::to_string(size) + "\r\n" + value + "\r\n") << size;
    EXPECT_EQ(client.ask({"STRLEN", "big"}), ":" + std::to_string(size) + "\r\n");
  }
}

TEST_F(Commands, AClientThatStopsSendingStillGetsItsReplies) {
  std::string sent;
  for (int i = 0; i < 100; ++i) resp::append_command(sent, {"SET", "k" + std::to_string(i), "1"});
  client.send(sent);
  client.end_sending();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read_reply(), "+OK\r\n");
  EXPECT_TRUE(client.ended());
}

TEST_F(Commands, QuitAnswersWhatCameBeforeAndEnds) {
  std::string sent;
  resp::append_command(sent, {"SET", "k", "1"});
  resp::append_command(sent, {"QUIT"});
  resp::append_command(sent, {"SET", "k", "2"});
  client.send(sent);
  EXPECT_EQ(client.read_reply(), "+OK\r\n");
  EXPECT_EQ(client.read_reply(), "+OK\r\n");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(RawClient(fleet.port()).ask({"GET", "k"}), "$1\r\n1\r\n");
}

TEST(RouterPassword, NothingIsServedBeforeItIsGiven) {
  router::Options options;
  options.client_password = "secret";
  RouterFixture fleet(1, options);
  RawClient client(fleet.port());
  EXPECT_EQ(client.ask({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_TRUE(client.ask({"AUTH", "wrong"}).starts_with("-WRONGPASS"));
  EXPECT_EQ(client.ask({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(client.ask({"AUTH", "secret"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"GET", "k"}), "$-1\r\n");
  RawClient greedy(fleet.port());
  greedy.send("*1000\r\n");
  EXPECT_TRUE(greedy.read_reply().starts_with("-ERR Protocol error: unauthenticated"));
  EXPECT_TRUE(greedy.ended());
}

TEST(RouterThreads, SeveralThreadsServeOnePort) {
  router::Options options;
  options.threads = 3;
  RouterFixture fleet(2, options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(std::make_unique<RawClient>(fleet.port()));
  std::set<std::string> ids;
  for (size_t i = 0; i < clients.size(); ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(clients[i]->ask({"SET", key, "1"}), "+OK\r\n");
    ids.insert(clients[i]->ask({"CLIENT", "ID"}));
  }
  EXPECT_EQ(ids.size(), clients.size()) << "ids are not given twice";
  EXPECT_EQ(fleet.router().clients(), 60u);
  const std::string metrics = fleet.router().metrics();
  EXPECT_NE(metrics.find("slipring_router_clients 60"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("slipring_router_commands_total{class=\"write\"} 60"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace slipring::testing
