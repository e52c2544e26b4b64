// A server that is down, stopped or restarted costs errors for its own keys only, named, and nothing is sent twice; a
// client that misbehaves costs nobody but itself.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/router_fixture.h"

namespace slipring::testing {
namespace {

router::Options quick() {
  router::Options options;
  options.timeouts.request_ms = 400;
  options.timeouts.connect_ms = 300;
  return options;
}

struct Faults : ::testing::Test {
  bool serves(int node) { return client.ask({"SET", fleet.key_on(node), "1"}) == "+OK\r\n"; }
  RouterFixture fleet{2, quick()};
  RawClient client{fleet.port()};
  const std::string a = fleet.key_on(0);
  const std::string b = fleet.key_on(1);
};

TEST_F(Faults, ANodeThatIsDownIsNamedAndTheOthersServe) {
  ASSERT_TRUE(serves(0) && serves(1));
  fleet.server(0).kill();
  ASSERT_TRUE(eventually(30, [&] {
    return client.ask({"GET", a}).find(" is down: connection refused") != std::string::npos;
  }));
  EXPECT_EQ(client.ask({"GET", a}),
            "-ERR slipring: node n1 (" + fleet.server(0).address() + ") is down: connection refused\r\n");
  EXPECT_TRUE(serves(1));
  EXPECT_TRUE(client.ask({"MGET", b, a}).starts_with("-ERR slipring: node n1"));
  EXPECT_TRUE(client.ask({"MSET", b, "2", a, "2"}).starts_with("-ERR slipring: node n1"));
  EXPECT_EQ(client.ask({"GET", b}), "$1\r\n1\r\n") << "no part of a split command ran";
}

TEST_F(Faults, ANodeThatComesBackIsFoundByItself) {
  ASSERT_TRUE(serves(0));
  fleet.server(0).kill();
  ASSERT_TRUE(eventually(30, [&] { return !serves(0); }));
  fleet.server(0).start();
  EXPECT_TRUE(eventually(30, [&] { return serves(0); }));
}

TEST_F(Faults, ARestartBetweenCommandsCostsOnlyWhatWasInFlight) {
  ASSERT_TRUE(serves(0));
  fleet.server(0).restart();
  EXPECT_TRUE(eventually(30, [&] { return client.ask({"GET", a}) == "$1\r\n1\r\n"; }));
}

TEST_F(Faults, AStoppedNodeTimesOutAndTheOutcomeIsSaidToBeUnknown) {
  ASSERT_TRUE(serves(0));
  fleet.server(0).stop();
  EXPECT_EQ(client.ask({"INCR", a}),
            "-ERR slipring: node n1 (" + fleet.server(0).address() + "): no answer within 400 ms, outcome unknown\r\n");
  EXPECT_TRUE(serves(1));
  fleet.server(0).resume();
  ASSERT_TRUE(eventually(30, [&] { return client.ask({"EXISTS", a}).starts_with(":"); }));
}

// What was sent before the time-out may have run or not, but never after something newer.
TEST_F(Faults, ATimedOutWriteNeverRunsAfterALaterOne) {
  for (int round = 0; round < 15; ++round) {
    const std::string stale = "stale" + std::to_string(round), fresh = "fresh" + std::to_string(round);
    ASSERT_TRUE(eventually(30, [&] { return serves(0); }));
    fleet.server(0).stop();
    EXPECT_NE(client.ask({"SET", a, stale}).find("outcome unknown"), std::string::npos);
    fleet.server(0).resume();
    ASSERT_TRUE(eventually(30, [&] { return client.ask({"SET", a, fresh}) == "+OK\r\n"; }));
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(fleet.ask_server(0, {"GET", a}), "$" + std::to_string(fresh.size()) + "\r\n" + fresh + "\r\n");
    }
  }
}

TEST_F(Faults, APipelineOverADyingNodeGetsOneReplyForEachCommand) {
  std::string sent;
  for (int i = 0; i < 2000; ++i) {
    resp::append_command(sent, {"INCR", i % 2 == 0 ? a : b});
    resp::append_command(sent, {"ECHO", std::to_string(i)});
  }
  client.send(sent.substr(0, sent.size() / 2));
  fleet.server(0).kill();
  client.send(sent.substr(sent.size() / 2));
  for (int i = 0; i < 2000; ++i) {
    const std::string reply = client.read_reply();
    ASSERT_TRUE(reply.starts_with(":") || (i % 2 == 0 && reply.starts_with("-ERR slipring: node n1"))) << i << reply;
    const std::string number = std::to_string(i);
    ASSERT_EQ(client.read_reply(), "$" + std::to_string(number.size()) + "\r\n" + number + "\r\n");
  }
  EXPECT_EQ(client.ask({"GET", b}), "$4\r\n1000\r\n");
}

TEST_F(Faults, AnIdleConnectionThatTheServerClosesIsNotNoticed) {
  ASSERT_TRUE(serves(0));
  EXPECT_TRUE(fleet.ask_server(0, {"CLIENT", "KILL", "TYPE", "normal"}).starts_with(":"));
  EXPECT_TRUE(serves(0));
}

TEST(RouterLimits, AClientThatDoesNotReadIsCutAndOthersDoNotWait) {
  router::Options options;
  options.limits.client_output_bytes_max = 4u << 20;
  options.limits.client_output_pause_bytes = 3u << 20;
  RouterFixture fleet(1, options);
  RawClient good(fleet.port());
  EXPECT_EQ(good.ask({"SET", "big", std::string(1 << 20, 'x')}), "+OK\r\n");
  RawClient bad(fleet.port());
  std::string sent;
  for (int i = 0; i < 60; ++i) resp::append_command(sent, {"GET", "big"});
  bad.send(sent);
  const std::string cut = "slipring_router_clients_cut_total 1";
  EXPECT_TRUE(eventually(60, [&] { return fleet.router().metrics().find(cut) != std::string::npos; }));
  EXPECT_EQ(good.ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(fleet.router().clients(), 1u);
}

TEST(RouterLimits, ADeepPipelineIsReadAsItIsAnswered) {
  router::Options options;
  options.limits.pipeline_depth_max = 16;
  RouterFixture fleet(2, options);
  RawClient client(fleet.port());
  std::string sent;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    resp::append_command(sent, {"SET", "k" + std::to_string(i % 100), "v"});
    expected += "+OK\r\n";
  }
  client.send(sent);
  EXPECT_EQ(client.read(expected.size()), expected);
}

TEST(RouterLimits, ClientsAboveTheLimitAreToldSo) {
  router::Options options;
  options.limits.clients_max = 3;
  RouterFixture fleet(1, options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(fleet.port()));
    EXPECT_EQ(clients.back()->ask({"PING"}), "+PONG\r\n");
  }
  RawClient late(fleet.port());
  EXPECT_EQ(late.read_reply(), "-ERR max number of clients reached\r\n");
  EXPECT_TRUE(late.ended());
  clients.pop_back();
  EXPECT_TRUE(eventually(30, [&] { return RawClient(fleet.port()).ask({"PING"}) == "+PONG\r\n"; }));
}

