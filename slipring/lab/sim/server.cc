#include "slipring/lab/sim/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace slipring::lab {

using rebalance::ChangeKind;

Conn::Conn(Process& owner, Server& server, std::string user)
    : owner_(owner),
      owner_incarnation_(owner.incarnation()),
      server_(server),
      server_incarnation_(server.incarnation()),
      user_(std::move(user)),
      id_(owner.world.random.next()) {}

std::shared_ptr<Conn> Conn::open(Process& owner, Server& server, std::string user, Task on_named) {
  std::shared_ptr<Conn> conn(new Conn(owner, server, std::move(user)));
  server.attach(conn);
  Conn* raw = conn.get();
  const bool waits = static_cast<bool>(on_named);
  conn->send(
      [raw](Server& s) {
        raw->named_ = true;
        if (s.names() || raw->user_ == kAdmin || s.users().count(raw->user_) > 0) return;
        raw->refused_ = true;
        raw->kill();
      },
      std::move(on_named), {});
  conn->waiting_ = waits;
  return conn;
}

void Conn::admit() {
  if (!std::exchange(waiting_, false)) return;
  for (Unsent& u : std::exchange(unsent_, {})) {
    send(std::move(u.execute), std::move(u.then.reply), std::move(u.then.broken));
  }
}

void Conn::refuse() {
  if (!client_open_ || !waiting_) return;
  const auto self = shared_from_this();
  client_open_ = false;
  tell_broken();
}

void Conn::tell_broken() {
  std::map<uint64_t, Pending> pending = std::exchange(pending_, {});
  const std::vector<Unsent> unsent = std::exchange(unsent_, {});
  const std::function<void()> closed = on_closed;
  for (auto& [id, p] : pending) {
    if (p.broken) p.broken();
  }
  for (const Unsent& u : unsent) {
    if (u.then.broken) u.then.broken();
  }
  if (closed) closed();
}

void Conn::call(std::function<void(Server&)> execute, Task reply, Task broken) {
  if (!waiting_ || !server_open_) return send(std::move(execute), std::move(reply), std::move(broken));
  if (client_open_) unsent_.push_back({std::move(execute), {std::move(reply), std::move(broken)}});
}

void Conn::send(std::function<void(Server&)> execute, Task reply, Task broken) {
  World& world = owner_.world;
  const uint64_t id = ++last_call_;
  if (!client_open_) return;
  pending_[id] = {std::move(reply), std::move(broken)};
  if (!server_open_) {
    to_owner([self = shared_from_this(), id] {
      const auto at = self->pending_.find(id);
      if (at == self->pending_.end()) return;
      const Task task = std::move(at->second.broken);
      self->pending_.erase(at);
      if (task) task();
    });
    return;
  }
  last_arrival_us_ = std::max(last_arrival_us_ + 1, world.now_us() + world.delay_us());
  world.at_us(last_arrival_us_, [self = shared_from_this(), id, execute = std::move(execute)] {
    self->server_.deliver(self, [self, id, execute] { self->arrive(id, execute); });
  });
}

void Conn::arrive(uint64_t id, const std::function<void(Server&)>& execute) {
  if (!server_open_) return;
  execute(server_);
  if (!server_open_) return;  // it was the end of itself
  to_owner([self = shared_from_this(), id] {
    const auto at = self->pending_.find(id);
    if (at == self->pending_.end()) return;
    const Task task = std::move(at->second.reply);
    self->pending_.erase(at);
    if (task) task();
  });
}

void Conn::push(Task task) {
  to_owner(std::move(task));
}

void Conn::to_owner(Task task) {
  World& world = owner_.world;
  last_delivery_us_ = std::max(last_delivery_us_ + 1, world.now_us() + world.delay_us());
  world.at_us(last_delivery_us_, [self = shared_from_this(), task = std::move(task)] {
    if (!self->client_open_) return;
    self->owner_.run(self->owner_incarnation_, [self, task] {
      if (self->client_open_) task();
    });
  });
}

void Conn::close() {
  client_open_ = false;
  pending_.clear();
  unsent_.clear();
  on_closed = nullptr;
}

void Conn::kill() {
  if (!std::exchange(server_open_, false)) return;
  to_owner([self = shared_from_this()] { self->tell_broken(); });
}

Server::Server(World& w, size_t index, bool names)
    : world_(w), index_(index), names_(names), address_(fmt::format("s{}:1", index)) {}

Server::~Server() {
  for (const auto* list : {&connections_, &ended_}) {
    for (const std::weak_ptr<Conn>& weak : *list) {
      if (const auto conn = weak.lock()) conn->close();
    }
  }
}

void Server::start() {
  up_ = true;
  run_id_ = fmt::format("run{:x}", world_.random.next());
  repl_id_ = fmt::format("repl{:x}", world_.random.next());
}

ServerIdentity Server::identity() const {
  return {run_id_, "master", repl_id_};
}

