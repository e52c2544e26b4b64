#include "slipring/lab/sim/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/topology/codec.h"

namespace slipring::lab {

namespace {

constexpr int64_t kRouterTickUs = 20'000;
constexpr int64_t kRequestTimeoutUs = 400'000;
constexpr int64_t kConfirmRetryUs = 100'000;

std::string user_of(uint64_t generation) {
  return fmt::format("r{}", generation);
}

}  // namespace

Router::Router(World& w, std::string name, std::vector<std::unique_ptr<Server>>& servers, Checker& checker,
               Variant variant)
    : LinkEnd(w), name_(std::move(name)), servers_(servers), checker_(checker), variant_(variant) {}

void Router::on_start() {
  gate_ = channel::AttemptGate();
  // On its spare generation it serves by the snapshot on disk, where the servers accept that generation.
  if (disk_snapshot_ && disk_spare_ != 0) {
    generation_ = std::exchange(disk_spare_, 0);
    apply(disk_snapshot_);
  }
  post_after_us(1'000, [this] { tick(); });
}

void Router::on_crash() {
  if (link_) link_->cut();
  link_.reset();
  for (auto& [server, conn] : conns_) conn->close();
  conns_.clear();
  permits_asked_.clear();
  permitted_.clear();
  in_flight_.clear();
  hold_.reset();
  snapshot_.reset();
  routing_.reset();
  generation_ = 0;
  refused_generation_ = 0;
  acknowledged_ = Epoch{0};
  acknowledged_generation_ = 0;
}

void Router::tick() {
  post_after_us(kRouterTickUs, [this] { tick(); });
  if (!link_ && connect) {
    link_ = connect(*this);
    if (link_) {
      channel::Hello hello;
      hello.router_id = name_;
      hello.epoch = epoch();
      hello.generation = generation_;
      link_->to_controller(hello);
    }
  }
  if (link_ && world.now_ms() >= next_heartbeat_ms_) {
    next_heartbeat_ms_ = world.now_ms() + channel::kHeartbeatEveryMs;
    link_->to_controller(channel::RouterHeartbeat{});
  }
  perform(gate_.on_tick(world.mono()));
  if (variant_ == Variant::kReleaseByClock && hold_ && world.now_ms() > hold_->since_ms + 300) release();
}

void Router::on_message(const std::shared_ptr<Link>& link, const channel::Message& message) {
  if (link != link_) return;
  const MonoTime now = world.mono();
  if (const auto* welcome = std::get_if<channel::Welcome>(&message)) {
    const channel::GateActions actions = gate_.on_welcome(*welcome, now);
    if (actions.empty()) use_generation(welcome->active.generation, welcome->spare.generation);
    perform(actions);
  } else if (const auto* push = std::get_if<channel::SnapshotPush>(&message)) {
    Result<Snapshot> snapshot = decode_snapshot(push->snapshot);
    if (!snapshot) return world.violate("router: " + snapshot.error().to_string());
    perform(gate_.on_snapshot_received(snapshot->epoch));
    auto shared = std::make_shared<const Snapshot>(std::move(*snapshot));
    // The loop threads take it over one by one.
    post_after_us(static_cast<int64_t>(world.random.below(2'000)), [this, shared] { apply(shared); });
  } else if (const auto* open = std::get_if<channel::AttemptOpen>(&message)) {
    perform(gate_.on_attempt_open(*open, now));
  } else if (const auto* closed = std::get_if<channel::AttemptClosed>(&message)) {
    perform(gate_.on_attempt_closed(*closed, now));
  } else if (std::holds_alternative<channel::Synced>(message)) {
    perform(gate_.on_synced(now));
  } else if (const auto* fresh = std::get_if<channel::NewGeneration>(&message)) {
    use_generation(fresh->active.generation, fresh->spare.generation);
    perform(gate_.on_new_generation(fresh->active.generation));
  } else if (const auto* permit = std::get_if<channel::Permit>(&message)) {
    // After the topology that came before it: the loop threads take both over in order.
    post_after_us(2'000, [this, answer = *permit] { on_permit(answer); });
  } else if (std::holds_alternative<channel::Refused>(message)) {
    link->cut();
  }
}

void Router::on_link_down(const std::shared_ptr<Link>& link) {
  if (link != link_) return;
  link_.reset();
  acknowledged_generation_ = 0;  // the next controller is told anew
  refused_generation_ = 0;
  for (auto& [number, conn] : std::exchange(permits_asked_, {})) conn->refuse();
  perform(gate_.on_disconnected());
}

void Router::use_generation(uint64_t generation, uint64_t spare) {
  disk_spare_ = spare;
  if (generation == generation_) return acknowledge_epoch();
  generation_ = generation;
  acknowledged_generation_ = 0;
  // Connections of the old user: what they still carry is in flight until its end is confirmed.
  for (auto& [server, conn] : std::exchange(conns_, {})) {
    conn->close();
    confirm_end(server, conn->id(), conn->server().incarnation());
  }
  acknowledge_epoch();
}

void Router::apply(std::shared_ptr<const Snapshot> snapshot) {
  if (snapshot_ && snapshot->epoch <= snapshot_->epoch) return;
  auto routing = PoolRouting::compile(snapshot->pools.at(0));
  if (!routing) return world.violate("router: " + routing.error().to_string());
  snapshot_ = snapshot;
  disk_snapshot_ = snapshot;
  routing_ = *routing;
  perform(gate_.on_snapshot_applied(snapshot->epoch, world.mono()));
  acknowledge_epoch();
}

// Said when nothing that was sent under an older epoch or generation is in flight.
void Router::acknowledge_epoch() {
  if (!link_ || !snapshot_ || generation_ == 0) return;
  if (acknowledged_ == snapshot_->epoch && acknowledged_generation_ == generation_) return;
  for (const auto& [id, request] : in_flight_) {
    if (request.epoch < snapshot_->epoch) return;
  }
  acknowledged_ = snapshot_->epoch;
  acknowledged_generation_ = generation_;
  link_->to_controller(channel::EpochAck{acknowledged_, generation_});
}

void Router::perform(const channel::GateActions& actions) {
  for (const channel::GateAction& action : actions) {
    if (const auto* hold = std::get_if<channel::StartHold>(&action)) {
      world.cover("gate start_hold");
      start_hold(*hold);
    } else if (const auto* ack = std::get_if<channel::SendAck>(&action)) {
      world.cover("gate ack");
      world.trace(fmt::format("{} acknowledges attempt {} with r{}", name_, ack->attempt, ack->generation));
      if (link_) link_->to_controller(channel::AttemptAck{ack->attempt, ack->generation});
    } else if (const auto* withdraw = std::get_if<channel::SendWithdraw>(&action)) {
      world.cover("gate withdraw");
      if (link_) link_->to_controller(channel::WithdrawRequest{withdraw->attempt});
    } else if (std::holds_alternative<channel::StartTryAgain>(action)) {
      world.cover("gate try_again");
      if (!hold_) continue;
      hold_->try_again = true;
      for (Waiting& w : std::exchange(hold_->waiting, {})) w.answer(Answer{});
    } else if (std::holds_alternative<channel::Release>(action)) {
      world.cover("gate release");
      release();
    } else {
      world.cover("gate drop_connection");
      if (link_) link_->cut();
    }
  }
}

void Router::start_hold(const channel::StartHold& what) {
  world.trace(fmt::format("{} holds for attempt {}", name_, what.attempt));
  hold_ = Hold{what, {}, false, world.now_ms()};
  check_drained();
}

void Router::release() {
  if (!hold_) return;
  world.trace(fmt::format("{} releases attempt {}", name_, hold_->what.attempt));
  std::vector<Waiting> waiting = std::move(hold_->waiting);
  hold_.reset();
  for (Waiting& w : waiting) submit(std::move(w.command), std::move(w.answer));
}

bool Router::held(const std::string& key) const {
  if (!hold_) return false;
  const MoveIndex move = routing_->decide(key).move;
  return move != kNoMove && std::count(hold_->what.moves.begin(), hold_->what.moves.end(), move) > 0;
}

void Router::check_drained() {
  if (!hold_) return;
  for (const auto& [id, request] : in_flight_) {
    if (held(request.key)) return;
  }
  perform(gate_.on_drained(hold_->what.attempt));
}

void Router::submit(Command command, std::function<void(Answer)> answer) {
  if (!alive() || !routing_ || generation_ == 0) return answer(Answer{});
  if (held(command.key)) {
    if (hold_->try_again) return answer(Answer{});
    hold_->waiting.push_back({std::move(command), std::move(answer)});
    return;
  }
  const Decision decision = routing_->decide(command.key);
  const std::string& address = routing_->instances().at(decision.owner).address;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i]->address() == address) return send(i, std::move(command), std::move(answer));
  }
}

Conn& Router::conn(size_t server) {
  std::shared_ptr<Conn>& conn = conns_[server];
  if (!conn && servers_[server]->names()) {
    const auto opened = std::make_shared<std::weak_ptr<Conn>>();
    conn = Conn::open(*this, *servers_[server], user_of(generation_), [this, server, opened] {
      if (const auto named = opened->lock()) ask_permit(server, named);
    });
    *opened = conn;
    conn->on_closed = [this, server, opened] {
      if (const auto held = opened->lock()) on_conn_closed(server, held);
    };
  } else if (!conn) {
    conn = Conn::open(*this, *servers_[server], user_of(generation_));
    conn->on_closed = [this, server, weak = std::weak_ptr<Conn>(conn)] {
      if (const auto held = weak.lock()) on_conn_closed(server, held);
    };
  }
  return *conn;
}

void Router::ask_permit(size_t server, const std::shared_ptr<Conn>& conn) {
  if (variant_ == Variant::kPermitKept && permitted_.contains({server, generation_})) return conn->admit();
  if (!link_) return conn->refuse();
  permits_asked_[++last_permit_] = conn;
  link_->to_controller(channel::PermitRequest{last_permit_, generation_, servers_[server]->address(), ""});
}

void Router::on_permit(const channel::Permit& permit) {
  const auto at = permits_asked_.find(permit.number);
  if (at == permits_asked_.end()) return;
  const std::shared_ptr<Conn> conn = at->second;
  permits_asked_.erase(at);
  if (permit.answer == channel::PermitAnswer::kGranted) {
    world.cover("permit granted");
    permitted_.insert({conn->server().index(), generation_});
    return conn->admit();
  }
  const bool fenced = permit.answer == channel::PermitAnswer::kFenced;
  world.cover(fenced ? "permit fenced" : "permit wait");
  if (fenced) on_refused(*conn);
  conn->refuse();
}

void Router::send(size_t server, Command command, std::function<void(Answer)> answer) {
  Conn& to = conn(server);
  const uint64_t id = ++last_request_;
  in_flight_[id] = InFlight{command.key, snapshot_->epoch, to.id(), std::move(answer)};
  const auto result = std::make_shared<Answer>();
  to.call([this, command, result](Server& s) { execute(s, command, *result); },
          [this, id, result] { finish(id, *result); }, [this, id] { finish(id, Answer{}); });
  post_after_us(kRequestTimeoutUs, [this, id] { on_timeout(id); });
}

void Router::execute(Server& server, const Command& command, Answer& answer) {
  const std::optional<StoredValue> before = server.read(command.key);
  answer.ok = true;
  const auto write = [&](const StoredValue& value) {
    checker_.on_write(server, command.key, value);
    server.write(command.key, value);
  };
  switch (command.kind) {
    case Command::Kind::kGet:
      checker_.on_read(server, command.key, before);
      if (before) answer.value = before->value;
      break;
    case Command::Kind::kSet:
      write({command.value, 0});
      break;
    case Command::Kind::kAppend:
      checker_.on_read(server, command.key, before);
      write({(before ? before->value : "") + command.value, before ? before->expire_ms : 0});
      break;
    case Command::Kind::kExpire:
      checker_.on_read(server, command.key, before);
      if (before) write({before->value, world.clock().wall_ms() + command.ttl_ms});
      break;
    case Command::Kind::kDelete:
      checker_.on_write(server, command.key, std::nullopt);
      server.remove(command.key);
      break;
  }
}

void Router::finish(uint64_t request, Answer answer) {
  const auto at = in_flight_.find(request);
  if (at == in_flight_.end()) return;
  const std::function<void(Answer)> tell = std::move(at->second.answer);
  in_flight_.erase(at);
  if (tell) tell(std::move(answer));
  check_drained();
  acknowledge_epoch();
}

void Router::on_conn_closed(size_t server, const std::shared_ptr<Conn>& conn) {
  const auto at = conns_.find(server);
  if (at != conns_.end() && at->second == conn) conns_.erase(at);
  if (conn->refused()) on_refused(*conn);
}

void Router::on_refused(const Conn& conn) {
  if (!link_ || conn.user() != user_of(generation_) || refused_generation_ == generation_) return;
  // Fenced, or the server lost its users: never with this generation again.
  refused_generation_ = generation_;
  world.cover("router refused");
  link_->to_controller(channel::GenerationRequest{generation_});
}

// The server does not answer. The request may still run: its connection is closed, and until the server confirms that
// it is gone, everything on it counts as in flight.
void Router::on_timeout(uint64_t request) {
  const auto at = in_flight_.find(request);
  if (at == in_flight_.end() || !at->second.answer) return;
  world.cover("router timeout");
  const uint64_t conn_id = at->second.conn;
  for (auto& [id, other] : in_flight_) {
    if (other.conn != conn_id || !other.answer) continue;
    const std::function<void(Answer)> tell = std::exchange(other.answer, nullptr);
    tell(Answer{});
  }
  for (auto& [server, conn] : conns_) {
    if (conn->id() != conn_id) continue;
    const size_t index = server;
    const uint64_t incarnation = conn->server().incarnation();
    conn->close();
    conns_.erase(index);
    return confirm_end(index, conn_id, incarnation);
  }
}

void Router::confirm_end(size_t server, uint64_t conn_id, uint64_t incarnation) {
  const bool pending = std::any_of(in_flight_.begin(), in_flight_.end(),
                                   [&](const auto& entry) { return entry.second.conn == conn_id; });
  if (!pending) return;
  // Over a connection of its own, so that it does not stand behind what it is to end.
  const std::shared_ptr<Conn> killer = Conn::open(*this, *servers_[server], user_of(generation_));
  killer->call(
      [conn_id, incarnation](Server& s) {
        if (s.incarnation() == incarnation) s.kill_connection(conn_id);
      },
      [this, killer, conn_id] {
        killer->close();
        forget(conn_id);
      },
      [this, killer, server, conn_id, incarnation] {
        if (killer->refused()) on_refused(*killer);
        post_after_us(kConfirmRetryUs,
                      [this, server, conn_id, incarnation] { confirm_end(server, conn_id, incarnation); });
      });
}

void Router::forget(uint64_t conn_id) {
  for (auto at = in_flight_.begin(); at != in_flight_.end();) {
    if (at->second.conn != conn_id) {
      ++at;
      continue;
    }
    if (at->second.answer) at->second.answer(Answer{});
    at = in_flight_.erase(at);
  }
  check_drained();
  acknowledge_epoch();
}

}  // namespace slipring::lab
