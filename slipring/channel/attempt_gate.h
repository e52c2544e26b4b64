// The router's side of attempts: when commands for moving keys are held, what is acknowledged, and what lets them go.
// One gate a router process; the caller carries what happens in and performs what comes out, in order.
//
//   AttemptOpen --> (snapshot of its epoch applied) --> StartHold --> drained --> SendAck
//                                                           |
//   past hold_bound: SendWithdraw (a request)               |  past hold_max: StartTryAgain
//   committed: the snapshot of its epoch is applied --------+--> Release, to the owner in the applied snapshot
//   withdrawn: at once -------------------------------------+
//
// Invariant: **only the store lets go**. A hold ends when the attempt is known to be closed and the applied snapshot is
// the one that decides; never because time passed or a connection broke. There is at most one open attempt in a cluster
// and its commit requires that the epoch is still the one it was opened in; so an attempt with a higher number, or an
// applied snapshot of a later epoch, proves that the earlier attempt is closed.
// Thread-safety: one owner. Time and everything else is an input; no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/channel/messages.h"

namespace slipring::channel {

// Every loop thread holds new commands for these moves (indexes into the open plan of `epoch`, which all threads have
// applied) in arrival order. When all threads hold and nothing is in flight for them on any connection, including
// closed ones whose end the server has not confirmed, the caller answers with on_drained(attempt).
struct StartHold {
  uint64_t attempt = 0;
  Epoch epoch{0};
  std::string pool;
  std::vector<uint32_t> moves;
  bool operator==(const StartHold&) const = default;
};
struct SendAck {
  uint64_t attempt = 0;
  uint64_t generation = 0;
  bool operator==(const SendAck&) const = default;
};
struct SendWithdraw {
  uint64_t attempt = 0;
  bool operator==(const SendWithdraw&) const = default;
};
// Commands held for this attempt, and new ones for its keys, are answered -TRYAGAIN from now until Release.
struct StartTryAgain {
  uint64_t attempt = 0;
  bool operator==(const StartTryAgain&) const = default;
};
// What is held goes, in arrival order, to the owner by the applied snapshot.
struct Release {
  uint64_t attempt = 0;
  bool operator==(const Release&) const = default;
};
// The controller on this connection is an older leader than one seen before: close the connection, believe nothing.
struct DropConnection {
  bool operator==(const DropConnection&) const = default;
};
using GateAction = std::variant<StartHold, SendAck, SendWithdraw, StartTryAgain, Release, DropConnection>;
using GateActions = std::vector<GateAction>;

class AttemptGate {
 public:
  // What comes over the channel. Messages after on_disconnected() and before on_welcome() are ignored.
  GateActions on_welcome(const Welcome& welcome, MonoTime now);
  GateActions on_snapshot_received(Epoch epoch);
  GateActions on_attempt_open(const AttemptOpen& open, MonoTime now);
  GateActions on_attempt_closed(const AttemptClosed& closed, MonoTime now);
  GateActions on_synced(MonoTime now);
  GateActions on_new_generation(uint64_t generation);
  GateActions on_disconnected();

  // What happens in the router. All loop threads serve by this snapshot now.
  GateActions on_snapshot_applied(Epoch epoch, MonoTime now);
  GateActions on_drained(uint64_t attempt);
  GateActions on_tick(MonoTime now);

  // When on_tick() has something to do next.
  std::optional<MonoTime> next_tick() const;
  // The attempt that is held now.
  std::optional<uint64_t> held() const;
  bool try_again() const { return hold_ && hold_->try_again; }
  Epoch applied() const { return applied_; }

 private:
  struct Hold {
    AttemptOpen open;
    MonoTime since{};
    MonoTime withdraw_at{};  // next time to ask for it
    bool drained = false;
    bool try_again = false;
    bool announced = false;  // on this connection
    bool closed = false;
    Epoch decides{0};  // closed: the least epoch whose snapshot says where the keys are
  };

  void consider_open(MonoTime now, GateActions& out);
  void start(const AttemptOpen& open, MonoTime now, GateActions& out);
  void close(Epoch decides, GateActions& out);
  void release_if_decided(GateActions& out);
  void acknowledge(GateActions& out) const;

  bool connected_ = false;  // welcomed by a leader that is not older than one seen before
  uint64_t term_ = 0;
  uint64_t generation_ = 0;
  Epoch received_{0};  // newest snapshot received
  Epoch applied_{0};
  uint64_t closed_attempt_ = 0;  // every attempt up to here is closed
  std::optional<Hold> hold_;
  std::optional<AttemptOpen> waiting_;  // open, but its epoch is not applied yet
};

}  // namespace slipring::channel
