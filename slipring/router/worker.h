// One loop thread of the router: its listener, its clients, its connections to the servers and the topology they are
// placed by. Threads share nothing on the path of a request; the conductor talks to them in posted closures only.
//
// Invariant: a command is placed under the topology that is current when it is taken; while a move is held no command
// for its keys is taken. Thread-safety: functions marked "any thread" post to the loop; the rest is the loop's own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "slipring/base/random.h"
#include "slipring/net/socket.h"
#include "slipring/router/client.h"
#include "slipring/router/dispatch.h"
#include "slipring/router/merge.h"
#include "slipring/router/node.h"
#include "slipring/router/options.h"
#include "slipring/router/placer.h"
#include "slipring/router/stats.h"
#include "slipring/topology/routing.h"

namespace slipring::router {

// What all threads serve by. A value that never changes.
struct Topology {
  Epoch epoch{0};
  std::shared_ptr<const PoolRouting> routing;
};

// What all threads of a router share: counts that limits are held against, and facts for INFO.
struct Shared {
  std::atomic<uint32_t> clients{0};
  std::atomic<uint64_t> epoch{0};  // that all threads serve by; 0: none yet
  std::atomic<uint64_t> generation{0};
  std::atomic<bool> controller_connected{false};
  // Signalled when the last client has gone.
  std::mutex drained_mutex;
  std::condition_variable drained;
  std::string run_id;
  std::string listen;
  MonoTime started{};
};

// Told by the workers, on their threads.
class WorkerObserver {
 public:
  virtual ~WorkerObserver() = default;
  // A server refused this generation.
  virtual void on_refused(uint64_t generation) = 0;
  // Answered by Worker::permit() of the worker that the number belongs to, or never.
  virtual void on_permit_wanted(channel::PermitRequest request) = 0;
};

class Worker {
 public:
  Worker(const Options& options, Shared& shared, const Clock& clock, WorkerObserver& observer, uint32_t number);
  ~Worker();

  Status open(const net::SocketAddress& listen);
  void start();
  // Any thread: ends the loop and waits for it. Clients are closed.
  void stop();
  // Any thread: takes no further clients, and closes each one when its commands are answered.
  void drain();
  uint16_t port() const { return port_; }

  // Any thread. On this thread's loop runs `switched` once commands are placed by the topology, and `settled` once
  // nothing that was sent before is in flight.
  void apply(std::shared_ptr<const Topology> topology, std::function<void()> switched, std::function<void()> settled);
  // Any thread: all connections start anew with these; `done` once the old ones are gone.
  void use(channel::Credentials credentials, std::function<void()> done);
  // Any thread: new commands for these moves of the current plan wait; `done` once nothing sent before is in flight on
  // the servers that own them.
  void hold(std::vector<uint32_t> moves, std::function<void()> done);
  // Any thread: what is held, and what comes for it, is answered -TRYAGAIN until release().
  void try_again();
  void release();
  // Any thread: the answer to a request of ask_permit().
  void permit(uint64_t number, channel::PermitAnswer answer);

  const Stats& stats() const { return stats_; }
  // Any thread: states of the connections, for /metrics; runs on the loop.
  void inspect(std::function<void(Worker&)> look) {
    loop_.post([this, look] { look(*this); });
  }
  const std::vector<std::shared_ptr<NodeLink>>& nodes() const { return nodes_; }

  // --- for clients and connections of this thread ---
  net::EventLoop& loop() { return loop_; }
  net::BufferPool& pool() { return pool_; }
  Random& random() { return random_; }
  const Options& options() const { return options_; }
  const Shared& shared() const { return shared_; }
  Stats& stats() { return stats_; }
  uint32_t now_us() const { return static_cast<uint32_t>(loop_.now().time_since_epoch().count() / 1000); }
  MonoTime now() const { return loop_.now(); }
  int64_t unix_us() const { return clock_.wall_ms() * 1000; }
  std::span<char> read_buffer() { return read_buffer_; }
  resp::RequestParser& shared_parser() { return parser_; }
  resp::RequestParser detach_parser();
  const channel::Credentials& credentials() const { return credentials_; }
  const std::string& connection_name() const { return connection_name_; }
  // Servers know this router's generation by the names of its connections, not by users.
  bool fenced_by_names() const {
    return topology_ && topology_->routing->pool().fence == PoolFence::kNames && !options_.controllers.empty();
  }
  // Asks whether a connection that the server has named may carry requests; the number of the answer.
  uint64_t ask_permit(const std::string& address, const std::string& run_id);
  const Topology* topology() const { return topology_.get(); }
  const Placer& placer() const { return placer_; }
  bool trying_again() const { return try_again_; }
  NodeLink& node(InstanceIndex i) { return *by_instance_[i]; }
  size_t client_count() const { return clients_.size(); }
  const std::vector<Client*>& clients() const { return clients_; }

