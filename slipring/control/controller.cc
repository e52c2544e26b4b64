#include "slipring/control/controller.h"

#include <fmt/format.h>

#include <future>

#include "slipring/base/log.h"
#include "slipring/base/secret.h"
#include "slipring/base/secret_file.h"

namespace slipring::control {
namespace {

constexpr int kRenewalsPerLease = 3;
// After a lease could not be taken or leading could not begin.
constexpr Millis kTryAgain{500};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Controller::Controller(ControllerOptions options, MetadataStore& store, const Clock& clock, NodeSpawner* spawner)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      spawner_(spawner),
      holder_(fmt::format("{}/{}", options_.id, random_secret().substr(0, 8))) {}

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options, MetadataStore& store,
                                                      const Clock& clock, NodeSpawner* spawner) {
  std::unique_ptr<Controller> controller(new Controller(std::move(options), store, clock, spawner));
  SLIPRING_ASSIGN(std::string token, read_secret_file(controller->options_.channel_token_file));
  controller->join_token_ = trimmed(std::move(token));
  if (controller->join_token_.empty()) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: the join token is empty", controller->options_.channel_token_file));
  }
  SLIPRING_ASSIGN(controller->hub_, RouterHub::bind(controller->options_.channel, clock, *controller));
  controller->hub_->serve();
  controller->thread_ = std::thread([c = controller.get()] { c->run(); });
  return controller;
}

Controller::~Controller() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ending_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (hub_ != nullptr) hub_->stop();
}

Result<NodeCredential> Controller::credentials_of(const std::string& address) const {
  if (options_.credentials_file.empty()) return NodeCredential{address, "", ""};
  // Read each time: nodes join and passwords change while the controller runs.
  SLIPRING_ASSIGN(const NodeCredentials all, NodeCredentials::read(options_.credentials_file));
  const NodeCredential* found = all.find(address);
  return found != nullptr ? *found : NodeCredential{address, "", ""};
}

bool Controller::pause(Millis time) {
  std::unique_lock lock(mutex_);
  return !ending_changed_.wait_for(lock, time, [&] { return ending_; });
}

void Controller::run() {
  for (;;) {
    auto lease = store_.acquire_lease(kLeaseName, holder_, Millis(options_.lease_ms));
    if (lease) {
      lead(*lease);
    } else {
      stand_by(lease.error());
    }
    if (!pause(kTryAgain)) return;
  }
}

void Controller::stand_by(const Error& why) {
  const std::lock_guard lock(mutex_);
  standing_by_ = why.message;
}

void Controller::set_leader(std::shared_ptr<Leader> leader) {
  std::shared_ptr<Leader> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(leader_, std::move(leader));
  }
  if (before != nullptr) before->stop();
  // The lease keeper ends with the caller, so nobody may go on using the leader: callers of the service are few and
  // bounded by time-outs.
  while (before.use_count() > 1) std::this_thread::sleep_for(Millis(1));
}

// Leads until the lease is lost or the process ends. Taking over may wait for servers, so it has a thread of its own
// while the lease is renewed here.
void Controller::lead(const Lease& taken) {
  log(LogLevel::kInfo, "control", "controller {} leads term {}", options_.id, taken.term);
  LeaseKeeper keeper(store_, std::string(kLeaseName), taken);
  std::future<Result<std::unique_ptr<Leader>>> start = std::async(std::launch::async, [&] {
    return Leader::start({options_, store_, keeper, clock_, *hub_, join_token_,
                          [this](const std::string& address) { return credentials_of(address); }});
  });
  const Millis renew_every(options_.lease_ms / kRenewalsPerLease);
  bool held = true;
  while (held && start.wait_for(renew_every) != std::future_status::ready) held = renew(keeper);
  auto made = start.get();
  if (!made) {
    stand_by(made.error());
    log(LogLevel::kError, "control", "cannot lead: {}", made.error().message);
  } else if (held) {
    set_leader(std::move(*made));
    while (held && pause(renew_every)) held = renew(keeper);
    set_leader(nullptr);
  }
  if (held) [[maybe_unused]]
    const Status released = keeper.release();
}