TEST(RouterLimits, AClaimOfAHugeValueReservesNothing) {
  RouterFixture fleet(1);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<RawClient>(fleet.port()));
    clients.back()->send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\nbegin");
  }
  RawClient other(fleet.port());
  EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
  ASSERT_TRUE(eventually(30, [&] { return fleet.router().clients() == 101; }));
  const std::string metrics = fleet.router().metrics();
  const std::string name = "\nslipring_router_buffered_bytes ";
  const size_t at = metrics.find(name);
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stod(metrics.substr(at + name.size())), 20e6);
}

TEST(RouterLimits, AConfiguredValueSizeIsKept) {
  router::Options options;
  options.limits.request.bulk_bytes_max = 1000;
  RouterFixture fleet(1, options);
  RawClient client(fleet.port());
  EXPECT_EQ(client.ask({"SET", "k", std::string(1000, 'x')}), "+OK\r\n");
  EXPECT_TRUE(client.ask({"SET", "k", std::string(1001, 'x')}).starts_with("-ERR Protocol error: invalid bulk length"));
  EXPECT_TRUE(client.ended());
}

TEST(RouterDrain, FinishesWhatWasSentAndEnds) {
  RouterFixture fleet(1);
  RawClient client(fleet.port());
  EXPECT_EQ(client.ask({"SET", "k", "1"}), "+OK\r\n");
  fleet.router().drain();
  EXPECT_TRUE(client.ended());
}

TEST(RouterStart, RefusesWhatCannotBe) {
  router::Options options;
  options.id = "r1";
  options.listen = "127.0.0.1:0";
  EXPECT_EQ(router::Router::start(options).error().code, Code::kInvalidArgument) << "no controller";
  options.controllers = {"nonsense"};
  EXPECT_EQ(router::Router::start(options).error().code, Code::kInvalidArgument);
  options.controllers = {"127.0.0.1:1"};
  options.threads = 0;
  EXPECT_EQ(router::Router::start(options).error().code, Code::kInvalidArgument);
  options.threads = 1;
  options.id = "bad name";
  EXPECT_EQ(router::Router::start(options).error().code, Code::kInvalidArgument);
  options.id = "r1";
  RouterFixture other(1);
  options.listen = "127.0.0.1:" + std::to_string(other.port());
  EXPECT_EQ(router::Router::start(options).error().code, Code::kUnavailable) << "the port is taken";
}

}  // namespace
}  // namespace slipring::testing
