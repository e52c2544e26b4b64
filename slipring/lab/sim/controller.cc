// Leadership, the metadata store, and the plan machine's actions; routers' sessions are in sessions.cc.
#include "slipring/lab/sim/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/topology/codec.h"

namespace slipring::lab {

using namespace rebalance;  // the whole file speaks its language

namespace {

constexpr int64_t kControllerTickUs = 50'000;
constexpr int64_t kLeaseMs = 2'000;
constexpr int64_t kRenewMs = 500;
constexpr int64_t kStoreTimeoutUs = 300'000;
constexpr const char* kLeader = "leader";

const char* name_of(const PlanAction& action) {
  constexpr const char* kNames[] = {
      "store_read",    "store_commit",    "fence_terms", "fence_routers", "list_router_users", "ensure_persisted",
      "announce_open", "announce_closed", "publish",     "start_copy",    "tell_copy",         "stop_copy",
      "note"};
  return kNames[action.index()];
}

// "mover-7" -> 7; 0: not of this kind.
uint64_t term_of(const std::string& user, const std::string& kind) {
  return user.rfind(kind, 0) == 0 ? std::stoull(user.substr(kind.size())) : 0;
}

}  // namespace

Controller::Controller(World& w, std::string name, MemoryStore& store, std::vector<std::unique_ptr<Server>>& servers,
                       Checker& checker, Variant variant)
    : LinkEnd(w), name_(std::move(name)), store_(store), servers_(servers), checker_(checker), variant_(variant) {}

void Controller::on_start() {
  post_after_us(1'000 + static_cast<int64_t>(world.random.below(20'000)), [this] { tick(); });
}

void Controller::on_crash() {
  step_down();
}

void Controller::tick() {
  post_after_us(kControllerTickUs, [this] { tick(); });
  if (leading_ && world.now_ms() > lease_until_ms_) step_down();
  if (world.now_ms() >= next_lease_ms_ && !store_busy_) renew();
  if (!leading()) return;
  serve_sessions();
  tell_routers();
}

// ---- leadership

void Controller::renew() {
  next_lease_ms_ = world.now_ms() + (leading_ ? kRenewMs : 300);
  store_busy_ = true;
  const auto result = std::make_shared<Result<Lease>>(fail(Code::kUnavailable, "no answer"));
  const bool renewing = leading_;
  const int64_t sent_ms = world.now_ms();
  // Another process is another holder, even on the same machine: a term must never have two of them.
  const std::string holder = fmt::format("{}/{}", name_, incarnation());
  store_call(
      [result, renewing, holder, held = lease_](MemoryStore& store) {
        *result = renewing ? store.renew_lease(kLeader, held, Millis(kLeaseMs))
                           : store.acquire_lease(kLeader, holder, Millis(kLeaseMs));
      },
      [this, result, renewing, sent_ms](bool, bool) {
        store_busy_ = false;
        if (renewing != leading_) return;
        if (*result) {
          lease_until_ms_ = sent_ms + kLeaseMs;
          if (!renewing) return lead(**result);
          lease_ = **result;
        } else if (renewing && (*result).error().code == Code::kAborted) {
          step_down();
        }
      });
}

void Controller::lead(const Lease& lease) {
  leading_ = true;
  lease_ = lease;
  ++leadership_;
  world.trace(fmt::format("{} leads with term {}", name_, lease.term));
  world.cover("controller leads");
  load();
}

void Controller::step_down() {
  if (leading_) world.trace(name_ + " leads no more");
  leading_ = false;
  loaded_ = false;
  store_busy_ = false;
  ++leadership_;
  for (auto& [group, mover] : movers_) mover->close();
  movers_.clear();
  ending_.clear();
  machine_.reset();
  todo_.clear();
  performing_ = false;
  announced_.reset();
  for (auto& [index, conn] : controls_) conn->close();
  controls_.clear();
  for (Session& session : std::exchange(sessions_, {})) session.link->cut();
  generations_.clear();
  permits_ = channel::Permits();
  told_.clear();
  snapshot_.reset();
  wake_at_us_ = 0;
}

