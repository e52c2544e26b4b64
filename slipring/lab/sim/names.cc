// The controller's side of the fence by names: permits for routers, connections of its own that are used only while it
// leads, and the ends of those that are outdated.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slipring/lab/sim/controller.h"

namespace slipring::lab {

namespace {

// "r7" -> 7, "mover-7" -> 7; 0: not of this kind.
uint64_t number_of(const std::string& name, const std::string& kind) {
  if (name.rfind(kind, 0) != 0 || name.size() == kind.size()) return 0;
  const std::string digits = name.substr(kind.size());
  return std::all_of(digits.begin(), digits.end(), ::isdigit) ? std::stoull(digits) : 0;
}

}  // namespace

void Controller::verify_lease(std::function<void(bool)> then) {
  const auto leads = std::make_shared<bool>(false);
  store_call(
      [leads, held = lease_](MemoryStore& store) {
        const auto now = store.read_lease("leader");
        *leads = now && *now && (*now)->term == held.term && (*now)->holder == held.holder;
      },
      [leads, then = std::move(then)](bool in_time, bool) { then(in_time && *leads); });
}

std::shared_ptr<Conn> Controller::open_own(Server& s, const std::string& user) {
  if (!s.names()) return Conn::open(*this, s, user);
  const auto opened = std::make_shared<std::weak_ptr<Conn>>();
  const auto answer = [opened](bool leads) {
    const auto conn = opened->lock();
    if (!conn) return;
    if (leads) {
      conn->admit();
    } else {
      conn->refuse();
    }
  };
  const bool naive = variant_ == Variant::kMoverWithoutTerm;
  const auto conn = Conn::open(*this, s, user, [this, answer, naive] {
    if (naive) return answer(true);
    verify_lease(answer);
  });
  *opened = conn;
  return conn;
}

void Controller::end_older_terms(Server& s, std::function<void(bool)> then) {
  const uint64_t term = lease_.term;
  const bool naive = variant_ == Variant::kMoverWithoutTerm;
  const auto finish = [then = std::move(then), of = leadership_, this](bool ok) {
    if (of == leadership_) then(ok);
  };
  control(s)->call(
      [term, naive](Server& at) {
        for (const std::string& name : at.connected()) {
          const uint64_t other = std::max(number_of(name, "ctl-"), number_of(name, "mover-"));
          if (other != 0 && other < term && !naive) at.kill_connections(name, nullptr);
        }
      },
      [finish] { finish(true); }, [finish] { finish(false); });
}

void Controller::end_generations(const rebalance::FenceRouters& a, std::function<void(bool)> then) {
  const uint64_t newest = generations_.empty() ? 0 : generations_.rbegin()->first;
  if (variant_ != Variant::kFenceWithoutBar) permits_.bar(a.keep, newest);
  control(server(a.instance))
      ->call(
          [keep = a.keep](Server& s) {
            for (const std::string& name : s.connected()) {
              const uint64_t generation = number_of(name, "r");
              if (generation == 0 || std::count(keep.begin(), keep.end(), generation) != 0) continue;
              s.kill_connections(name, nullptr);
            }
          },
          [then] { then(true); }, [then] { then(false); });
}

// Which processes are admitted is not simulated: a server that comes back empty is the checker's to judge.
void Controller::permit(const std::shared_ptr<Link>& link, const channel::PermitRequest& request) {
  verify_lease([this, link, request](bool leads) {
    const Session* session = session_of(link);
    auto answer = channel::PermitAnswer::kWait;
    if (leads && session != nullptr) {
      permits_.admit(request.address, request.run_id);
      const std::vector<uint64_t>* attempt = announced_ ? &announced_->attempt.generations : nullptr;
      if (variant_ == Variant::kFenceWithoutBar) attempt = nullptr;
      answer = permits_.judge(request, session->generation, attempt);
    }
    link->to_router(channel::Permit{request.number, answer});
  });
}

}  // namespace slipring::lab
