#include "tests/support/router_fixture.h"

#include <algorithm>

#include "slipring/base/check.h"
#include "slipring/protocol/resp/decimal.h"
#include "slipring/topology/routing.h"

namespace slipring::testing {
namespace {

constexpr Millis kPatience{20'000};

}  // namespace

RawClient::RawClient(int port) {
  auto stream = net::BlockingStream::connect("127.0.0.1:" + std::to_string(port), kPatience);
  SLIPRING_CHECK(stream.has_value(), "a router of this test listens there");
  stream_ = std::move(*stream);
}

void RawClient::send(std::string_view bytes) {
  // A router that cuts the connection is seen by the reads that follow.
  [[maybe_unused]] const Status sent = stream_.write(bytes, kPatience);
}

bool RawClient::receive() {
  return stream_.read_some(got_, 1 << 20, kPatience).has_value();
}

std::string RawClient::read(size_t bytes) {
  while (got_.size() < bytes && receive()) {
  }
  const std::string result = got_.substr(0, bytes);
  got_.erase(0, bytes);
  return result;
}

std::string RawClient::read_reply() {
  resp::ReplyScanner scanner;
  size_t scanned = 0;
  for (;;) {
    if (scanned < got_.size()) {
      const auto status = scanner.scan(std::string_view(got_).substr(scanned));
      if (status == resp::ParseStatus::kDone) return read(scanned + scanner.used());
      if (status == resp::ParseStatus::kError) return "";
      scanned = got_.size();
    }
    if (!receive()) return "";
  }
}

std::string RawClient::ask(std::initializer_list<std::string_view> args) {
  std::string command;
  resp::append_command(command, args);
  send(command);
  return read_reply();
}

std::string RawClient::ask(const std::vector<std::string>& args) {
  std::string command;
  resp::append_command(command, std::span<const std::string>(args));
  send(command);
  return read_reply();
}

bool RawClient::ended() {
  for (;;) {
    const auto got = stream_.read_some(got_, 1 << 20, kPatience);
    if (!got) return got.error().code == Code::kUnavailable;
  }
}

RouterFixture::RouterFixture(int nodes, router::Options options) {
  Pool pool;
  pool.name = "main";
  for (int i = 0; i < nodes; ++i) {
    RedisServerOptions server;
    server.acl = false;
    servers_.push_back(std::make_unique<RedisServer>(server));
    servers_.back()->start();
    Node node;
    node.name = "n" + std::to_string(i + 1);
    node.instance.address = servers_.back()->address();
    pool.layout.nodes.push_back(node);
  }
  snapshot_.epoch = Epoch{1};
  snapshot_.cluster_id = "0123456789abcdef";
  snapshot_.pools.push_back(pool);
  options.id = "r1";
  options.listen = "127.0.0.1:0";
  options.topology = router::StaticTopology{snapshot_, {}};
  // Sanitizers on a busy machine are slow; tests of time-outs set their own.
  const router::Timeouts usual;
  if (options.timeouts.request_ms == usual.request_ms) options.timeouts.request_ms = 60'000;
  if (options.timeouts.connect_ms == usual.connect_ms) options.timeouts.connect_ms = 20'000;
  auto started = router::Router::start(std::move(options));
  SLIPRING_CHECK(started.has_value(), "the router starts");
  router_ = std::move(*started);
  const bool ready = eventually(30, [&] { return router_->not_ready().empty(); });
  SLIPRING_CHECK(ready, "the router serves");
}

std::string RouterFixture::ask_server(int node, std::initializer_list<std::string_view> args) {
  return RawClient(server(node).port()).ask(args);
}

int RouterFixture::keys_on(int node) {
  int64_t count = -1;
  resp::ReplyReader(ask_server(node, {"DBSIZE"})).next_int(count);
  return static_cast<int>(count);
}

int RouterFixture::node_of(std::string_view key) const {
  const auto routing = PoolRouting::compile(snapshot_.pools[0]);
  const std::string& name = (*routing)->node_name((*routing)->decide(key).owner);
  return std::stoi(name.substr(1)) - 1;
}

std::string RouterFixture::key_on(int node, std::string_view prefix) const {
  for (int i = 0;; ++i) {
    const std::string key = std::string(prefix) + std::to_string(i);
    if (node_of(key) == node) return key;
  }
}

}  // namespace slipring::testing
