// The router process as one: speaks with the controller, brings every loop thread to the same topology, generation and
// hold, and reports when all of them are there. Its own thread; it is not on the path of requests.
//
//   controller -> Link -> conductor -> AttemptGate -> actions -> workers -> (all done) -> AttemptGate -> Link
//
// Invariant: an acknowledgement is sent only after every worker has reported. With the controller away the router
// serves on with what it has, and holds only what was held.
// Thread-safety: start(), stop() and the atomics of Shared from any thread; the rest is the conductor's own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "slipring/channel/attempt_gate.h"
#include "slipring/net/event_loop.h"
#include "slipring/router/disk_state.h"
#include "slipring/router/link.h"
#include "slipring/router/worker.h"

namespace slipring::router {

class Conductor final : public WorkerObserver, private LinkObserver {
 public:
  Conductor(const Options& options, Shared& shared, const Clock& clock);
  ~Conductor() override;

  Status open();
  // The workers must be running.
  void start(std::vector<std::unique_ptr<Worker>>& workers);
  void stop();

  void on_refused(uint64_t generation) override;
  void on_permit_wanted(channel::PermitRequest request) override;

 private:
  channel::Hello hello() override;
  channel::RouterStats heartbeat() override;
  void on_message(const channel::Message& message) override;
  void on_lost(const std::string& reason) override;

  void on(const channel::Welcome& welcome);
  void on(const channel::SnapshotPush& push);
  void on(const channel::AttemptOpen& open);
  void on(const channel::AttemptClosed& closed);
  void on(const channel::NewGeneration& fresh);
  void on(const channel::Synced& synced);
  void on(const channel::Permit& permit);
  // Messages that say no more than that the controller is there, and those that only routers send.
  template <typename Other>
  void on(const Other&) {}

  void begin();
  void start_from_disk();
  // Runs `step` once all workers have called what it is handed.
  std::function<void()> when_all(std::function<void()> step);
  Status apply(const Snapshot& snapshot);
  void use(const channel::Credentials& credentials);
  void settled();
  void acknowledge();
  void take_up_generations();
  void perform(const channel::GateActions& actions);
  void do_action(const channel::StartHold& hold);
  void do_action(const channel::SendAck& ack);
  void do_action(const channel::SendWithdraw& withdraw);
  void do_action(const channel::StartTryAgain& again);
  void do_action(const channel::Release& release);
  void do_action(const channel::DropConnection& drop);
  void ask_for_generation();
  void save();

  const Options& options_;
  Shared& shared_;
  net::EventLoop loop_;
  std::vector<std::unique_ptr<Worker>>* workers_ = nullptr;
  channel::AttemptGate gate_;
  Link link_;
  std::string token_;
  std::optional<Snapshot> snapshot_;  // the newest that was given to the workers
  Epoch shared_epoch_{0};             // of shared_snapshot_path()
  channel::Credentials active_;
  channel::Credentials spare_;
  std::optional<channel::Welcome> welcome_;  // whose generations wait for the current topology
  uint32_t unsettled_ = 0;                   // changes that not every worker has settled
  uint64_t refused_generation_ = 0;
  bool disk_tried_ = false;
  bool away_said_ = false;
  net::Timer gate_tick_;
  net::Timer ask_again_;
  net::Timer save_soon_;
  std::thread thread_;
};

}  // namespace slipring::router
