// The router's connection to the controller: tries the addresses in turn, follows a refusal to the leader, introduces
// the router, sends heartbeats, and hands whole messages on. What they mean is the conductor's business.
//
// Invariant: after connected() and before lost() every message of the controller is handed on once, in order.
// Thread-safety: one loop.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/random.h"
#include "slipring/channel/messages.h"
#include "slipring/net/buffer.h"
#include "slipring/net/event_loop.h"

namespace slipring::router {

class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  // What to introduce this router with.
  virtual channel::Hello hello() = 0;
  virtual channel::RouterStats heartbeat() = 0;
  virtual void on_message(const channel::Message& message) = 0;
  // The connection ended, or none could be made.
  virtual void on_lost(const std::string& reason) = 0;
};

class Link final : private net::IoHandler {
 public:
  Link(net::EventLoop& loop, LinkObserver& observer, std::vector<std::string> controllers, uint64_t seed);
  ~Link();

  void start();
  void stop();
  // Nothing is sent, and false answered, while there is no connection.
  bool send(const channel::Message& message);
  // Ends this connection and tries again.
  void drop(const std::string& reason);
  bool connected() const { return state_ == State::kOpen; }

 private:
  enum class State : uint8_t { kIdle, kConnecting, kOpen };

  void connect();
  void on_events(uint32_t events);
  void introduce();
  void read();
  void take_messages();
  void flush();
  void beat();
  void follow(const channel::Refused& refused);
  void close();

  net::EventLoop& loop_;
  LinkObserver& observer_;
  std::vector<std::string> controllers_;
  size_t next_ = 0;
  std::string leader_;  // where a refusal pointed to: tried next
  Random random_;
  State state_ = State::kIdle;
  uint64_t connection_ = 0;
  uint64_t sequence_ = 0;
  uint32_t tries_ = 0;
  MonoTime heard_{};  // of the controller
  channel::FrameDecoder decoder_;
  net::BufferPool pool_;
  net::Buffer out_;
  net::Timer retry_;
  net::Timer beat_;
};

}  // namespace slipring::router