void Controller::load() {
  const auto records = std::make_shared<std::vector<Record>>();
  const auto whole = std::make_shared<bool>(false);
  store_call(
      [records, whole, plan = pool_plan](MemoryStore& store) {
        for (const std::string& prefix :
             {std::string(kEpochKey), plan_key(plan), group_prefix(plan), std::string("gen/")}) {
          const auto found = store.list(prefix);
          if (!found) return;
          records->insert(records->end(), found->begin(), found->end());
        }
        *whole = true;
      },
      [this, records, whole](bool, bool) {
        if (!leading_) return;
        if (*whole) return on_loaded(*records);
        post_after_us(100'000, [this, l = leadership_] {
          if (l == leadership_) load();
        });
      });
}

void Controller::on_loaded(const std::vector<Record>& records) {
  Revised<PlanRecord> plan;
  std::vector<Revised<GroupRecord>> groups;
  for (const Record& record : records) {
    if (record.key == kEpochKey) {
      auto snapshot = decode_snapshot(record.value);
      if (!snapshot) return world.violate(snapshot.error().to_string());
      snapshot_ = std::make_shared<const Snapshot>(std::move(*snapshot));
    } else if (record.key.rfind("plan/", 0) == 0) {
      auto decoded = decode_plan(record.value);
      if (!decoded) return world.violate(decoded.error().to_string());
      plan = {std::move(*decoded), record.revision};
    } else if (record.key.rfind("group/", 0) == 0) {
      auto decoded = decode_group(record.value);
      if (!decoded) return world.violate(decoded.error().to_string());
      groups.push_back({std::move(*decoded), record.revision});
    } else {
      generations_[std::stoull(record.key.substr(4))].router = record.value;
    }
  }
  loaded_ = true;
  machine_ = std::make_unique<PlanMachine>(std::move(plan), std::move(groups));
  perform(machine_->start({world.mono(), world.clock().wall_ms()}));
}

std::string Controller::describe() const {
  std::string text = fmt::format("{}:", name_);
  for (uint32_t g = 0; machine_ && g < machine_->group_count(); ++g) {
    const GroupRecord& r = machine_->group(g);
    const auto mover = movers_.find(g);
    text +=
        fmt::format(" group {} {} owner {} copy {} ({})", g, stage_name(r.stage), r.target_owns ? "target" : "source",
                    mover == movers_.end() ? "none" : mover->second->describe(), r.reason);
  }
  return text;
}

// ---- the metadata store

void Controller::store_call(std::function<void(MemoryStore&)> execute, std::function<void(bool, bool)> then) {
  const StoreFault fault = store_fault;
  const int64_t there = world.delay_us();
  const int64_t back = world.delay_us();
  const auto answered = std::make_shared<bool>(false);
  const uint64_t of = leadership_;
  const auto reply = [this, answered, then, of](bool in_time, bool down) {
    if (std::exchange(*answered, true) || of != leadership_) return;
    then(in_time, down);
  };
  if (fault == StoreFault::kDown) return post_after_us(there, [reply] { reply(false, true); });
  const int64_t late = fault == StoreFault::kLate ? 500'000 + static_cast<int64_t>(world.random.below(2'000'000)) : 0;
  const bool lost = fault == StoreFault::kLostReply;
  world.after_us(there + late, [this, execute, reply, back, lost, of_process = incarnation()] {
    execute(store_);
    const auto epoch = store_.get(kEpochKey);
    if (epoch && *epoch) {
      const auto snapshot = decode_snapshot((*epoch)->value);
      if (snapshot) checker_.on_snapshot(*snapshot);
    }
    if (!lost) world.after_us(back, [this, reply, of_process] { run(of_process, [reply] { reply(true, false); }); });
  });
  post_after_us(kStoreTimeoutUs, [reply] { reply(false, false); });
}

void Controller::read_store(const StoreRead& a) {
  const auto result = std::make_shared<StoreRecords>();
  const auto whole = std::make_shared<bool>(false);
  result->id = a.id;
  store_call(
      [a, result, whole](MemoryStore& store) {
        for (const std::string& key : a.keys) {
          const auto record = store.get(key);
          if (!record) return;
          result->records.push_back(*record ? **record : Record{key, "", 0});
        }
        *whole = true;
      },
      [this, a, result, whole](bool in_time, bool) {
        if (in_time && *whole) return feed(std::move(*result));
        feed(StoreFailed{a.id, "metadata store: no answer"});
      });
}

