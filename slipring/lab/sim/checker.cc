#include "slipring/lab/sim/checker.h"

#include <fmt/format.h>

#include <utility>

namespace slipring::lab {

void Checker::on_snapshot(const Snapshot& snapshot) {
  if (snapshot.epoch <= epoch_) return;
  auto routing = PoolRouting::compile(snapshot.pools.at(0));
  if (!routing) return world_.violate("snapshot: " + routing.error().to_string());
  const auto before = std::exchange(routing_, *routing);
  epoch_ = snapshot.epoch;
  if (before && !forced_.empty()) carry_out_forced(*before);
}

// Where ownership of a forced move has changed, the truth is what the new owner holds.
void Checker::carry_out_forced(const PoolRouting& before) {
  std::set<std::string> keys;
  for (const auto& [key, value] : truth_) keys.insert(key);
  for (const auto& server : servers_) {
    for (const auto& [key, value] : server->data()) keys.insert(key);
  }
  std::set<MoveIndex> done;
  for (const std::string& key : keys) {
    const Decision was = before.decide(key);
    const Server& now = *servers_[owner(key)];
    if (forced_.count(was.move) == 0 || before.instances().at(was.owner).address == now.address()) continue;
    done.insert(was.move);
    truth_.erase(key);
    const auto held = now.data().find(key);
    if (held != now.data().end()) truth_[key] = held->second;
  }
  for (const MoveIndex move : done) forced_.erase(move);
}

size_t Checker::owner(const std::string& key) const {
  const Decision decision = routing_->decide(key);
  const std::string& address = routing_->instances().at(decision.owner).address;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i]->address() == address) return i;
  }
  return servers_.size();
}

std::optional<StoredValue> Checker::truth(const std::string& key) const {
  const auto at = truth_.find(key);
  if (at == truth_.end()) return std::nullopt;
  if (at->second.expire_ms != 0 && at->second.expire_ms <= world_.clock().wall_ms()) return std::nullopt;
  return at->second;
}

bool Checker::same(const std::optional<StoredValue>& a, const std::optional<StoredValue>& b) const {
  return a == b;
}

void Checker::on_write(Server& server, const std::string& key, const std::optional<StoredValue>& value) {
  if (owner(key) != server.index()) {
    return world_.violate(fmt::format("{} executed a write of {} although {} owns it in epoch {}", server.address(),
                                      key, servers_[owner(key)]->address(), to_u64(epoch_)));
  }
  precious_.erase(key);
  if (value) {
    truth_[key] = *value;
  } else {
    truth_.erase(key);
  }
}

void Checker::on_read(Server& server, const std::string& key, const std::optional<StoredValue>& value) {
  if (same(value, truth(key))) return;
  world_.violate(fmt::format("{} answered a read of {} with \"{}\", the last write is \"{}\"", server.address(), key,
                             value ? value->value : "(nil)", truth(key) ? truth(key)->value : "(nil)"));
}

void Checker::on_mover_write(Server& server, const std::string& key, bool merge) {
  if (merge) return;
  if (owner(key) == server.index() && touched_.count(key) == 0) {
    world_.violate(fmt::format("the mover wrote {} on its owner {}", key, server.address()));
  }
}

void Checker::on_mover_remove(Server& server, const std::string& key) {
  if (owner(key) == server.index() && touched_.count(key) == 0) {
    return world_.violate(fmt::format("the mover removed {} from its owner {}", key, server.address()));
  }
  const auto lost = precious_.find(key);
  if (lost == precious_.end()) return;
  const auto held = server.data().find(key);
  if (held == server.data().end() || held->second != lost->second) return;
  for (const auto& other : servers_) {
    if (other.get() == &server) continue;
    const auto copy = other->data().find(key);
    if (copy != other->data().end()) return;
  }
  world_.violate(fmt::format("the mover removed the last copy of {} from {}", key, server.address()));
}

void Checker::on_restart(Server& server) {
  for (auto at = truth_.begin(); at != truth_.end();) {
    const std::string& key = at->first;
    const bool lost = owner(key) == server.index() && server.data().count(key) == 0;
    if (!lost) {
      ++at;
      continue;
    }
    if (truth(key)) precious_[key] = at->second;
    at = truth_.erase(at);
  }
}

void Checker::on_decided() {
  precious_.clear();
}

void Checker::on_forced(const rebalance::GroupRecord& group) {
  for (const rebalance::GroupMove& move : group.moves) forced_.insert(move.move);
}

void Checker::check_end(uint64_t strays) {
  for (const auto& server : servers_) {
    server->expire_some();
    for (const auto& [key, value] : server->data()) {
      if (owner(key) == server->index()) continue;
      if (strays == 0) world_.violate(fmt::format("{} still holds {}", server->address(), key));
    }
  }
  for (const auto& server : servers_) {
    for (const auto& [key, value] : server->data()) {
      if (owner(key) == server->index() && !same(value, truth(key))) {
        world_.violate(fmt::format("{} holds \"{}\" for {}, the last write is \"{}\"", server->address(), value.value,
                                   key, truth(key) ? truth(key)->value : "(nil)"));
      }
    }
  }
  for (const auto& [key, value] : truth_) {
    if (!truth(key)) continue;
    const Server& server = *servers_[owner(key)];
    if (server.data().count(key) == 0) world_.violate(fmt::format("{} lost {}", server.address(), key));
  }
}

}  // namespace slipring::lab
