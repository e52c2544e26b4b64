#include "slipring/lab/sim/mover.h"

#include <fmt/format.h>

#include <utility>

namespace slipring::lab {

using namespace rebalance;  // the whole file speaks its language

namespace {

constexpr size_t kScanKeys = 6;
constexpr int64_t kLagUsMax = 300;
constexpr int64_t kBusyUsMax = 3'000'000;
constexpr size_t kKeyBytesMax = 60;  // of a value: larger ones are too big to copy

DigestSum digest_of(const StoredValue& value) {
  return {key_hash(value.value), static_cast<uint64_t>(value.expire_ms)};
}

KeyEntry entry_of(const std::optional<StoredValue>& value) {
  KeyEntry entry;
  if (!value) return entry;
  entry.state = value->value.size() > kKeyBytesMax ? KeyState::kTooBig : KeyState::kPresent;
  entry.digest = digest_of(*value);
  entry.expire_ms = value->expire_ms;
  entry.bytes = value->value.size();
  return entry;
}

const char* name_of(const CopyAction& action) {
  constexpr const char* kNames[] = {"open_feed",  "barrier",      "scan",         "read_keys",     "write_keys",
                                    "drop_batch", "compare_keys", "delete_keys",  "feeds_open",    "copied_once",
                                    "ready",      "not_ready",    "sealed",       "seal_broken",   "flipped",
                                    "swept",      "alarm",        "copy_stopped", "owner_changed", "peer_trouble"};
  return kNames[action.index()];
}

}  // namespace

Mover::Mover(Environment env, CopySpec spec, const GroupRecord& group, std::shared_ptr<const PoolRouting> routing)
    : env_(std::move(env)), machine_(std::move(spec)), placement_(std::make_shared<Placement>()) {
  placement_->routing = std::move(routing);
  const auto add_peer = [&](const Instance& instance) {
    for (const auto& server : env_.servers) {
      if (server->address() != instance.address) continue;
      peers_.push_back(std::make_shared<Peer>());
      peers_.back()->server = server.get();
      peers_.back()->blind = env_.variant == Variant::kAbsenceUnchecked || env_.variant == Variant::kEagerCleanup;
    }
  };
  add_peer(group.source);
  for (const GroupMove& move : group.moves) {
    add_peer(move.target);
    placement_->moves.push_back(move.move);
  }
}

Mover::~Mover() {
  close();
}

std::vector<std::shared_ptr<Conn>> Mover::close() {
  std::vector<std::shared_ptr<Conn>> closed;
  closed_ = true;
  for (const auto& peer : peers_) {
    for (const auto& conn : {peer->conn, peer->feed}) {
      if (!conn) continue;
      conn->close();
      closed.push_back(conn);
    }
    peer->conn.reset();
    peer->feed.reset();
  }
  return closed;
}

std::string Mover::describe() const {
  const CopyProgress p = machine_.progress();
  return fmt::format("{} ready {} dirty {} rounds {}", copy_phase_name(machine_.phase()), p.ready, p.dirty, p.rounds);
}

Now Mover::now() const {
  return {env_.owner.world.mono(), env_.owner.world.clock().wall_ms()};
}

Task Mover::guarded(std::function<void(Mover&)> task) {
  return [weak = weak_from_this(), task = std::move(task)] {
    const auto self = weak.lock();
    if (self && !self->closed_) task(*self);
  };
}

void Mover::start() {
  if (closed_) return;
  started_ = true;
  perform(machine_.start(now()));
  for (const auto& [command, attempt] : std::exchange(early_, {})) take(command, attempt);
}

// Threads of one process wait for each other for moments, on a busy machine for longer than any deadline.
int64_t Mover::lag_us(int64_t& last_us) {
  World& world = env_.owner.world;
  const bool busy = world.random.below(40) == 0;
  const int64_t lag = static_cast<int64_t>(world.random.below(busy ? kBusyUsMax : kLagUsMax));
  last_us = std::max(last_us + 1, world.now_us() + lag);
  return last_us - world.now_us();
}

void Mover::command(CopyCommand command, uint64_t attempt) {
  env_.owner.post_after_us(lag_us(told_at_us_), guarded([command, attempt](Mover& self) {
                             self.take(command, attempt);
                           }));
}

void Mover::take(CopyCommand command, uint64_t attempt) {
  if (!started_) {
    early_.emplace_back(command, attempt);
  } else {
    perform(machine_.command(command, now(), attempt));
  }
}

void Mover::report(CopyAction action) {
  env_.owner.post_after_us(lag_us(reported_at_us_), guarded([action = std::move(action)](Mover& self) {
                             self.env_.report(action);
                           }));
}

void Mover::event(CopyEvent event) {
  perform(machine_.on(std::move(event), now()));
}

void Mover::perform(CopyActions actions) {
  if (machine_.phase() != last_phase_) {
    last_phase_ = machine_.phase();
    env_.owner.world.cover(fmt::format("copy phase {}", copy_phase_name(last_phase_)));
  }
  for (CopyAction& action : actions) todo_.push_back(std::move(action));
  if (!performing_) perform_queued();
}

// In order: what an action brings about stands behind what was there before.
void Mover::perform_queued() {
  performing_ = true;
  while (!todo_.empty() && !closed_ && env_.owner.alive()) {
    World& world = env_.owner.world;
    if (env_.fault_point) env_.fault_point(name_of(todo_.front()));
    if (closed_ || !env_.owner.alive()) break;
    if (env_.owner.stopped()) {
      // Stopped in the middle of its work: it goes on from here when it is woken.
      env_.owner.post_after_us(0, guarded([](Mover& self) { self.perform_queued(); }));
      return;
    }
    const CopyAction action = std::move(todo_.front());
    todo_.pop_front();
    world.cover(fmt::format("copy {}", name_of(action)));
    perform_one(action);
  }
  performing_ = false;
  schedule_wake();
}

void Mover::schedule_wake() {
  const auto at = machine_.next_wake();
  if (!at || closed_) return;
  World& world = env_.owner.world;
  const int64_t at_us = std::max<int64_t>(at->time_since_epoch().count() / 1000 + 1, world.now_us() + 1);
  if (wake_at_us_ > world.now_us() && wake_at_us_ <= at_us) return;
  wake_at_us_ = at_us;
  env_.owner.post_after_us(at_us - world.now_us(), guarded([](Mover& self) {
                             self.wake_at_us_ = 0;
                             self.event(CopyTick{});
                           }));
}

void Mover::perform_one(const CopyAction& action) {
  if (const auto* a = std::get_if<OpenFeed>(&action)) return open_feed(*a);
  if (const auto* a = std::get_if<Barrier>(&action)) return barrier(*a);
  if (const auto* a = std::get_if<Scan>(&action)) return scan(*a);
  if (const auto* a = std::get_if<ReadKeys>(&action)) return read(*a);
  if (const auto* a = std::get_if<WriteKeys>(&action)) return write(*a);
  if (const auto* a = std::get_if<CompareKeys>(&action)) return compare(*a);
  if (const auto* a = std::get_if<DeleteKeys>(&action)) return remove(*a);
  if (const auto* a = std::get_if<DropBatch>(&action)) {
    payloads_.erase(a->batch);
    return;
  }
  if (const auto* a = std::get_if<Alarm>(&action)) env_.owner.world.trace(fmt::format("alarm: {} {}", a->key, a->what));
  report(action);
}

Conn& Mover::conn(rebalance::Peer p) {
  Peer& peer = *peers_[p];
  if (!peer.conn || !peer.conn->usable()) {
    peer.conn = env_.connect(*peer.server, fmt::format("mover-{}", env_.term));
  }
  return *peer.conn;
}

ServerIdentity Mover::Peer::identity(const Server& s) {
  if (!blind) return s.identity();
  if (first_identity.run_id.empty()) first_identity = s.identity();
  return first_identity;
}

MoveInGroup Mover::Placement::move_of(const std::string& key) const {
  const MoveIndex move = routing->decide(key).move;
  for (MoveInGroup m = 0; m < moves.size(); ++m) {
    if (moves[m] == move) return m;
  }
  return UINT32_MAX;
}

// A lost feed of these is opened again as if nothing had happened in between.
bool Mover::naive_about(rebalance::Peer p) const {
  return env_.variant == Variant::kNaiveReconnect || (env_.variant == Variant::kEagerCleanup && p != kSource);
}

void Mover::open_feed(const OpenFeed& a) {
  const std::shared_ptr<Peer> peer = peers_[a.peer];
  if (peer->feed) peer->feed->close();
  peer->feed.reset();
  subscribe(a.peer, false);
}

void Mover::subscribe(rebalance::Peer p, bool quietly) {
  const std::shared_ptr<Peer> peer = peers_[p];
  const uint64_t number = ++peer->feed_number;
  peer->feed = Conn::open(env_.owner, *peer->server, fmt::format("mover-{}", env_.term));
  const auto identity_then = std::make_shared<ServerIdentity>();
  const auto tell = [weak = weak_from_this(), p, number](const std::string& key, ChangeKind kind) {
    const auto self = weak.lock();
    if (!self || self->closed_ || self->peers_[p]->feed_number != number) return;
    const MoveInGroup move = self->placement_->move_of(key);
    if (move == UINT32_MAX || (p != kSource && p != 1 + move)) return;
    FeedChanges changes;
    changes.peer = p;
    changes.changes.push_back({move, kind, key});
    self->event(std::move(changes));
  };
  const auto opened = std::make_shared<bool>(false);
  peer->feed->on_closed = guarded([p, number, opened](Mover& self) {
    if (!*opened || self.peers_[p]->feed_number != number) return;
    self.env_.owner.world.cover("feed lost");
    if (self.naive_about(p)) {
      const int64_t pause_us = static_cast<int64_t>(self.env_.owner.world.random.below(400'000));
      self.env_.owner.post_after_us(pause_us, self.guarded([p](Mover& again) { again.subscribe(p, true); }));
      return;
    }
    self.event(FeedLost{p, "connection closed"});
  });
  peer->feed->call(
      [conn = peer->feed, tell, identity_then, peer](Server& s) {
        s.add_feed(conn, tell);
        *identity_then = peer->identity(s);
      },
      guarded([p, identity_then, quietly, opened](Mover& self) {
        *opened = true;
        if (!quietly) self.event(FeedOpened{p, *identity_then});
      }),
      guarded([p, quietly](Mover& self) {
        if (!quietly) return self.event(FeedFailed{p, false, "cannot connect"});
        self.env_.owner.post_after_us(100'000, self.guarded([p](Mover& again) { again.subscribe(p, true); }));
      }));
}

void Mover::barrier(const Barrier& a) {
  const std::shared_ptr<Peer> peer = peers_[a.peer];
  const auto identity_then = std::make_shared<ServerIdentity>();
  const Task failed = guarded([id = a.id](Mover& self) { self.event(BarrierFailed{id}); });
  if (!peer->feed) return env_.owner.post_after_us(0, failed);
  // Its reply comes in the same stream as the changes before it.
  peer->feed->call([identity_then, peer](Server& s) { *identity_then = peer->identity(s); },
                   guarded([id = a.id, identity_then](Mover& self) {
                     self.event(BarrierReached{id, *identity_then});
                   }),
                   failed);
}

void Mover::scan(const Scan& a) {
  const auto result = std::make_shared<Scanned>();
  result->id = a.id;
  result->keys.resize(placement_->moves.size());
  const std::string after = a.cursor == 0 ? "" : cursors_[a.cursor];
  cursors_.erase(a.cursor);
  const uint64_t next = ++last_cursor_;
  const auto last = std::make_shared<std::string>();
  conn(a.peer).call(
      [placement = placement_, result, after, next, last, peer = a.peer](Server& s) {
        size_t seen = 0;
        for (auto at = s.data().upper_bound(after); at != s.data().end(); ++at) {
          if (seen++ == kScanKeys) {
            result->next_cursor = next;
            break;
          }
          *last = at->first;
          const MoveInGroup move = placement->move_of(at->first);
          if (move != UINT32_MAX && (peer == kSource || peer == 1 + move)) result->keys[move].push(at->first);
        }
      },
      guarded([result, next, last](Mover& self) {
        self.cursors_[next] = *last;
        self.event(std::move(*result));
      }),
      guarded([id = a.id](Mover& self) {
        self.event(ScanFailed{id, "connection lost"});
      }));
}

void Mover::read(const ReadKeys& a) {
  const auto result = std::make_shared<KeysRead>();
  const auto payloads = std::make_shared<Payloads>();
  result->batch = a.batch;
  const std::shared_ptr<Peer> peer = peers_[a.peer];
  conn(a.peer).call(
      [result, payloads, keys = a.keys, peer](Server& s) {
        for (size_t i = 0; i < keys.size(); ++i) {
          payloads->push_back(s.read(std::string(keys[i])));
          result->entries.push_back(entry_of(payloads->back()));
        }
        result->identity = peer->identity(s);
      },
      guarded([result, payloads, keys = a.keys, keep = a.payload](Mover& self) {
        if (keep) {
          self.payloads_[result->batch] = *payloads;
          self.payload_keys_[result->batch] = keys;
        }
        self.event(std::move(*result));
      }),
      guarded([batch = a.batch, p = a.peer](Mover& self) {
        self.event(BatchFailed{batch, p, false, "connection lost"});
      }));
}

void Mover::write(const WriteKeys& a) {
  const auto result = std::make_shared<KeysWritten>();
  result->batch = a.batch;
  const Payloads payloads = std::move(payloads_[a.batch]);
  const KeyList keys = payload_keys_[a.batch];
  payloads_.erase(a.batch);
  payload_keys_.erase(a.batch);
  conn(a.peer).call(
      [&checker = env_.checker, result, a, payloads, keys](Server& s) {
        for (const uint32_t i : a.restore) {
          const std::string key(keys[i]);
          const bool leave = a.if_absent && s.read(key);
          if (!leave) checker.on_mover_write(s, key, a.if_absent);
          const bool done = !leave && s.restore(key, *payloads[i]);
          if (done && a.if_absent) checker.on_merged(key, *payloads[i]);
          result->restored.push_back(done ? WriteEffect::kRestored : WriteEffect::kNone);
        }
        for (const uint32_t i : a.remove) {
          const std::string key(keys[i]);
          checker.on_mover_remove(s, key);
          result->removed.push_back(s.remove(key) ? WriteEffect::kRemoved : WriteEffect::kNone);
        }
      },
      guarded([result](Mover& self) { self.event(std::move(*result)); }),
      guarded([batch = a.batch, p = a.peer](Mover& self) {
        self.event(BatchFailed{batch, p, false, "connection lost"});
      }));
}

void Mover::compare(const CompareKeys& a) {
  const auto result = std::make_shared<KeysCompared>();
  result->batch = a.batch;
  const std::shared_ptr<Peer> peer = peers_[a.owner];
  if (env_.variant == Variant::kEagerCleanup && machine_.phase() == CopyPhase::kSweeping) {
    result->owner_identity = peer->first_identity;
    return compare_other(a, result);
  }
  conn(a.owner).call(
      [result, keys = a.keys, peer](Server& s) {
        for (size_t i = 0; i < keys.size(); ++i) result->owner.push_back(entry_of(s.read(std::string(keys[i]))));
        result->owner_identity = peer->identity(s);
      },
      guarded([a, result](Mover& self) { self.compare_other(a, result); }),
      guarded([batch = a.batch, p = a.owner](Mover& self) {
        self.event(BatchFailed{batch, p, false, "connection lost"});
      }));
}

void Mover::compare_other(const CompareKeys& a, std::shared_ptr<KeysCompared> result) {
  const std::shared_ptr<Peer> peer = peers_[a.other];
  const bool eager = env_.variant == Variant::kEagerCleanup && machine_.phase() == CopyPhase::kSweeping;
  conn(a.other).call(
      [result, keys = a.keys, peer, eager](Server& s) {
        for (size_t i = 0; i < keys.size(); ++i) result->other.push_back(entry_of(s.read(std::string(keys[i]))));
        result->other_identity = peer->identity(s);
        if (eager) result->owner = result->other;
      },
      guarded([result](Mover& self) { self.event(std::move(*result)); }),
      guarded([batch = a.batch, p = a.other](Mover& self) {
        self.event(BatchFailed{batch, p, false, "connection lost"});
      }));
}

void Mover::remove(const DeleteKeys& a) {
  const auto result = std::make_shared<KeysDeleted>();
  result->batch = a.batch;
  conn(a.peer).call(
      [&checker = env_.checker, result, keys = a.keys](Server& s) {
        for (size_t i = 0; i < keys.size(); ++i) {
          const std::string key(keys[i]);
          checker.on_mover_remove(s, key);
          result->effects.push_back(s.remove(key) ? WriteEffect::kRemoved : WriteEffect::kNone);
        }
      },
      guarded([result](Mover& self) { self.event(std::move(*result)); }),
      guarded([batch = a.batch, p = a.peer](Mover& self) {
        self.event(BatchFailed{batch, p, false, "connection lost"});
      }));
}

}  // namespace slipring::lab
