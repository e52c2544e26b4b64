#include "tests/support/load.h"

#include <fmt/format.h>

namespace slipring::testing {
namespace {

constexpr int kKinds = 3;  // counter, list, value
constexpr double kReconnectSeconds = 30;

redis::Endpoint endpoint(const Cluster& cluster, int router) {
  redis::Endpoint e;
  e.address = fmt::format("127.0.0.1:{}", cluster.router_port(router));
  e.io_timeout = Millis(8000);
  return e;
}

}  // namespace

Load::Load(Cluster& cluster, int routers, int threads, int keys, const std::string& prefix)
    : cluster_(cluster), routers_(routers), keys_(static_cast<size_t>(threads)) {
  for (int t = 0; t < threads; ++t) {
    for (int k = 0; k < keys; ++k) keys_[static_cast<size_t>(t)].push_back({fmt::format("{}:{}:{}", prefix, t, k)});
  }
  for (int t = 0; t < threads; ++t) threads_.emplace_back([this, t] { run(t); });
}

Load::~Load() {
  stop_ = true;
  for (std::thread& t : threads_) {
    if (t.joinable()) t.join();
  }
}

void Load::wrong(std::string what) {
  const std::lock_guard lock(mutex_);
  if (wrong_.size() < 20) wrong_.push_back(std::move(what));
}

void Load::note_error(const std::string& what) {
  ++errors_;
  const std::lock_guard lock(mutex_);
  last_error_ = what;
}

std::string Load::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

size_t Load::key_count() const {
  size_t n = 0;
  for (const auto& keys : keys_) {
    for (const Key& key : keys) n += key.acknowledged > 0 ? 1 : 0;
  }
  return n;
}

void Load::run(int thread) {
  auto& keys = keys_[static_cast<size_t>(thread)];
  redis::Client client;
  int router = thread % routers_ + 1;
  for (size_t i = 0; !stop_; i = (i + 1) % keys.size()) {
    if (!client.open()) {
      const bool connected = eventually(kReconnectSeconds, [&] {
        router = router % routers_ + 1;  // the next router may be there while this one is not
        auto fresh = redis::Client::connect(endpoint(cluster_, router));
        if (fresh) client = std::move(*fresh);
        return stop_ || fresh.has_value();
      });
      if (!connected) return wrong("no router accepted a client");
      if (stop_) return;
    }
    if (!step(client, keys[i], static_cast<int>(i) % kKinds)) return;
  }
}

// False: an answer did not fit and was reported.
bool Load::step(redis::Client& client, Key& key, int kind) {
  const int64_t next = key.acknowledged + 1;
  const std::string value = std::to_string(key.possible + 1);
  Result<redis::Reply> reply = kind == 0   ? client.command({"INCR", key.name})
                               : kind == 1 ? client.command({"RPUSH", key.name, value})
                                           : client.command({"SET", key.name, value});
  if (!reply || reply->is_error()) {
    note_error(key.name + ": " + (reply ? reply->text : reply.error().message));
    // An error may hide that it was carried out.
    if (!reply || reply->text.find("unknown") != std::string::npos) ++key.possible;
    return true;
  }
  if (kind == 2) {
    key.acknowledged = key.possible = key.possible + 1;
  } else {
    if (reply->integer < next || reply->integer > key.possible + 1) {
      wrong(fmt::format("{}: answered {}, expected {} to {}", key.name, reply->integer, next, key.possible + 1));
      return false;
    }
    key.acknowledged = reply->integer;
    key.possible = reply->integer;
  }
  ++acknowledged_;
  return true;
}

void Load::check(redis::Client& client, const Key& key, int kind) {
  if (key.possible == 0) return;
  // A router that has just been fenced needs a moment to come back; what it answers then must fit.
  Result<redis::Reply> reply = fail(Code::kUnavailable, "");
  eventually(kReconnectSeconds, [&] {
    reply = kind == 1 ? client.call({"LLEN", key.name}) : client.call({"GET", key.name});
    return reply.has_value();
  });
  if (!reply) return wrong(fmt::format("{}: cannot be read: {}", key.name, reply.error().message));
  const int64_t held = kind == 1 ? reply->integer : std::atoll(reply->text.c_str());
  if (held < key.acknowledged || held > key.possible) {
    wrong(fmt::format("{}: holds {}, acknowledged were {} (possible {})", key.name, held, key.acknowledged,
                      key.possible));
  }
}

std::vector<std::string> Load::finish() {
  stop_ = true;
  for (std::thread& t : threads_) t.join();
  redis::Client client = cluster_.client(1);
  for (const auto& keys : keys_) {
    for (size_t i = 0; i < keys.size(); ++i) check(client, keys[i], static_cast<int>(i) % kKinds);
  }
  const std::lock_guard lock(mutex_);
  return wrong_;
}

}  // namespace slipring::testing
