// The controller's end of the channel: accepts routers, reads their messages, writes what they are told, beats the
// heart. It knows connections and nothing of what messages mean; the controller decides.
//
// Invariant: messages of one connection reach the listener in order, each once, and on_gone() is the last call for it.
// Thread-safety: bind(), serve() and stop() by one owner; send(), drop() and heard() from any thread; the listener is called on the
// hub's own thread and must not block.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/channel/messages.h"
#include "slipring/net/buffer.h"
#include "slipring/net/event_loop.h"
#include "slipring/net/socket.h"

namespace slipring::control {

using ConnectionId = uint64_t;

class RouterHub {
 public:
  static constexpr size_t kConnectionsMax = 4096;
  // A connection that has not said Hello by then is closed.
  static constexpr std::chrono::seconds kHelloTimeout{5};
  // Bytes of one message before Hello was accepted.
  static constexpr size_t kHelloBytesMax = 4096;
  // A router that lets this much pile up does not read: it is cut.
  static constexpr size_t kOutputBytesMax = 256u << 20;

  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_message(ConnectionId connection, channel::Message message) = 0;
    virtual void on_gone(ConnectionId connection) = 0;
  };

  // Listens, but takes nobody in before serve(): the listener may need the hub for its first message.
  // kUnavailable: the address is taken; kInvalidArgument: no address. Port 0 takes a free one.
  static Result<std::unique_ptr<RouterHub>> bind(std::string_view listen, const Clock& clock, Listener& listener);
  ~RouterHub();
  void serve();
  // The listener is not called any more, and what is sent from now on is swallowed.
  void stop();

  // Queues a message; a connection that is gone swallows it.
  void send(ConnectionId connection, channel::Message message);
  // From now on the connection may send large messages and gets heartbeats under this term.
  void welcome(ConnectionId connection, uint64_t term);
  // Closes once what was sent before has been written.
  void drop(ConnectionId connection);

  // When the connection was last heard of; nullopt: it is gone.
  std::optional<MonoTime> heard(ConnectionId connection) const;
  const std::string& address() const { return address_; }

 private:
  struct Connection;
  struct Acceptor : net::IoHandler {
    explicit Acceptor(RouterHub& owner);
    RouterHub& hub;
  };
  RouterHub(const Clock& clock, Listener& listener);
  Status open(std::string_view listen);
  void accept_all();
  void add(net::UniqueFd fd);
  void on_ready(Connection& c, uint32_t events);
  void read(Connection& c);
  void deliver(Connection& c);
  void write(Connection& c);
  void close(Connection& c);
  void beat();
  Connection* find(ConnectionId id);

  const Clock& clock_;
  Listener& listener_;
  net::EventLoop loop_;
  net::BufferPool pool_;
  net::UniqueFd listener_fd_;
  Acceptor acceptor_;
  std::unique_ptr<net::Timer> heartbeat_;
  std::string address_;
  ConnectionId next_id_ = 1;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> closed_;  // freed at the end of the turn
  mutable std::mutex heard_mutex_;
  std::unordered_map<ConnectionId, MonoTime> heard_;
  std::thread thread_;
};

}  // namespace slipring::control
