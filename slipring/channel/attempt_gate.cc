#include "slipring/channel/attempt_gate.h"

#include <algorithm>
#include <utility>

namespace slipring::channel {

GateActions AttemptGate::on_welcome(const Welcome& welcome, MonoTime now) {
  GateActions out;
  if (welcome.term < term_) {
    out.push_back(DropConnection{});
    return out;
  }
  term_ = welcome.term;
  connected_ = true;
  generation_ = welcome.active.generation;
  waiting_.reset();
  if (hold_) {
    hold_->announced = false;
    hold_->withdraw_at = std::max(hold_->withdraw_at, now);
  }
  return out;
}

GateActions AttemptGate::on_snapshot_received(Epoch epoch) {
  if (connected_) received_ = std::max(received_, epoch);
  return {};
}

GateActions AttemptGate::on_attempt_open(const AttemptOpen& open, MonoTime now) {
  GateActions out;
  if (!connected_ || open.attempt <= closed_attempt_) return out;
  if (hold_ && open.attempt <= hold_->open.attempt) {
    if (open.attempt < hold_->open.attempt || hold_->closed) return out;
    hold_->announced = true;
    acknowledge(out);
    return out;
  }
  if (waiting_ && open.attempt < waiting_->attempt) return out;
  // Only one attempt is open at a time, so the held one is closed. Had it been committed, this one would be of a later
  // epoch; so the snapshot of this one's epoch decides in either case.
  if (hold_) close(open.epoch, out);
  waiting_ = open;
  consider_open(now, out);
  return out;
}

GateActions AttemptGate::on_attempt_closed(const AttemptClosed& closed, MonoTime) {
  GateActions out;
  if (!connected_) return out;
  closed_attempt_ = std::max(closed_attempt_, closed.attempt);
  if (waiting_ && waiting_->attempt <= closed_attempt_) waiting_.reset();
  if (!hold_ || hold_->open.attempt > closed_attempt_) return out;
  if (hold_->open.attempt < closed.attempt) return out;  // a later message of this connection tells its outcome
  close(closed.outcome == AttemptOutcome::kCommitted ? closed.epoch : hold_->open.epoch, out);
  return out;
}

GateActions AttemptGate::on_synced(MonoTime now) {
  GateActions out;
  if (!connected_) return out;
  if (hold_ && !hold_->announced && !hold_->closed) close(std::max(received_, hold_->open.epoch), out);
  consider_open(now, out);
  return out;
}

GateActions AttemptGate::on_new_generation(uint64_t generation) {
  GateActions out;
  if (!connected_ || generation == generation_) return out;
  generation_ = generation;
  acknowledge(out);
  return out;
}

GateActions AttemptGate::on_disconnected() {
  connected_ = false;
  waiting_.reset();
  return {};
}

GateActions AttemptGate::on_snapshot_applied(Epoch epoch, MonoTime now) {
  GateActions out;
  if (epoch <= applied_) return out;
  applied_ = epoch;
  // A commit requires the epoch that the attempt was opened in: a later epoch means that it is closed, and this
  // snapshot says how.
  if (hold_ && applied_ > hold_->open.epoch && !hold_->closed) close(applied_, out);
  release_if_decided(out);
  consider_open(now, out);
  return out;
}

GateActions AttemptGate::on_drained(uint64_t attempt) {
  GateActions out;
  if (!hold_ || hold_->open.attempt != attempt || hold_->drained) return out;
  hold_->drained = true;
  acknowledge(out);
  return out;
}

GateActions AttemptGate::on_tick(MonoTime now) {
  GateActions out;
  if (!hold_) return out;
  if (!hold_->closed && connected_ && now >= hold_->withdraw_at) {
    out.push_back(SendWithdraw{hold_->open.attempt});
    hold_->withdraw_at = now + Millis(std::max<uint32_t>(hold_->open.hold_bound_ms, 1));
  }
  if (!hold_->try_again && now >= hold_->since + Millis(hold_->open.hold_max_ms)) {
    hold_->try_again = true;
    out.push_back(StartTryAgain{hold_->open.attempt});
  }
  return out;
}

std::optional<MonoTime> AttemptGate::next_tick() const {
  if (!hold_) return std::nullopt;
  std::optional<MonoTime> at;
  if (!hold_->closed && connected_) at = hold_->withdraw_at;
  const MonoTime max_at = hold_->since + Millis(hold_->open.hold_max_ms);
  if (!hold_->try_again && (!at || max_at < *at)) at = max_at;
  return at;
}

std::optional<uint64_t> AttemptGate::held() const {
  if (!hold_) return std::nullopt;
  return hold_->open.attempt;
}

void AttemptGate::consider_open(MonoTime now, GateActions& out) {
  if (!waiting_ || hold_ || applied_ < waiting_->epoch) return;
  const AttemptOpen open = *std::exchange(waiting_, std::nullopt);
  // The move indexes mean nothing in a later snapshot, and the attempt can no longer commit.
  if (applied_ > open.epoch) return;
  start(open, now, out);
}

void AttemptGate::start(const AttemptOpen& open, MonoTime now, GateActions& out) {
  hold_ = Hold{};
  hold_->open = open;
  hold_->since = now;
  hold_->withdraw_at = now + Millis(open.hold_bound_ms);
  hold_->announced = true;
  out.push_back(StartHold{open.attempt, open.epoch, open.pool, open.moves});
}

void AttemptGate::close(Epoch decides, GateActions& out) {
  hold_->closed = true;
  hold_->decides = decides;
  closed_attempt_ = std::max(closed_attempt_, hold_->open.attempt);
  release_if_decided(out);
}

void AttemptGate::release_if_decided(GateActions& out) {
  if (!hold_ || !hold_->closed || applied_ < hold_->decides) return;
  out.push_back(Release{hold_->open.attempt});
  hold_.reset();
}

void AttemptGate::acknowledge(GateActions& out) const {
  if (connected_ && hold_ && hold_->drained && !hold_->closed && generation_ != 0) {
    out.push_back(SendAck{hold_->open.attempt, generation_});
  }
}

}  // namespace slipring::channel
