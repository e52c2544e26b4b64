// The channel between a router and a controller: ordered messages both ways over one connection, which can be cut.
// Invariant: messages arrive in order or not at all. Thread-safety: one owner.
#pragma once

#include <memory>

#include "slipring/channel/messages.h"
#include "slipring/lab/sim/world.h"

namespace slipring::lab {

class LinkEnd : public Process {
 public:
  using Process::Process;
  virtual void on_message(const std::shared_ptr<class Link>& link, const channel::Message& message) = 0;
  virtual void on_link_down(const std::shared_ptr<class Link>& link) = 0;
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(LinkEnd& router, LinkEnd& controller);

  void to_controller(channel::Message message) { send(0, std::move(message)); }
  void to_router(channel::Message message) { send(1, std::move(message)); }
  // Both ends hear of it; what is on its way is lost.
  void cut();
  bool open() const { return open_; }
  LinkEnd& router() { return *ends_[1]; }
  // Messages of this direction (0: to the controller) take this much longer.
  int64_t extra_us[2] = {0, 0};

 private:
  void send(size_t direction, channel::Message message);

  LinkEnd* ends_[2];  // receivers of direction 0 and 1
  uint64_t incarnations_[2];
  int64_t last_us_[2] = {0, 0};
  bool open_ = true;
};

}  // namespace slipring::lab
