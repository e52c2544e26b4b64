#include "slipring/control/router_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/topology/codec.h"

namespace slipring::control {

void RouterLinks::publish(std::shared_ptr<const Snapshot> snapshot) {
  std::string encoded = encode_snapshot(*snapshot);
  const std::lock_guard lock(mutex_);
  current_ = std::move(snapshot);
  encoded_ = std::move(encoded);
  for (const auto& [connection, link] : links_) hub_.send(connection, channel::SnapshotPush{encoded_});
}

std::shared_ptr<const Snapshot> RouterLinks::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void RouterLinks::send_open(const RouterLink& link) const {
  const std::vector<uint64_t>& asked = open_->attempt.generations;
  if (!std::binary_search(asked.begin(), asked.end(), link.generation)) return;
  hub_.send(link.connection, channel::AttemptOpen{open_->attempt.number, open_->attempt.epoch, open_->pool,
                                                  open_->moves, open_->hold_bound_ms, open_->hold_max_ms});
}

void RouterLinks::expect(const std::string& id) {
  const std::lock_guard lock(mutex_);
  expected_.insert(id);
}

void RouterLinks::expect_generation(const std::string& id) {
  const std::lock_guard lock(mutex_);
  renewing_[id] = clock_.now() + Millis(channel::kHeartbeatTimeoutMs);
}

void RouterLinks::expect_no_longer(const std::string& id) {
  const std::lock_guard lock(mutex_);
  expected_.erase(id);
}

bool RouterLinks::welcome(ConnectionId connection, const RouterRecord& record, const channel::Hello& hello) {
  const std::lock_guard lock(mutex_);
  // The hub forgets a connection first and says so afterwards: whoever is still known here is taken out by gone().
  if (!hub_.heard(connection)) return false;
  std::erase_if(links_, [&](const auto& entry) {
    const bool earlier = entry.second.id == record.id && entry.first != connection;
    if (earlier) hub_.drop(entry.first);
    return earlier;
  });
  RouterLink& link = links_[connection];
  link.connection = connection;
  link.id = record.id;
  link.listen = record.listen;
  link.given = record.active.generation;
  link.generation = hello.generation == record.active.generation ? hello.generation : 0;
  hub_.welcome(connection, term_);
  hub_.send(connection, channel::Welcome{term_, record.active, record.spare});
  hub_.send(connection, channel::SnapshotPush{encoded_});
  if (open_) send_open(link);
  hub_.send(connection, channel::Synced{});
  return true;
}

void RouterLinks::gone(ConnectionId connection) {
  const std::lock_guard lock(mutex_);
  links_.erase(connection);
}

void RouterLinks::renew(const RouterRecord& record) {
  const std::lock_guard lock(mutex_);
  for (auto& [connection, link] : links_) {
    if (link.id != record.id) continue;
    link.given = record.active.generation;
    hub_.send(connection, channel::NewGeneration{record.active, record.spare});
  }
}

// ---- permits

void RouterLinks::admit(const std::string& address, const std::string& run_id) {
  const std::lock_guard lock(mutex_);
  permits_.admit(address, run_id);
}

void RouterLinks::bar(std::span<const uint64_t> keep, uint64_t newest) {
  const std::lock_guard lock(mutex_);
  permits_.bar(keep, newest);
}

void RouterLinks::disown(const std::string& id) {
  const std::lock_guard lock(mutex_);
  for (auto& [connection, link] : links_) {
    if (link.id == id) link.given = 0;
  }
}

void RouterLinks::permit(ConnectionId connection, const channel::PermitRequest& request, bool leads) {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(connection);
  auto answer = channel::PermitAnswer::kWait;
  if (leads && link != links_.end()) {
    answer = permits_.judge(request, link->second.given, open_ ? &open_->attempt.generations : nullptr);
  }
  hub_.send(connection, channel::Permit{request.number, answer});
}

// ---- attempts

void RouterLinks::open_attempt(const rebalance::AnnounceOpen& open) {
  const std::lock_guard lock(mutex_);
  open_ = open;
  for (const auto& [connection, link] : links_) send_open(link);
}

void RouterLinks::close_attempt(const rebalance::AnnounceClosed& closed) {
  const std::lock_guard lock(mutex_);
  if (open_ && open_->attempt.number == closed.attempt) open_.reset();
  const auto outcome = closed.committed ? channel::AttemptOutcome::kCommitted : channel::AttemptOutcome::kWithdrawn;
  for (const auto& [connection, link] : links_) {
    hub_.send(connection, channel::AttemptClosed{closed.attempt, outcome, closed.epoch});
  }
}

bool RouterLinks::epoch_acknowledged(ConnectionId connection, const channel::EpochAck& ack) {
  const std::lock_guard lock(mutex_);
  const auto it = links_.find(connection);
  if (it == links_.end()) return false;
  it->second.epoch = ack.epoch;
  it->second.generation = ack.generation;
  return true;
}

bool RouterLinks::heartbeat(ConnectionId connection, const channel::RouterStats& stats) {
  const std::lock_guard lock(mutex_);
  const auto it = links_.find(connection);
  if (it == links_.end()) return false;
  it->second.stats = stats;
  return true;
}

const RouterLink* RouterLinks::by_id(const std::string& id) const {
  for (const auto& [connection, link] : links_) {
    if (link.id == id) return &link;
  }
  return nullptr;
}

bool RouterLinks::is_alive(const RouterLink& link) const {
  const auto heard = hub_.heard(link.connection);
  return heard && clock_.now() - *heard < Millis(channel::kHeartbeatTimeoutMs);
}

std::optional<RouterLink> RouterLinks::find(ConnectionId connection) const {
  const std::lock_guard lock(mutex_);
  const auto it = links_.find(connection);
  return it == links_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<RouterLink> RouterLinks::alive(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const RouterLink* link = by_id(id);
  return link != nullptr && is_alive(*link) ? std::optional(*link) : std::nullopt;
}

std::optional<int64_t> RouterLinks::silent_ms(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const RouterLink* link = by_id(id);
  const auto heard = link == nullptr ? std::nullopt : hub_.heard(link->connection);
  if (!heard) return std::nullopt;
  return std::chrono::duration_cast<Millis>(clock_.now() - *heard).count();
}

std::string RouterLinks::describe(const std::string& id) const {
  const std::optional<int64_t> silent = silent_ms(id);
  if (!silent) return "it is not connected";
  const std::lock_guard lock(mutex_);
  const RouterLink* link = by_id(id);
  if (link == nullptr) return "it is not connected";
  return fmt::format("it serves epoch {} by generation {}, last heard of {} ms ago", to_u64(link->epoch),
                     link->generation, *silent);
}

std::vector<rebalance::RouterView> RouterLinks::views(const std::map<std::string, RouterRecord>& routers) const {
  const std::lock_guard lock(mutex_);
  std::vector<rebalance::RouterView> views;
  for (const auto& [id, record] : routers) {
    const RouterLink* link = by_id(id);
    const bool alive = link != nullptr && is_alive(*link);
    // One that lives and was fenced is about to ask for a generation.
    if (alive && record.active.generation == 0) views.push_back({0, id, true, Epoch{0}});
    const auto renewing = renewing_.find(id);
    const bool renewed = alive && renewing != renewing_.end() && clock_.now() < renewing->second;
    for (const channel::Credentials* c : {&record.active, &record.spare}) {
      if (c->generation == 0) continue;
      const bool serves = alive && link->generation == c->generation;
      const bool comes = c == &record.active && (expected_.contains(id) || renewed || clock_.now() < patient_until_);
      views.push_back({c->generation, id, serves || comes, serves ? link->epoch : Epoch{0}});
    }
  }
  return views;
}

}  // namespace slipring::control