void Server::crash() {
  if (!up_) return;
  up_ = false;
  stopped_ = false;
  ++incarnation_;
  waiting_.clear();
  feeds_.clear();
  for (const std::weak_ptr<Conn>& weak : std::exchange(connections_, {})) {
    ended_.push_back(weak);
    if (const auto conn = weak.lock()) conn->kill();
  }
  world_.trace(address_ + " crashed");
}

void Server::restart(bool empty) {
  if (up_) return;
  users_ = durable_users_;
  if (empty) {
    data_.clear();
    users_.clear();
    durable_users_.clear();
  }
  start();
  world_.trace(fmt::format("{} is back {}", address_, empty ? "empty" : "with its data"));
  if (on_restart) on_restart(*this);
}

void Server::stop() {
  stopped_ = up_;
}

void Server::wake() {
  if (!std::exchange(stopped_, false)) return;
  auto waiting = std::exchange(waiting_, {});
  for (auto& [conn, run] : waiting) run();
}

void Server::attach(const std::shared_ptr<Conn>& conn) {
  if (!up_) {
    ended_.push_back(conn);
    conn->kill();
    return;
  }
  const auto ended = std::stable_partition(connections_.begin(), connections_.end(), [](const auto& c) {
    const auto held = c.lock();
    return held && held->alive_at_server();
  });
  ended_.insert(ended_.end(), ended, connections_.end());
  connections_.erase(ended, connections_.end());
  std::erase_if(ended_, [](const auto& c) { return c.expired(); });
  connections_.push_back(conn);
}

void Server::deliver(const std::shared_ptr<Conn>& conn, Task run) {
  if (!up_ || conn->server_incarnation_ != incarnation_) return;
  if (stopped_) {
    waiting_.emplace_back(conn, std::move(run));
  } else {
    run();
  }
}

void Server::kill_connection(uint64_t id) {
  for (const std::weak_ptr<Conn>& weak : connections_) {
    const auto conn = weak.lock();
    if (conn && conn->id() == id) conn->kill();
  }
}

std::set<std::string> Server::connected() const {
  std::set<std::string> names;
  for (const std::weak_ptr<Conn>& weak : connections_) {
    const auto conn = weak.lock();
    if (conn && conn->alive_at_server() && conn->named_) names.insert(conn->user());
  }
  return names;
}

void Server::delete_user(const std::string& user) {
  users_.erase(user);
  kill_connections(user, nullptr);
}

void Server::kill_connections(const std::string& user, const Conn* except) {
  const auto connections = connections_;
  for (const std::weak_ptr<Conn>& weak : connections) {
    const auto conn = weak.lock();
    if (!conn || conn.get() == except || conn->user() != user) continue;
    // Only a name that the server has executed can be found.
    if (conn->named_ || !names_) conn->kill();
  }
}

void Server::drop_expired(const std::string& key) {
  const auto at = data_.find(key);
  if (at == data_.end() || at->second.expire_ms == 0 || at->second.expire_ms > world_.clock().wall_ms()) return;
  data_.erase(at);
  tell_feeds(key, ChangeKind::kRemove);
}

std::optional<StoredValue> Server::read(const std::string& key) {
  drop_expired(key);
  const auto at = data_.find(key);
  if (at == data_.end()) return std::nullopt;
  return at->second;
}

void Server::write(const std::string& key, StoredValue value) {
  data_[key] = std::move(value);
  tell_feeds(key, ChangeKind::kWrite);
}

bool Server::remove(const std::string& key) {
  drop_expired(key);
  if (data_.erase(key) == 0) return false;
  tell_feeds(key, ChangeKind::kRemove);
  return true;
}

bool Server::restore(const std::string& key, const StoredValue& value) {
  if (value.expire_ms != 0 && value.expire_ms <= world_.clock().wall_ms()) {
    remove(key);
    return false;
  }
  data_[key] = value;
  tell_feeds(key, ChangeKind::kRestore);
  return true;
}

void Server::expire_some() {
  if (!up_ || stopped_) return;
  std::vector<std::string> keys;
  for (const auto& [key, value] : data_) {
    if (value.expire_ms != 0) keys.push_back(key);
  }
  for (const std::string& key : keys) drop_expired(key);
}

void Server::add_feed(const std::shared_ptr<Conn>& conn, std::function<void(const std::string&, ChangeKind)> tell) {
  feeds_.push_back({conn, std::move(tell)});
}

size_t Server::cut_feeds() {
  const std::vector<Feed> cut = std::exchange(feeds_, {});
  for (const Feed& feed : cut) {
    if (const auto conn = feed.conn.lock()) conn->kill();
  }
  return cut.size();
}

void Server::tell_feeds(const std::string& key, ChangeKind kind) {
  for (const Feed& feed : feeds_) {
    const auto conn = feed.conn.lock();
    if (!conn || !conn->alive_at_server()) continue;
    conn->push([tell = feed.tell, key, kind] { tell(key, kind); });
  }
}

}  // namespace slipring::lab
