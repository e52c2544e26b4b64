// A router in front of real servers: commands reach the node of their keys and answers come back in order.
#include <gtest/gtest.h>

#include "tests/support/router_fixture.h"

namespace slipring::testing {
namespace {

TEST(RouterBasic, SetsAndGetsThroughTheNodesOfTheKeys) {
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

TEST(RouterBasic, KeepsTheOrderOfAPipelineOverAllNodes) {
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

}  // namespace
}  // namespace slipring::testing