  bool dispatch(Client& client, const resp::Args& args) { return dispatcher_.dispatch(client, args); }
  void refuse_protocol(Client& client, const std::string& error);
  void on_reply(const Pending& pending, std::string_view reply);
  void on_refused(Backend& backend);
  void on_closed(Client& client);
  void count_cut(Client& client, std::string_view why);
  bool over_memory() const;
  void mark_dirty(Client& client) { dirty_clients_.push_back(&client); }
  void mark_dirty(Backend& backend) { dirty_backends_.push_back(&backend); }
  void forget(Backend& backend) { std::erase(dirty_backends_, &backend); }
  // The client's next command waits until release() or try_again().
  void hold_back(Client& client);

  // Collects the parts of a split command; the Pending of every part carries its number.
  uint32_t start_merge(Client& client, MergeKind kind, uint32_t parts, std::vector<uint16_t>& part_of_key);
  const std::vector<uint16_t>& parts_of(uint32_t merge) const { return merges_[merge]->merge.part_of_key(); }

 private:
  struct Drain {
    std::vector<std::pair<std::shared_ptr<NodeLink>, NodeLink::Counts>> waits;
    std::function<void()> done;
  };
  struct MergeJob {
    Merge merge;
    Client* client = nullptr;
    uint32_t seq = 0;
  };
  struct Listener : net::IoHandler {
    explicit Listener(Worker& w)
        : IoHandler([](IoHandler& self, uint32_t) { static_cast<Listener&>(self).worker.accept(); }), worker(w) {}
    Worker& worker;
  };

  void accept();
  void add_client(net::UniqueFd socket);
  void end_turn();
  void settle_all();
  void tick();
  void tend_connections();
  void tend_clients();
  void drop_reference(Client& client);
  void switch_topology(std::shared_ptr<const Topology> topology);
  void wait_for(const std::vector<std::shared_ptr<NodeLink>>& nodes, std::function<void()> done);
  static bool settled(const Drain& drain);
  void check_drains();
  void let_go(bool attempt_closed);
  std::string name_connections() const;

  const Options& options_;
  Shared& shared_;
  const Clock& clock_;
  WorkerObserver& observer_;
  const uint32_t number_;
  Stats stats_;
  net::EventLoop loop_;
  net::BufferPool pool_;
  Random random_;
  std::vector<char> read_buffer_;
  resp::RequestParser parser_;

  channel::Credentials credentials_;
  std::string connection_name_;
  std::shared_ptr<const Topology> topology_;
  Placer placer_;
  std::vector<std::shared_ptr<NodeLink>> nodes_;
  std::vector<NodeLink*> by_instance_;
  std::vector<std::shared_ptr<NodeLink>> retired_;  // left the topology with requests in flight
  Dispatcher dispatcher_;

  Listener listener_;
  uint16_t port_ = 0;
  std::vector<Client*> clients_;
  std::vector<std::unique_ptr<Client>> buried_;  // freed when the turn ends
  std::vector<Client*> held_;                    // in arrival order
  bool try_again_ = false;
  bool draining_ = false;
  uint64_t next_client_ = 1;
  uint64_t permits_asked_ = 0;
  uint32_t ticks_ = 0;
  uint32_t zombies_ = 0;  // closed clients that servers still owe replies

  std::vector<std::unique_ptr<MergeJob>> merges_;
  std::vector<uint32_t> free_merges_;
  std::vector<Client*> dirty_clients_;
  std::vector<Backend*> dirty_backends_;
  std::vector<Drain> drains_;
  net::Timer tick_;
  net::Timer accept_again_;
  std::thread thread_;
};

}  // namespace slipring::router
