// The leader's dealings with routers: enrolment, generations, users on the servers.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "slipring/base/log.h"
#include "slipring/control/leader.h"
#include "slipring/control/secret.h"

namespace slipring::control {
namespace {

// True also where the group says nothing about the server.
bool owner_is_settled(const GroupView& group, const std::string& address, const std::string& run_id) {
  const rebalance::GroupRecord& record = group.record;
  if (rebalance::is_final(record.stage)) return true;
  for (size_t peer = 0; peer < record.identities.size(); ++peer) {
    const bool owns = record.target_owns == (peer > 0);
    const std::string& here = peer == 0 ? record.source.address : record.moves[peer - 1].target.address;
    if (!owns || here != address) continue;
    if (record.merge) return false;  // what it lacks is not there yet
    if (record.identities[peer].run_id.empty()) continue;
    if (run_id != record.identities[peer].run_id) return false;
  }
  return true;
}

}  // namespace

void Leader::on_message(ConnectionId connection, channel::Message message) {
  if (auto* hello = std::get_if<channel::Hello>(&message)) {
    return router_tasks_.submit(
        [this, connection, h = std::move(*hello)]() mutable { enroll(connection, std::move(h)); });
  }
  const std::optional<RouterLink> link = links_.find(connection);
  if (const auto* wanted = std::get_if<channel::PermitRequest>(&message)) {
    // Whoever is not enrolled yet costs no look into the store.
    if (!link) return links_.permit(connection, *wanted, false);
    return permits_.submit([this, connection, request = *wanted] {
      links_.permit(connection, request, parts_.keeper.verify().has_value());
    });
  }
  if (!link) return parts_.hub.drop(connection);
  if (const auto* ack = std::get_if<channel::EpochAck>(&message)) {
    links_.epoch_acknowledged(connection, *ack);
    for (const auto& r : open_runners()) r->routers_changed();
  } else if (const auto* attempt = std::get_if<channel::AttemptAck>(&message)) {
    for (const auto& r : open_runners()) r->acknowledged(attempt->attempt, attempt->generation);
  } else if (const auto* withdraw = std::get_if<channel::WithdrawRequest>(&message)) {
    for (const auto& r : open_runners()) r->withdraw_asked(withdraw->attempt);
  } else if (const auto* request = std::get_if<channel::GenerationRequest>(&message)) {
    router_tasks_.submit([this, id = link->id, fenced = request->fenced_generation] { regenerate(id, fenced); });
  } else if (const auto* beat = std::get_if<channel::RouterHeartbeat>(&message)) {
    links_.heartbeat(connection, beat->stats);
  } else {
    parts_.hub.drop(connection);
  }
}

void Leader::on_gone(ConnectionId connection) {
  links_.gone(connection);
  for (const auto& r : open_runners()) r->routers_changed();
}

std::string Leader::refuse_reason(const channel::Hello& hello) const {
  if (hello.protocol != channel::kProtocolVersion) {
    return fmt::format("this controller speaks channel protocol {}, the router {}; run the same release",
                       channel::kProtocolVersion, hello.protocol);
  }
  if (!same_secret(hello.token, parts_.join_token)) return "wrong join token; use the controller's channel token file";
  if (links_.alive(hello.router_id)) {
    return fmt::format("a router {} is connected already; give each router an id of its own", hello.router_id);
  }
  return "";
}

void Leader::enroll(ConnectionId connection, channel::Hello hello) {
  if (!parts_.hub.heard(connection)) return;
  std::string reason = refuse_reason(hello);
  if (reason.empty()) {
    links_.expect(hello.router_id);
    for (const auto& r : open_runners()) r->routers_changed();
    wait_for_closed_attempt();
    if (ending_) return;
    Result<RouterRecord> record = fail(Code::kUnavailable, "");
    {
      const std::lock_guard lock(book_mutex_);
      record = book_.enroll(hello.router_id, hello.listen, hello.generation);
    }
    if (record) {
      sync_users_everywhere();
      const bool welcomed = links_.welcome(connection, *record, hello);
      links_.expect_no_longer(hello.router_id);
      log(LogLevel::kInfo, "control", "router {} {} generation {}", record->id,
          welcomed ? "joins on" : "left before it could join on", record->active.generation);
      for (const auto& r : open_runners()) r->routers_changed();
      return;
    }
    reason = record.error().message;
    links_.expect_no_longer(hello.router_id);
  }
  log(LogLevel::kWarn, "control", "router {} refused: {}", hello.router_id, reason);
  parts_.hub.send(connection, channel::Refused{reason, ""});
  parts_.hub.drop(connection);
}

// While an attempt is open no router user comes into being on its servers; and as long as a resumed plan has not read
// its records again nobody knows whether one is. An attempt that an earlier leader left is open until it is withdrawn:
// a router that hears before that it is synchronised would let go what it holds.
void Leader::wait_for_closed_attempt() {
  const auto settled = [&] {
    const auto runners = open_runners();
    return std::all_of(runners.begin(), runners.end(), [](const auto& r) {
      const PlanView view = r->view();
      return view.recovered && !view.open_attempt;
    });
  };
  while (!ending_ && !settled()) std::this_thread::sleep_for(Millis(5));
  std::unique_lock lock(mutex_);
  attempt_closed_.wait(lock, [&] { return ending_ || !attempt_; });
}

bool Leader::attempt_open_on(const std::string& address) {
  for (const auto& r : open_runners()) {
    const PlanView view = r->view();
    if (!view.open_attempt) continue;
    const rebalance::GroupRecord& group = view.groups[view.open_attempt->group].record;
    if (group.source.address == address) return true;
    for (const rebalance::GroupMove& move : group.moves) {
      if (move.target.address == address) return true;
    }
  }
  return false;
}

// A router was refused by a server. If its generation was fenced it gets a new one; otherwise the server has lost its
// users and gets them back.
void Leader::regenerate(const std::string& id, uint64_t refused) {
  wait_for_closed_attempt();
  if (ending_) return;
  Result<RouterRecord> record = fail(Code::kUnavailable, "");
  {
    const std::lock_guard lock(book_mutex_);
    const auto known = book_.routers().find(id);
    if (known == book_.routers().end()) return;
    const bool fenced = known->second.active.generation != refused;
    record = fenced ? book_.replenish(id, true) : known->second;
  }
  if (!record) return log(LogLevel::kWarn, "control", "router {}: {}", id, record.error().message);
  sync_users_everywhere();
  if (record->active.generation == refused) return;
  links_.expect_generation(id);
  links_.renew(*record);
  log(LogLevel::kInfo, "control", "router {} goes on with generation {}", id, record->active.generation);
  for (const auto& r : open_runners()) r->routers_changed();
}

// An attempt removes the spare generations; connected routers get new ones.
void Leader::refill_spares() {
  wait_for_closed_attempt();
  if (ending_) return;
  std::vector<RouterRecord> renewed;
  {
    const std::lock_guard lock(book_mutex_);
    for (const auto& [id, known] : std::map(book_.routers())) {
      if (known.spare.generation != 0 || known.active.generation == 0 || !links_.alive(id)) continue;
      if (auto record = book_.replenish(id, false)) renewed.push_back(std::move(*record));
    }
  }
  if (renewed.empty()) return;
  sync_users_everywhere();
  for (const RouterRecord& record : renewed) links_.renew(record);
  for (const auto& r : open_runners()) r->routers_changed();
}

// A server that owns keys of an open plan and is another process than the one whose state was copied serves nobody
// until the plan has settled that it holds what it should (rebalance/copy_machine.h).
bool Leader::may_serve(const std::string& address, const std::string& run_id) {
  if (!plans_known_) return false;
  for (const auto& r : open_runners()) {
    const PlanView view = r->view();
    if (!view.recovered) return false;
    for (const GroupView& group : view.groups) {
      if (!owner_is_settled(group, address, run_id)) return false;
    }
  }
  // Looked at last: a leader that ends has set it before it lets its plans go.
  return !ending_;
}

std::string Leader::prefix_of(const std::string& address) {
  const std::shared_ptr<const Snapshot> snapshot = current();
  for (const Pool& pool : snapshot->pools) {
    const auto has = [&](const Layout& layout) {
      return std::any_of(layout.nodes.begin(), layout.nodes.end(),
                         [&](const Node& n) { return n.instance.address == address; });
    };
    if (has(pool.layout) || (pool.plan && has(pool.plan->next))) return pool.key_prefix;
  }
  return "";
}

// The process is read first. So one that takes the place of a server while an attempt is open or after it is never let
// in by what held before: an attempt that opens after the look at it sees that process, or a later one, when it seals.
bool Leader::sync_users(const std::string& address) {
  const std::lock_guard lock(users_mutex_);
  const auto facts = access_.pulse(address);
  if (!facts) {
    log(LogLevel::kWarn, "control", "users: {}", facts.error().message);
    return false;
  }
  const std::string& run_id = facts->identity.run_id;
  if (attempt_open_on(address) || !may_serve(address, run_id)) return false;
  const Status synced = sync_process(address, run_id, prefix_of(address));
  if (!synced) log(LogLevel::kWarn, "control", "users: {}", synced.error().message);
  return synced.has_value();
}

// REQUIRES: users_mutex_ is held.
Status Leader::sync_process(const std::string& address, const std::string& run_id, std::string_view key_prefix) {
  // Read under the lock: an older list would take a newer router's user away.
  std::vector<channel::Credentials> live;
  uint64_t newest = 0;
  {
    const std::lock_guard book_lock(book_mutex_);
    live = book_.live();
    newest = book_.newest();
  }
  SLIPRING_TRY(access_.sync_router_users(address, run_id, live, newest, key_prefix));
  links_.admit(address, run_id);
  return {};
}

// A server that is seen for the first time or is another process than before; false: not yet, ask again.
bool Leader::greet(const std::string& address) {
  access_.forget(address);
  if (sync_users(address)) return true;
  if (attempt_open_on(address)) return false;
  const auto facts = access_.pulse(address);
  if (!facts || may_serve(address, facts->identity.run_id)) return false;
  // Users that the server has read from its files must not let routers in before the plan is settled.
  const std::lock_guard lock(users_mutex_);
  const Status closed = access_.shut_out_routers(address);
  if (!closed) log(LogLevel::kWarn, "control", "users: {}", closed.error().message);
  return false;
}

void Leader::sync_users_everywhere() {
  std::set<std::string> addresses;
  for (const Pool& pool : current()->pools) {
    for (const Node& node : pool.layout.nodes) addresses.insert(node.instance.address);
    if (!pool.plan) continue;
    for (const Node& node : pool.plan->next.nodes) addresses.insert(node.instance.address);
  }
  // A server that is down gets its users when it comes back (node_watch.h); waiting for it would keep routers out.
  std::vector<std::thread> threads;
  for (const std::string& address : addresses) {
    if (watch_ != nullptr && watch_->pulse(address).state == NodeState::kDown) continue;
    threads.emplace_back([this, address] { sync_users(address); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace slipring::control