void Controller::commit_store(const StoreCommit& a) {
  const auto result = std::make_shared<Result<uint64_t>>(fail(Code::kUnavailable, ""));
  store_call(
      [t = with_lease(a.transaction, kLeader, lease_), result](MemoryStore& store) { *result = store.commit(t); },
      [this, a, result](bool in_time, bool down) {
        StoreCommitted done;
        done.id = a.id;
        if (down) {
          done.outcome = CommitOutcome::kUnavailable;
        } else if (!in_time) {
          done.outcome = CommitOutcome::kUnknown;
          world.cover("store unknown");
        } else if (*result) {
          done.revision = **result;
        } else {
          done.outcome = CommitOutcome::kAborted;
          world.cover("store aborted");
        }
        feed(done);
      });
}

// ---- the plan

Status Controller::order(Order order, uint32_t group) {
  if (!leading() || !machine_) return fail(Code::kUnavailable, "no leader");
  Result<PlanActions> actions = machine_->order(order, group, {world.mono(), world.clock().wall_ms()});
  if (!actions) return fail(actions.error());
  world.cover(fmt::format("order {}", order_name(order)));
  perform(std::move(*actions));
  return {};
}

void Controller::feed(PlanEvent event) {
  if (!machine_) return;
  perform(machine_->on(std::move(event), {world.mono(), world.clock().wall_ms()}));
}

void Controller::perform(PlanActions actions) {
  for (PlanAction& action : actions) todo_.push_back(std::move(action));
  if (!performing_) perform_queued();
}

void Controller::perform_queued() {
  performing_ = true;
  const uint64_t of = leadership_;
  while (!todo_.empty()) {
    if (fault_point) fault_point(*this, name_of(todo_.front()));
    if (!alive() || of != leadership_) return;
    if (stopped()) {
      post_after_us(0, [this, of] {
        if (of == leadership_) perform_queued();
      });
      return;
    }
    const PlanAction action = std::move(todo_.front());
    todo_.pop_front();
    perform_one(action);
    if (!alive() || of != leadership_) return;
  }
  performing_ = false;
  for (uint32_t g = 0; machine_ && g < machine_->group_count(); ++g) {
    world.cover(fmt::format("stage {}", stage_name(machine_->group(g).stage)));
  }
  schedule_wake();
}

void Controller::schedule_wake() {
  if (!machine_) return;
  const auto at = machine_->next_wake();
  if (!at) return;
  const int64_t at_us = std::max<int64_t>(at->time_since_epoch().count() / 1000 + 1, world.now_us() + 1);
  if (wake_at_us_ > world.now_us() && wake_at_us_ <= at_us) return;
  wake_at_us_ = at_us;
  post_after_us(at_us - world.now_us(), [this, of = leadership_] {
    if (of != leadership_) return;
    wake_at_us_ = 0;
    feed(PlanTick{});
  });
}

