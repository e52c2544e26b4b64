// Addresses are read strictly, listeners say when an address is taken, and reads and writes answer in small values.
#include "slipring/net/socket.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace slipring::net {
namespace {

SocketAddress loopback(uint16_t port) {
  return *numeric_address({"127.0.0.1", port});
}

UniqueFd connect_to(const SocketAddress& address) {
  UniqueFd fd = std::move(*start_connect(address));
  pollfd waiting{fd.get(), POLLOUT, 0};
  ::poll(&waiting, 1, 5000);
  return fd;
}

UniqueFd accept_from(const UniqueFd& listener) {
  pollfd waiting{listener.get(), POLLIN, 0};
  ::poll(&waiting, 1, 5000);
  return UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
}

TEST(Address, NumbersAreTakenAsTheyAre) {
  EXPECT_EQ(format_address(loopback(6400)), "127.0.0.1:6400");
  EXPECT_EQ(format_address(*numeric_address({"::1", 7})), "[::1]:7");
  EXPECT_EQ(numeric_address({"localhost", 1}), std::nullopt);
  EXPECT_EQ(numeric_address({"256.0.0.1", 1}), std::nullopt);
}

TEST(Address, NamesAreResolved) {
  const auto address = resolve({"localhost", 6400});
  ASSERT_TRUE(address);
  EXPECT_EQ(port_of(*address), 6400);
  EXPECT_FALSE(resolve({"no-such-host.invalid", 1}));
}

TEST(Listener, OnPortZeroTakesAFreePortThatIsThenTaken) {
  const auto listener = listen_tcp(loopback(0), true);
  ASSERT_TRUE(listener);
  const auto address = local_address(listener->get());
  ASSERT_TRUE(address);
  EXPECT_NE(port_of(*address), 0);
  EXPECT_TRUE(is_taken(*address));
  EXPECT_FALSE(listen_tcp(*address, false));
  EXPECT_TRUE(listen_tcp(*address, true));
  EXPECT_FALSE(is_taken(loopback(0)));
}

TEST(Stream, CarriesBytesUntilThePeerEnds) {
  const auto listener = listen_tcp(loopback(0), false);
  const UniqueFd client = connect_to(*local_address(listener->get()));
  EXPECT_EQ(connect_error(client.get()), 0);
  UniqueFd server = accept_from(*listener);
  char bytes[8];
  EXPECT_EQ(read_some(client.get(), bytes, sizeof bytes).state, IoState::kFull);
  EXPECT_EQ(write_some(server.get(), "pong").bytes, 4u);
  pollfd waiting{client.get(), POLLIN, 0};
  ::poll(&waiting, 1, 5000);
  EXPECT_EQ(read_some(client.get(), bytes, sizeof bytes).bytes, 4u);
  server.reset();
  ::poll(&waiting, 1, 5000);
  const IoResult end = read_some(client.get(), bytes, sizeof bytes);
  EXPECT_EQ(end.state, IoState::kClosed);
  EXPECT_EQ(end.error, 0);
}

TEST(Stream, AConnectToAClosedPortIsRefusedWithItsReason) {
  SocketAddress address;
  {
    const auto listener = listen_tcp(loopback(0), false);
    address = *local_address(listener->get());
  }
  const auto fd = start_connect(address);
  if (!fd) {
    EXPECT_NE(fd.error().message.find("refused"), std::string::npos);
    return;
  }
  pollfd waiting{fd->get(), POLLOUT, 0};
  ::poll(&waiting, 1, 5000);
  EXPECT_EQ(connect_error(fd->get()), ECONNREFUSED);
}

TEST(Stream, AFullSocketTakesNoMoreAndSaysSo) {
  const auto listener = listen_tcp(loopback(0), false);
  const UniqueFd client = connect_to(*local_address(listener->get()));
  const UniqueFd server = accept_from(*listener);
  const std::string block(1 << 20, 'x');
  IoState state = IoState::kOk;
  for (int i = 0; i < 100 && state == IoState::kOk; ++i) state = write_some(client.get(), block).state;
  EXPECT_EQ(state, IoState::kFull);
}

}  // namespace
}  // namespace slipring::net
