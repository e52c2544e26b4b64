#include "slipring/router/conductor.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/log.h"
#include "slipring/base/secret_file.h"
#include "slipring/topology/codec.h"
#include "slipring/topology/snapshot_file.h"

namespace slipring::router {
namespace {

constexpr Millis kAskAgain{1000};
// Disk work waits a little, so that it never lies between a commit and the release of what is held.
constexpr Millis kSaveDelay{300};

}  // namespace

Conductor::Conductor(const Options& options, Shared& shared, const Clock& clock)
    : options_(options),
      shared_(shared),
      loop_(clock),
      link_(loop_, *this, options.controllers, static_cast<uint64_t>(clock.now().time_since_epoch().count())),
      gate_tick_(loop_, [this] { perform(gate_.on_tick(loop_.now())); }),
      ask_again_(loop_, [this] { ask_for_generation(); }),
      save_soon_(loop_, [this] { save(); }) {}

Conductor::~Conductor() {
  stop();
}

Status Conductor::open() {
  if (!options_.token_file.empty()) {
    SLIPRING_ASSIGN(token_, read_secret_file(options_.token_file));
    while (token_.ends_with('\n') || token_.ends_with('\r')) token_.pop_back();
  }
  return loop_.open();
}

void Conductor::start(std::vector<std::unique_ptr<Worker>>& workers) {
  workers_ = &workers;
  loop_.post([this] { begin(); });
  thread_ = std::thread([this] { loop_.run(); });
}

void Conductor::stop() {
  if (!thread_.joinable()) return;
  loop_.post([this] {
    link_.stop();
    if (save_soon_.armed()) save();
  });
  loop_.stop();
  thread_.join();
}

void Conductor::begin() {
  if (options_.topology) {
    use(options_.topology->credentials);
    if (auto applied = apply(options_.topology->snapshot); !applied) {
      log(LogLevel::kError, "router", "topology: {}", applied.error().message);
    }
  }
  link_.start();
}

void Conductor::start_from_disk() {
  disk_tried_ = true;
  if (options_.dir.empty()) return;
  const std::string path = disk_state_path(options_.dir, options_.id);
  auto state = read_disk_state(path);
  if (!state) {
    const LogLevel level = state.error().code == Code::kNotFound ? LogLevel::kInfo : LogLevel::kError;
    return log(level, "router", "no topology from disk: {}", state.error().message);
  }
  if (state->spare.generation == 0) return log(LogLevel::kWarn, "router", "{}: holds no spare generation", path);
  log(LogLevel::kWarn, "router", "the controller is away: serving epoch {} of {} with the spare generation {}",
      to_u64(state->snapshot.epoch), path, state->spare.generation);
  use(state->spare);
  if (auto applied = apply(state->snapshot); !applied) {
    log(LogLevel::kError, "router", "{}: {}", path, applied.error().message);
  }
}

// --- the workers ---

std::function<void()> Conductor::when_all(std::function<void()> step) {
  auto left = std::make_shared<size_t>(workers_->size());
  return [this, left, step = std::move(step)] {
    loop_.post([left, step] {
      if (--*left == 0) step();
    });
  };
}

Status Conductor::apply(const Snapshot& snapshot) {
  const Pool* pool =
      options_.pool.empty() && snapshot.pools.size() == 1 ? &snapshot.pools[0] : snapshot.find_pool(options_.pool);
  if (pool == nullptr) {
    return fail(Code::kNotFound, fmt::format("pool \"{}\": not in epoch {}", options_.pool, to_u64(snapshot.epoch)));
  }
  SLIPRING_ASSIGN(auto routing, PoolRouting::compile(*pool));
  auto topology = std::make_shared<const Topology>(Topology{snapshot.epoch, std::move(routing)});
  snapshot_ = snapshot;
  ++unsettled_;
  const auto switched = when_all([this, epoch = snapshot.epoch] {
    shared_.epoch.store(to_u64(epoch));
    perform(gate_.on_snapshot_applied(epoch, loop_.now()));
  });
  const auto all_settled = when_all([this] { settled(); });
  for (const auto& worker : *workers_) worker->apply(topology, switched, all_settled);
  save_soon_.arm(kSaveDelay);
  return {};
}

void Conductor::use(const channel::Credentials& credentials) {
  if (credentials == active_) return;
  active_ = credentials;
  refused_generation_ = 0;
  ask_again_.cancel();
  shared_.generation.store(active_.generation);
  ++unsettled_;
  const auto all_settled = when_all([this] { settled(); });
  for (const auto& worker : *workers_) worker->use(active_, all_settled);
}

void Conductor::settled() {
  --unsettled_;
  acknowledge();
}

void Conductor::acknowledge() {
  if (unsettled_ > 0 || !snapshot_) return;
  link_.send(channel::EpochAck{snapshot_->epoch, active_.generation});
}

// --- the controller ---

channel::Hello Conductor::hello() {
  channel::Hello hello;
  hello.token = token_;
  hello.router_id = options_.id;
  hello.listen = shared_.listen;
  hello.epoch = snapshot_ ? snapshot_->epoch : Epoch{0};
  hello.generation = active_.generation;
  return hello;
}

channel::RouterStats Conductor::heartbeat() {
  channel::RouterStats stats;
  for (const auto& worker : *workers_) {
    const Stats& from = worker->stats();
    for (const Counter& commands : from.commands) stats.commands += commands.get();
    for (const Counter& errors : from.errors) stats.errors += errors.get();
    stats.held_now += from.held_now.get();
    stats.hold_last_us = std::max(stats.hold_last_us, from.held_longest_us.get());
    stats.clients += from.clients.get();
  }
  return stats;
}

void Conductor::on_message(const channel::Message& message) {
  std::visit([this](const auto& m) { on(m); }, message);
}

void Conductor::on_lost(const std::string& reason) {
  shared_.controller_connected.store(false);
  if (!away_said_) log(LogLevel::kWarn, "router", "{}: serving on with epoch {}", reason, shared_.epoch.load());
  away_said_ = true;
  perform(gate_.on_disconnected());
  if (!snapshot_ && !disk_tried_) start_from_disk();
}

void Conductor::on(const channel::Welcome& welcome) {
  log(LogLevel::kInfo, "router", "controller: welcomed by term {} with generation {}", welcome.term,
      welcome.active.generation);
  away_said_ = false;
  shared_.controller_connected.store(true);
  perform(gate_.on_welcome(welcome, loop_.now()));
  if (!link_.connected()) return;  // an older leader: nothing of it is believed
  welcome_ = welcome;
}

void Conductor::on(const channel::SnapshotPush& push) {
  auto snapshot = decode_snapshot(push.snapshot);
  Status ok = snapshot ? validate(*snapshot) : Status(fail(snapshot.error()));
  if (ok && snapshot_ && snapshot->epoch <= snapshot_->epoch) {
    perform(gate_.on_snapshot_received(snapshot->epoch));
    return take_up_generations();
  }
  if (ok) perform(gate_.on_snapshot_received(snapshot->epoch));
  if (ok) ok = apply(*snapshot);
  if (ok) return take_up_generations();
  log(LogLevel::kError, "router", "a snapshot is refused, the last one stays: {}", ok.error().message);
}

void Conductor::on(const channel::AttemptOpen& open) {
  perform(gate_.on_attempt_open(open, loop_.now()));
}
void Conductor::on(const channel::AttemptClosed& closed) {
  perform(gate_.on_attempt_closed(closed, loop_.now()));
}
// Generations that came with the welcome are taken up only when the current topology has been applied: before that they
// would let requests by an old one through, and so would a spare kept on disk beside an old snapshot.
void Conductor::take_up_generations() {
  if (!welcome_) return;
  spare_ = welcome_->spare;
  save_soon_.arm(kSaveDelay);
  use(welcome_->active);
  acknowledge();
  welcome_.reset();
}

void Conductor::on(const channel::Synced&) {
  perform(gate_.on_synced(loop_.now()));
}

void Conductor::on(const channel::NewGeneration& fresh) {
  spare_ = fresh.spare;
  save_soon_.arm(kSaveDelay);
  use(fresh.active);
  perform(gate_.on_new_generation(fresh.active.generation));
}

// --- attempts ---

void Conductor::perform(const channel::GateActions& actions) {
  for (const channel::GateAction& action : actions) {
    std::visit([this](const auto& a) { do_action(a); }, action);
  }
  gate_tick_.cancel();
  if (const auto at = gate_.next_tick()) gate_tick_.arm(std::max(Nanos(0), *at - loop_.now()));
}

void Conductor::do_action(const channel::StartHold& hold) {
  const auto done = when_all([this, attempt = hold.attempt] { perform(gate_.on_drained(attempt)); });
  const bool ours = options_.pool.empty() || hold.pool == options_.pool;
  for (const auto& worker : *workers_) worker->hold(ours ? hold.moves : std::vector<uint32_t>(), done);
}

void Conductor::do_action(const channel::SendAck& ack) {
  link_.send(channel::AttemptAck{ack.attempt, ack.generation});
}
void Conductor::do_action(const channel::SendWithdraw& withdraw) {
  link_.send(channel::WithdrawRequest{withdraw.attempt});
}
void Conductor::do_action(const channel::StartTryAgain&) {
  for (const auto& worker : *workers_) worker->try_again();
}
void Conductor::do_action(const channel::Release&) {
  for (const auto& worker : *workers_) worker->release();
}
void Conductor::do_action(const channel::DropConnection&) {
  link_.drop("controller: an older leader than before");
}

// --- fences ---

void Conductor::on_refused(uint64_t generation) {
  loop_.post([this, generation] {
    if (generation != active_.generation || generation == 0 || refused_generation_ == generation) return;
    refused_generation_ = generation;
    ask_for_generation();
  });
}

void Conductor::on_permit_wanted(channel::PermitRequest request) {
  loop_.post([this, request = std::move(request)] {
    if (!link_.send(request)) on(channel::Permit{request.number, channel::PermitAnswer::kWait});
  });
}

void Conductor::on(const channel::Permit& permit) {
  (*workers_)[permit.number % workers_->size()]->permit(permit.number, permit.answer);
}

void Conductor::ask_for_generation() {
  link_.send(channel::GenerationRequest{refused_generation_});
  ask_again_.arm(kAskAgain);
}

void Conductor::save() {
  if (options_.dir.empty() || !snapshot_ || options_.topology) return;
  const std::string path = disk_state_path(options_.dir, options_.id);
  if (auto written = write_disk_state(path, {*snapshot_, spare_}); !written) {
    log(LogLevel::kError, "router", "the last good state stays: {}", written.error().message);
  }
  if (shared_epoch_ == snapshot_->epoch) return;
  if (auto written = write_snapshot_file(shared_snapshot_path(options_.dir, options_.id), *snapshot_); !written) {
    log(LogLevel::kError, "router", "the last snapshot stays: {}", written.error().message);
    return;
  }
  shared_epoch_ = snapshot_->epoch;
}

}  // namespace slipring::router