void Controller::perform_one(const PlanAction& action) {
  world.cover(fmt::format("plan {}", name_of(action)));
  world.trace(fmt::format("{} {}", name_, name_of(action)));
  if (const auto* read = std::get_if<StoreRead>(&action)) return read_store(*read);
  if (const auto* commit = std::get_if<StoreCommit>(&action)) return commit_store(*commit);
  if (const auto* terms = std::get_if<FenceTerms>(&action)) return fence_terms(*terms);
  if (const auto* fence = std::get_if<FenceRouters>(&action)) return fence_routers(*fence);
  if (const auto* list = std::get_if<ListRouterUsers>(&action)) return list_users(*list);
  if (const auto* start = std::get_if<StartCopy>(&action)) return start_copy(*start);
  if (const auto* stop = std::get_if<StopCopy>(&action)) return stop_copy(stop->group);
  if (const auto* persisted = std::get_if<EnsurePersisted>(&action)) {
    const bool ok = world.random.below(4) != 0;
    post_after_us(world.delay_us(), [this, of = leadership_, id = persisted->id, ok] {
      if (of == leadership_) feed(Done{id, ok, ok ? "" : "not yet"});
    });
  } else if (const auto* open = std::get_if<AnnounceOpen>(&action)) {
    world.trace(fmt::format("{} opens attempt {}", name_, open->attempt.number));
    announced_ = *open;
    for (Session& s : sessions_) {
      if (s.synced) s.link->to_router(open_message());
    }
  } else if (const auto* closed = std::get_if<AnnounceClosed>(&action)) {
    world.trace(
        fmt::format("{}: attempt {} {}", name_, closed->attempt, closed->committed ? "committed" : "withdrawn"));
    announced_.reset();
    const auto outcome = closed->committed ? channel::AttemptOutcome::kCommitted : channel::AttemptOutcome::kWithdrawn;
    for (Session& s : sessions_) {
      if (s.synced) s.link->to_router(channel::AttemptClosed{closed->attempt, outcome, closed->epoch});
    }
  } else if (const auto* publish = std::get_if<Publish>(&action)) {
    snapshot_ = publish->snapshot;
    world.trace(fmt::format("{} publishes epoch {}", name_, to_u64(snapshot_->epoch)));
    for (Session& s : sessions_) {
      if (s.synced) s.link->to_router(channel::SnapshotPush{encode_snapshot(*snapshot_)});
    }
  } else if (const auto* tell = std::get_if<TellCopy>(&action)) {
    const auto at = movers_.find(tell->group);
    if (at == movers_.end()) return;
    const std::shared_ptr<Mover> mover = at->second;
    mover->command(tell->command, tell->attempt);
  } else if (const auto* note = std::get_if<Note>(&action)) {
    world.trace(fmt::format("{}: {}", name_, note->text));
  }
}

Server& Controller::server(const Instance& instance) {
  for (const auto& s : servers_) {
    if (s->address() == instance.address) return *s;
  }
  return *servers_.front();
}

void Controller::fence_terms(const FenceTerms& a) {
  make_own_users(server(a.instance), [this, id = a.id](bool ok) { feed(Done{id, ok, ok ? "" : "cannot connect"}); });
}

// With the node's own credentials: first every other such connection is ended, so that nothing of an older leader is
// under way; then a newer term's users show that we are the older one.
void Controller::make_own_users(Server& s, std::function<void(bool)> then) {
  if (s.names()) return end_older_terms(s, std::move(then));
  const std::shared_ptr<Conn> admin = Conn::open(*this, s, kAdmin);
  const uint64_t term = lease_.term;
  const auto newer = std::make_shared<bool>(false);
  const bool naive = variant_ == Variant::kMoverWithoutTerm;
  const auto finish = [this, admin, then, of = leadership_](bool ok) {
    admin->close();
    if (of == leadership_) then(ok);
  };
  admin->call(
      [admin, term, newer, naive](Server& at) {
        if (!naive) at.kill_connections(kAdmin, admin.get());
        for (const std::string& user : at.users()) *newer = *newer || term_of(user, "ctl-") > term;
      },
      [admin, term, newer, finish, naive] {
        if (*newer && !naive) return finish(false);
        admin->call(
            [term, naive](Server& at) {
              const std::set<std::string> users = at.users();
              for (const std::string& user : users) {
                const uint64_t other = std::max(term_of(user, "ctl-"), term_of(user, "mover-"));
                if (other != 0 && other < term && !naive) at.delete_user(user);
              }
              at.set_user(fmt::format("ctl-{}", term));
              at.set_user(fmt::format("mover-{}", term));
              at.save_users();
            },
            [finish] { finish(true); }, [finish] { finish(false); });
      },
      [finish] { finish(false); });
}

std::shared_ptr<Conn> Controller::control(Server& s) {
  std::shared_ptr<Conn>& conn = controls_[s.index()];
  if (!conn || !conn->usable()) conn = open_own(s, fmt::format("ctl-{}", lease_.term));
  return conn;
}

