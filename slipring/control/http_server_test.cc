#include "slipring/control/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

// A connection that sends what it is told and reads until the server closes or has answered once.
class Peer {
 public:
  explicit Peer(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(parse_host_port(address).value().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Peer() { ::close(fd_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // False once the server has closed.
  bool send(const std::string& text) {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }
  std::string read(size_t bytes) {
    std::string text(bytes, '\0');
    EXPECT_EQ(::recv(fd_, text.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    return text;
  }
  std::string read_to_end() {
    std::string all;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::recv(fd_, buffer, sizeof buffer, 0)) > 0;) all.append(buffer, static_cast<size_t>(n));
    return all;
  }

 private:
  int fd_;
};

class Http : public ::testing::Test {
 protected:
  void start(const HttpLimits& limits) {
    auto started = HttpServer::start(
        "127.0.0.1:0", limits,
        [](const HttpRequest& head) -> std::optional<HttpAnswer> {
          if (head.path == "/no") return HttpAnswer{403, "text/plain", "no"};
          return std::nullopt;
        },
        [this](const HttpRequest& request) {
          ++handled;
          return HttpAnswer{200, "text/plain",
                            request.method + " " + request.path + " " + std::to_string(request.body.size())};
        });
    ASSERT_TRUE(started.has_value());
    server = std::move(*started);
  }
  std::string exchange(const std::string& text) {
    Peer peer(server->address());
    peer.send(text);
    peer.end_sending();
    return peer.read_to_end();
  }

  std::unique_ptr<HttpServer> server;
  std::atomic<int> handled = 0;
};

std::string post(size_t bytes) {
  return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) + "\r\nConnection: close\r\n\r\n" +
         std::string(bytes, 'b');
}

TEST_F(Http, AnswersSeveralRequestsOfOneConnectionInOrder) {
  start({});
  const std::string answers =
      exchange("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const size_t a = answers.find("GET /a 0");
  EXPECT_NE(a, std::string::npos);
  EXPECT_NE(answers.find("GET /b 0", a), std::string::npos);
}

TEST_F(Http, WhatTheGuardAnswersNeverReachesTheHandler) {
  start({});
  const std::string answers =
      exchange("POST /no HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n  ");
  EXPECT_NE(answers.find("403"), std::string::npos);
  EXPECT_EQ(answers.find("GET /b"), std::string::npos) << "the body was taken for a request";
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, ABodyUpToTheLimitIsReadAndALongerOneIsRefused) {
  HttpLimits limits;
  limits.body_bytes_max = 100'000;
  start(limits);
  EXPECT_NE(exchange(post(99'000)).find("POST /x 99000"), std::string::npos);
  EXPECT_NE(exchange(post(100'001)).find("413"), std::string::npos);
  EXPECT_EQ(handled, 1);
}

TEST_F(Http, AHeadWithoutEndIsCutAtItsLimit) {
  start({});
  Peer peer(server->address());
  peer.send("GET / HTTP/1.1\r\n");
  bool open = true;
  for (int i = 0; i < 200'000 && open; ++i) open = peer.send("X-Header: 0123456789012345678901234567890123456789\r\n");
  EXPECT_FALSE(open) << "ten megabytes of headers were taken";
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, ATargetAboveTheLimitIsRefused) {
  start({});
  EXPECT_NE(
      exchange("GET /" + std::string(4000, 'a') + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("414"),
      std::string::npos);
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, HalfARequestThenSilenceIsCut) {
  HttpLimits limits;
  limits.receive_ms_max = 50;
  start(limits);
  Peer peer(server->address());
  peer.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  peer.read_to_end();
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, AConnectionThatSendsNothingIsClosed) {
  HttpLimits limits;
  limits.keep_alive_ms = 50;
  start(limits);
  Peer peer(server->address());
  EXPECT_EQ(peer.read_to_end(), "");
}

TEST_F(Http, RubbishIsAnswered400OrCutAndTheServerLivesOn) {
  start({});
  for (const std::string& rubbish :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("\x00\x01\x02\r\n", 5),
        std::string(20'000, 'a'), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        std::string("POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
    exchange(rubbish);
  }
  EXPECT_NE(exchange("GET /alive HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("GET /alive"),
            std::string::npos);
}

TEST_F(Http, MoreConnectionsThanMayWaitAreClosedAtOnceAndTheRestServed) {
  HttpLimits limits;
  limits.threads = 1;
  limits.waiting_max = 2;
  limits.keep_alive_ms = 200;
  start(limits);
  std::vector<std::unique_ptr<Peer>> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<Peer>(server->address()));
  for (auto& peer : idle) EXPECT_EQ(peer->read_to_end(), "");
  EXPECT_NE(exchange("GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("GET /after"),
            std::string::npos);
}

TEST_F(Http, AnAddressInUseIsAnErrorThatNamesIt) {
  start({});
  const auto second = HttpServer::start(server->address(), {}, {}, {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_NE(second.error().message.find(server->address()), std::string::npos);
}

TEST_F(Http, EndingTheServerEndsIdleConnections) {
  start({});
  Peer peer(server->address());
  peer.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(peer.read(12), "HTTP/1.1 200");
  server.reset();
  EXPECT_NE(peer.read_to_end().find("GET /a"), std::string::npos);
}

}  // namespace
}  // namespace slipring::control
