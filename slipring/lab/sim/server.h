// A store server as the protocol sees it: keys with values and expiry, users, feeds of changes, a run id that changes
// with every start, and connections whose requests are executed in order even when their sender is gone.
//
// Invariant: requests of one connection run in order, or not at all once it was killed. Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slipring/lab/sim/world.h"
#include "slipring/rebalance/copy_machine.h"

namespace slipring::lab {

class Server;

struct StoredValue {
  std::string value;
  int64_t expire_ms = 0;  // wall clock; 0: never
  bool operator==(const StoredValue&) const = default;
};

// The user of the node's own credentials: always there.
inline constexpr const char* kAdmin = "admin";

// A TCP connection from a process to a server.
class Conn : public std::enable_shared_from_this<Conn> {
 public:
  // Logs in as `user`; a server that does not know it closes the connection. Where servers know names instead, `user` is
  // the connection's name, and with `on_named` (run at the owner when the server has confirmed it) requests wait for
  // admit().
  static std::shared_ptr<Conn> open(Process& owner, Server& server, std::string user, Task on_named = {});
  // What waited is sent.
  void admit();
  // The owner gives it up before it was admitted: as if it had broken.
  void refuse();

  // Sends a request. Exactly one of the two runs at the owner later: `reply` after `execute` ran at the server, or
  // `broken` when the connection ended before the reply came (it may have run, but will not any more). Neither runs
  // after close().
  void call(std::function<void(Server&)> execute, Task reply, Task broken);
  // Messages of the server on its own behalf, in order with the replies.
  void push(Task task);
  // The owner goes away; what was sent is on its way and runs.
  void close();
  // The server ends it: nothing of it runs any more.
  void kill();

  bool usable() const { return client_open_ && server_open_; }
  bool alive_at_server() const { return server_open_; }
  // The login failed: the server does not know the user.
  bool refused() const { return refused_; }
  const std::string& user() const { return user_; }
  uint64_t id() const { return id_; }
  Server& server() { return server_; }
  // The owner's side was told that the connection ended.
  std::function<void()> on_closed;

 private:
  friend class Server;
  Conn(Process& owner, Server& server, std::string user);
  void arrive(uint64_t call, const std::function<void(Server&)>& execute);
  void send(std::function<void(Server&)> execute, Task reply, Task broken);
  void tell_broken();
  void to_owner(Task task);

  Process& owner_;
  uint64_t owner_incarnation_;
  Server& server_;
  uint64_t server_incarnation_;
  std::string user_;
  uint64_t id_;
  bool client_open_ = true;
  bool server_open_ = true;
  bool refused_ = false;
  bool named_ = false;    // the server has executed the login
  bool waiting_ = false;  // for admit()
  int64_t last_arrival_us_ = 0;
  int64_t last_delivery_us_ = 0;
  uint64_t last_call_ = 0;
  struct Pending {
    Task reply;
    Task broken;
  };
  std::map<uint64_t, Pending> pending_;
  struct Unsent {
    std::function<void(Server&)> execute;
    Pending then;
  };
  std::vector<Unsent> unsent_;
};

class Server {
 public:
  // `names`: it knows no users, only connections by name.
  Server(World& w, size_t index, bool names);
  // What was asked on its connections and never answered is forgotten: such a request may hold its own connection.
  ~Server();

  // --- life
  void start();
  void crash();
  // Comes back with what it held, or empty and without any user.
  void restart(bool empty);
  void stop();
  void wake();
  bool up() const { return up_; }
  bool stopped() const { return stopped_; }
  uint64_t incarnation() const { return incarnation_; }
  const std::string& address() const { return address_; }
  size_t index() const { return index_; }
  ServerIdentity identity() const;

  // --- data; whoever changes something says so to the feeds
  std::optional<StoredValue> read(const std::string& key);
  void write(const std::string& key, StoredValue value);
  bool remove(const std::string& key);
  // RESTORE: false if it had expired (then the key is removed).
  bool restore(const std::string& key, const StoredValue& value);
  const std::map<std::string, StoredValue>& data() const { return data_; }
  void expire_some();

  // --- users
  void set_user(const std::string& user) { users_.insert(user); }
  void delete_user(const std::string& user);
  void kill_connections(const std::string& user, const Conn* except);
  void save_users() { durable_users_ = users_; }
  const std::set<std::string>& users() const { return users_; }

  // --- feeds: told of every change, over the connection's own stream
  void add_feed(const std::shared_ptr<Conn>& conn,
                std::function<void(const std::string& key, rebalance::ChangeKind kind)> tell);
  // Feeds of connections of this user end, as if the output buffer was full.
  size_t cut_feeds();

  // --- connections
  void attach(const std::shared_ptr<Conn>& conn);
  void deliver(const std::shared_ptr<Conn>& conn, Task run);
  // CLIENT KILL ID.
  void kill_connection(uint64_t id);
  // CLIENT LIST: the names.
  std::set<std::string> connected() const;
  bool names() const { return names_; }

  // For the checker.
  std::function<void(Server&)> on_restart;

 private:
  void tell_feeds(const std::string& key, rebalance::ChangeKind kind);
  void drop_expired(const std::string& key);

  World& world_;
  size_t index_;
  const bool names_;
  std::string address_;
  bool up_ = false;
  bool stopped_ = false;
  uint64_t incarnation_ = 0;
  std::string run_id_;
  std::string repl_id_;
  std::map<std::string, StoredValue> data_;
  std::set<std::string> users_;
  std::set<std::string> durable_users_;
  struct Feed {
    std::weak_ptr<Conn> conn;
    std::function<void(const std::string&, rebalance::ChangeKind)> tell;
  };
  std::vector<Feed> feeds_;
  std::vector<std::weak_ptr<Conn>> connections_;
  std::vector<std::weak_ptr<Conn>> ended_;  // by the server; the owner may not know it yet
  std::deque<std::pair<std::shared_ptr<Conn>, Task>> waiting_;  // while stopped
};

}  // namespace slipring::lab