void Controller::fence_routers(const FenceRouters& a) {
  const auto answer = [this, id = a.id, of = leadership_](bool ok) {
    if (of == leadership_) feed(Done{id, ok, ok ? "" : "cannot connect"});
  };
  if (variant_ == Variant::kLeaseWithoutFence) return post_after_us(world.delay_us(), [answer] { answer(true); });
  for (const RouterView& router : told_) {
    if (!router.alive || std::count(a.keep.begin(), a.keep.end(), router.generation) != 0) continue;
    return world.violate(fmt::format("{} fences router {} (generation {}), which is alive", name_, router.router,
                                     router.generation));
  }
  if (server(a.instance).names()) return end_generations(a, answer);
  control(server(a.instance))
      ->call(
          [keep = a.keep](Server& s) {
            const std::set<std::string> users = s.users();
            for (const std::string& user : users) {
              const uint64_t generation = term_of(user, "r");
              if (generation != 0 && std::count(keep.begin(), keep.end(), generation) == 0) s.delete_user(user);
            }
            s.save_users();
          },
          [answer] { answer(true); }, [answer] { answer(false); });
}

void Controller::list_users(const ListRouterUsers& a) {
  const auto users = std::make_shared<RouterUsers>();
  users->id = a.id;
  const std::optional<AttemptRecord> attempt = machine_->open_attempt();
  const bool naive = variant_ == Variant::kLeaseWithoutFence;
  control(server(a.instance))
      ->call(
          [users, attempt, naive, permits = permits_](Server& s) {
            for (const std::string& user : s.names() ? s.connected() : s.users()) {
              const uint64_t generation = term_of(user, "r");
              // What a barred generation connects after its fence can carry nothing.
              const bool powerless = s.names() && permits.is_barred(generation);
              if (generation != 0 && !powerless) users->generations.push_back(generation);
            }
            std::sort(users->generations.begin(), users->generations.end());
            if (naive && attempt) users->generations = attempt->generations;
            users->identity = s.identity();
          },
          [this, users, of = leadership_] {
            if (of == leadership_) feed(*users);
          },
          [this, id = a.id, of = leadership_] {
            if (of == leadership_) feed(Done{id, false, "cannot connect"});
          });
}

void Controller::start_copy(const StartCopy& a) {
  stop_copy(a.group);
  auto routing = PoolRouting::compile(snapshot_->pools.at(0));
  if (!routing) return world.violate(routing.error().to_string());
  Mover::Environment env{*this, servers_, checker_, variant_, lease_.term, {}, {}, {}};
  env.connect = [this](Server& s, const std::string& user) { return open_own(s, user); };
  env.report = [this, group = a.group, of = leadership_](CopyAction report) {
    if (of == leadership_) feed(CopyReport{group, std::move(report)});
  };
  env.fault_point = [this](const std::string& action) {
    if (fault_point) fault_point(*this, action);
  };
  CopySpec spec = a.spec;
  spec.limits.idle_ms = 60;
  spec.limits.batch_keys = 4;
  spec.limits.ready_keys = 8;
  const auto mover = std::make_shared<Mover>(std::move(env), std::move(spec), machine_->group(a.group), *routing);
  movers_[a.group] = mover;
  start_when_ended(a.group, mover);
}

// No forgotten request: nothing that an earlier mover of the group sent may run after the new one begins.
void Controller::start_when_ended(uint32_t group, const std::shared_ptr<Mover>& mover) {
  std::vector<std::shared_ptr<Conn>>& ending = ending_[group];
  while (!ending.empty() && !ending.back()->alive_at_server()) ending.pop_back();
  if (ending.empty()) return mover->start();
  const std::shared_ptr<Conn> conn = ending.back();
  const auto again = [this, group, mover, of = leadership_] {
    if (of == leadership_) start_when_ended(group, mover);
  };
  control(conn->server())
      ->call([id = conn->id()](Server& s) { s.kill_connection(id); }, again,
             [this, again] { post_after_us(100'000, again); });
}

void Controller::stop_copy(uint32_t group) {
  const auto at = movers_.find(group);
  if (at == movers_.end()) return;
  for (const auto& conn : at->second->close()) ending_[group].push_back(conn);
  movers_.erase(at);
}

}  // namespace slipring::lab
