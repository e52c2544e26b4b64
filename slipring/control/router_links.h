// The routers that are connected now, what each has acknowledged, and what all of them are told: snapshots, attempts,
// new generations. One lock orders what is said, so every router hears the newest snapshot and no open attempt is
// missed by one that connects in between.
//
// Thread-safety: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "slipring/channel/permits.h"
#include "slipring/control/router_book.h"
#include "slipring/control/router_hub.h"
#include "slipring/rebalance/plan_machine.h"
#include "slipring/topology/snapshot.h"

namespace slipring::control {

struct RouterLink {
  ConnectionId connection = 0;
  std::string id;
  std::string listen;
  uint64_t generation = 0;  // that it serves by
  uint64_t given = 0;       // that it was told to serve by last
  Epoch epoch{0};           // acknowledged
  channel::RouterStats stats;
};

class RouterLinks {
 public:
  RouterLinks(RouterHub& hub, const Clock& clock, uint64_t term)
      : hub_(hub), clock_(clock), term_(term), patient_until_(clock.now() + Millis(channel::kHeartbeatTimeoutMs)) {}

  // The snapshot that is current: pushed to all.
  void publish(std::shared_ptr<const Snapshot> snapshot);
  std::shared_ptr<const Snapshot> current() const;

  // A router is being enrolled: until its welcome it counts as alive on no epoch, so no attempt opens without it.
  void expect(const std::string& id);
  // A connected router was given a new generation: the same until it serves by it, but no longer than the heartbeat
  // time-out.
  void expect_generation(const std::string& id);
  void expect_no_longer(const std::string& id);
  // A router was enrolled: it is welcomed and told everything; an earlier connection of it is dropped. False: the
  // connection has ended meanwhile.
  bool welcome(ConnectionId connection, const RouterRecord& record, const channel::Hello& hello);
  void gone(ConnectionId connection);
  // The router's generations have changed.
  void renew(const RouterRecord& record);

  // As Permits.
  void admit(const std::string& address, const std::string& run_id);
  void bar(std::span<const uint64_t> keep, uint64_t newest);
  // The router is no longer known: its connection gets no permit.
  void disown(const std::string& id);
  // Answers the router. `leads`: the store said, after the request had come, that the lease is still ours.
  void permit(ConnectionId connection, const channel::PermitRequest& request, bool leads);

  void open_attempt(const rebalance::AnnounceOpen& open);
  void close_attempt(const rebalance::AnnounceClosed& closed);

  // What routers say. False: this connection belongs to no enrolled router.
  bool epoch_acknowledged(ConnectionId connection, const channel::EpochAck& ack);
  bool heartbeat(ConnectionId connection, const channel::RouterStats& stats);
  // The router behind the connection.
  std::optional<RouterLink> find(ConnectionId connection) const;
  // Connected and heard of within the heartbeat time-out.
  std::optional<RouterLink> alive(const std::string& id) const;
  // Since its last word; nullopt: not connected.
  std::optional<int64_t> silent_ms(const std::string& id) const;
  // For logs: what is known of the router's connection.
  std::string describe(const std::string& id) const;

  // All generations in the book as the plan machine sees them.
  std::vector<rebalance::RouterView> views(const std::map<std::string, RouterRecord>& routers) const;

 private:
  bool is_alive(const RouterLink& link) const;
  const RouterLink* by_id(const std::string& id) const;
  void send_open(const RouterLink& link) const;

  RouterHub& hub_;
  const Clock& clock_;
  const uint64_t term_;
  // A leader has just begun: until then routers that it has not heard of yet count as alive, as their old leader knew
  // them.
  const MonoTime patient_until_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> current_;
  std::string encoded_;
  std::map<ConnectionId, RouterLink> links_;
  std::set<std::string> expected_;
  std::map<std::string, MonoTime> renewing_;  // until when each is waited for
  std::optional<rebalance::AnnounceOpen> open_;
  channel::Permits permits_;
};

}  // namespace slipring::control
