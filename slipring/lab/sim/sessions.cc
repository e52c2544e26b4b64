// The controller's side of the channel: who is connected, generations and their users, what a router is told.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/lab/sim/controller.h"
#include "slipring/topology/codec.h"

namespace slipring::lab {

using namespace rebalance;  // the whole file speaks its language

void Controller::on_message(const std::shared_ptr<Link>& link, const channel::Message& message) {
  if (const auto* hello = std::get_if<channel::Hello>(&message)) {
    if (!leading()) return link->to_router(channel::Refused{"not the leader", ""});
    Session session;
    session.link = link;
    session.router = hello->router_id;
    session.generation = generations_.count(hello->generation) > 0 ? hello->generation : 0;
    session.wants_generation = session.generation == 0;
    session.heard_ms = world.now_ms();
    sessions_.push_back(std::move(session));
    return serve_sessions();
  }
  Session* session = session_of(link);
  if (session == nullptr) return;
  session->heard_ms = world.now_ms();
  if (const auto* epoch = std::get_if<channel::EpochAck>(&message)) {
    generations_[epoch->generation].epoch = epoch->epoch;
    tell_routers();
  } else if (const auto* ack = std::get_if<channel::AttemptAck>(&message)) {
    uint64_t attempt = ack->attempt;
    if (variant_ == Variant::kAckWithoutNumber && machine_ && machine_->open_attempt()) {
      attempt = machine_->open_attempt()->number;
    }
    feed(AttemptAcked{attempt, ack->generation});
  } else if (const auto* wanted = std::get_if<channel::PermitRequest>(&message)) {
    permit(link, *wanted);
  } else if (const auto* withdraw = std::get_if<channel::WithdrawRequest>(&message)) {
    feed(WithdrawAsked{withdraw->attempt});
  } else if (const auto* request = std::get_if<channel::GenerationRequest>(&message)) {
    if (session->generation == request->fenced_generation) session->wants_generation = true;
    serve_sessions();
  }
}

void Controller::on_link_down(const std::shared_ptr<Link>& link) {
  sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(), [&](const Session& s) { return s.link == link; }),
                  sessions_.end());
  if (leading()) tell_routers();
}

Controller::Session* Controller::session_of(const std::shared_ptr<Link>& link) {
  for (Session& session : sessions_) {
    if (session.link == link) return &session;
  }
  return nullptr;
}

bool Controller::may_sync() const {
  return snapshot_ && (!machine_ || machine_->recovered());
}

// While an attempt is open, no router user is made.
bool Controller::may_create_users() const {
  return may_sync() && (!machine_ || !machine_->open_attempt());
}

void Controller::serve_sessions() {
  if (!may_sync()) return;
  for (Session& session : sessions_) {
    if (session.creating) continue;
    if (session.wants_generation) {
      if (may_create_users()) create_generation(session, false);
    } else if (!session.synced) {
      sync(session);
    } else if (session.spare == 0 && may_create_users()) {
      create_generation(session, true);
    }
  }
}

channel::AttemptOpen Controller::open_message() const {
  channel::AttemptOpen open;
  open.attempt = announced_->attempt.number;
  open.epoch = announced_->attempt.epoch;
  open.pool = announced_->pool;
  open.moves = announced_->moves;
  open.hold_bound_ms = announced_->hold_bound_ms;
  open.hold_max_ms = announced_->hold_max_ms;
  return open;
}

void Controller::sync(Session& session) {
  channel::Welcome welcome;
  welcome.term = lease_.term;
  welcome.active.generation = session.generation;
  welcome.spare.generation = session.spare;
  session.link->to_router(welcome);
  session.link->to_router(channel::SnapshotPush{encode_snapshot(*snapshot_)});
  // An attempt that this controller did not announce itself is open until it is withdrawn: not synchronised before.
  const bool inherited = machine_ && machine_->open_attempt() && !announced_;
  if (announced_) session.link->to_router(open_message());
  session.synced = true;
  if (!inherited) session.link->to_router(channel::Synced{});
}

void Controller::create_generation(Session& session, bool spare) {
  session.creating = true;
  const uint64_t generation = generations_.empty() ? 1 : generations_.rbegin()->first + 1;
  // Known as a living router on no epoch, so that no attempt opens until it is served.
  generations_[generation] = Generation{session.router, Epoch{0}, !spare};
  tell_routers();
  Transaction t;
  const std::string key = fmt::format("gen/{:08}", generation);
  t.expects = {{key, 0}};
  t.writes = {{key, session.router}};
  const auto ok = std::make_shared<bool>(false);
  store_call([t = with_lease(t, "leader", lease_), ok](MemoryStore& store) { *ok = store.commit(t).has_value(); },
             [this, ok, generation, spare, link = session.link](bool in_time, bool) {
               if (in_time && *ok) return create_users(generation, link, spare);
               // Perhaps written, perhaps not: the number is not used again.
               generations_[generation].creating = false;
               if (Session* s = session_of(link)) s->creating = false;
             });
}

void Controller::create_users(uint64_t generation, const std::shared_ptr<Link>& link, bool spare) {
  if (servers_.front()->names()) return on_users_created(generation, link, spare);
  const auto waiting = std::make_shared<size_t>(servers_.size());
  for (const auto& server : servers_) {
    const auto done = [this, waiting, generation, link, spare, of = leadership_] {
      if (of != leadership_ || --*waiting > 0) return;
      on_users_created(generation, link, spare);
    };
    // A server that cannot be reached is without this user until the router asks again.
    make_own_users(*server, [this, s = server.get(), done, generation](bool ok) {
      if (!ok) return done();
      control(*s)->call(
          [generation](Server& at) {
            at.set_user(fmt::format("r{}", generation));
            at.save_users();
          },
          done, done);
    });
  }
}

void Controller::on_users_created(uint64_t generation, const std::shared_ptr<Link>& link, bool spare) {
  generations_[generation].creating = false;
  Session* session = session_of(link);
  if (session == nullptr) return tell_routers();
  session->creating = false;
  if (spare) {
    session->spare = generation;
  } else {
    session->generation = generation;
    session->wants_generation = false;
  }
  tell_routers();
  if (!session->synced) return sync(*session);
  channel::NewGeneration fresh;
  fresh.active.generation = session->generation;
  fresh.spare.generation = session->spare;
  session->link->to_router(fresh);
}

void Controller::tell_routers() {
  std::vector<RouterView> views;
  for (const auto& [generation, known] : generations_) {
    RouterView view;
    view.generation = generation;
    view.router = known.router;
    view.epoch = known.epoch;
    view.alive = known.creating;
    for (const Session& session : sessions_) {
      const bool heard = world.now_ms() < session.heard_ms + channel::kHeartbeatTimeoutMs;
      if (session.generation == generation && heard) view.alive = true;
    }
    views.push_back(std::move(view));
  }
  if (views == told_) return;
  told_ = views;
  feed(RoutersChanged{std::move(views)});
}

}  // namespace slipring::lab