// False: the lease is lost.
bool Controller::renew(LeaseKeeper& keeper) {
  const Status renewed = keeper.renew(Millis(options_.lease_ms));
  if (renewed) return true;
  log(LogLevel::kWarn, "control", "term {}: {}", keeper.term(), renewed.error().message);
  if (renewed.error().code != Code::kAborted) return true;
  stand_by(renewed.error());
  return false;
}

Result<std::shared_ptr<Leader>> Controller::leader() const {
  const std::lock_guard lock(mutex_);
  if (leader_ != nullptr) return leader_;
  return fail(Code::kUnavailable, fmt::format("controller {} does not lead: {}", options_.id, standing_by_));
}

bool Controller::leads() const {
  const std::lock_guard lock(mutex_);
  return leader_ != nullptr;
}

void Controller::on_message(ConnectionId connection, channel::Message message) {
  auto l = leader();
  if (l) return (*l)->on_message(connection, std::move(message));
  hub_->send(connection, channel::Refused{l.error().message, ""});
  hub_->drop(connection);
}

void Controller::on_gone(ConnectionId connection) {
  if (auto l = leader()) (*l)->on_gone(connection);
}

// ---- the service: the leader's answers, or that this controller does not lead

Result<ClusterStatus> Controller::status() {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->status();
}
Result<std::vector<Location>> Controller::locate(const std::string& pool, const std::vector<std::string>& keys) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->locate(pool, keys);
}
Result<PlanPreview> Controller::preview(const ChangeRequest& request) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->preview(request);
}
Result<Started> Controller::start(const ChangeRequest& request, uint64_t if_epoch) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->start_plan(request, if_epoch);
}
Result<std::vector<PlanSummary>> Controller::plans(const std::string& pool, const Page& page) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->plans(pool, page);
}
Result<PlanDetail> Controller::plan(uint64_t id, const Page& moves) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->plan(id, moves);
}
Result<std::vector<PlanEvent>> Controller::plan_events(uint64_t id, uint64_t after, uint64_t limit) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->plan_events(id, after, limit);
}
Result<PlanSummary> Controller::act(uint64_t id, PlanAction action, bool force) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->act(id, action, force);
}
Result<PlanSummary> Controller::decide(uint64_t id, uint32_t move, Choice choice) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->decide(id, move, choice);
}
Status Controller::forget_router(const std::string& id) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->forget_router(id);
}
Result<std::string> Controller::export_topology() {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->export_topology();
}
Result<uint64_t> Controller::import_topology(const std::string& backup) {
  SLIPRING_ASSIGN(const auto l, leader());
  return l->import_topology(backup);
}

Result<std::string> Controller::spawn_node(const std::string& name) {
  SLIPRING_ASSIGN(const auto l, leader());
  SLIPRING_TRY(check_node_name(name));
  if (spawner_ == nullptr) {
    return fail(Code::kUnimplemented, "no supervisor runs the servers here; give the address of a server that runs");
  }
  return spawner_->spawn(name);
}

Status Controller::release_node(const std::string& name) {
  SLIPRING_ASSIGN(const auto l, leader());
  if (spawner_ == nullptr) return fail(Code::kUnimplemented, "no supervisor runs the servers here");
  if (l->uses_node(name)) {
    return fail(Code::kFailedPrecondition, fmt::format("node {} is in use; remove it from its pool first", name));
  }
  return spawner_->release(name);
}

std::string Controller::metrics() {
  if (auto l = leader()) return (*l)->metrics();
  metrics::Exposition out;
  out.add(metrics::Kind::kGauge, "slipring_leader", "1 on the leading controller.", {{"controller", options_.id}}, 0);
  return out.text();
}

Status Controller::ready() {
  SLIPRING_ASSIGN(const auto l, leader());
  SLIPRING_TRY(l->status());
  return {};
}

}  // namespace slipring::control
