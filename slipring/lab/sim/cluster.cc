#include "slipring/lab/sim/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "slipring/placement/registry.h"
#include "slipring/topology/codec.h"

namespace slipring::lab {

using namespace rebalance;  // the whole file speaks its language

namespace {

constexpr size_t kServers = 4;
constexpr size_t kRouters = 2;
constexpr size_t kClients = 3;
constexpr size_t kKeys = 30;
constexpr int64_t kFaultsUntilMs = 12'000;
constexpr int64_t kHealAtMs = 25'000;
constexpr int64_t kEndMs = 150'000;

Node node_of(size_t i, int64_t weight_milli = 1000) {
  Node node;
  node.name = fmt::format("n{}", i);
  node.weight_milli = weight_milli;
  node.instance.address = fmt::format("s{}:1", i);
  return node;
}

// Where faults strike, beside at random times: the protocol's own actions.
constexpr const char* kStrikeAt[] = {"store_commit",
                                     "fence_terms",
                                     "fence_routers",
                                     "list_router_users",
                                     "ensure_persisted",
                                     "announce_open",
                                     "announce_closed",
                                     "publish",
                                     "start_copy",
                                     "tell_copy",
                                     "open_feed",
                                     "scan",
                                     "read_keys",
                                     "write_keys",
                                     "compare_keys",
                                     "delete_keys",
                                     "feeds_open",
                                     "ready",
                                     "write_keys",
                                     "read_keys",
                                     "write_keys",
                                     "sealed",
                                     "flipped",
                                     "barrier",
                                     "swept"};

// Half of the runs; what a variant does wrong is done in one way of fencing.
bool by_names(const SimOptions& options, Random& random) {
  switch (options.variant) {
    case Variant::kPermitKept:
    case Variant::kFenceWithoutBar:
      return true;
    case Variant::kNone:
    case Variant::kMoverWithoutTerm:
      return random.below(2) == 0;
    default:
      return false;
  }
}

}  // namespace

const char* fault_name(FaultKind kind) {
  constexpr const char* kNames[kFaultKinds] = {
      "controller_crash",   "controller_stop",  "router_crash", "router_stop",  "link_cut",     "partition",
      "slow_to_controller", "slow_to_router",   "feed_cut",     "server_crash", "server_empty", "server_stop",
      "store_down",         "store_lost_reply", "store_late",   "foreign_write"};
  return kNames[static_cast<size_t>(kind)];
}

Cluster::Cluster(const SimOptions& options)
    : options_(options),
      world_(options.seed, options.trace),
      names_(by_names(options, world_.random)),
      checker_(world_, servers_),
      store_(world_.clock()) {
  world_.cover(names_ ? "fence names" : "fence acl");
  for (size_t i = 0; i < kServers; ++i) {
    servers_.push_back(std::make_unique<Server>(world_, i, names_));
    servers_.back()->on_restart = [this](Server& s) { checker_.on_restart(s); };
    servers_.back()->start();
  }
  for (size_t i = 0; i < kRouters; ++i) {
    routers_.push_back(
        std::make_unique<Router>(world_, fmt::format("router{}", i), servers_, checker_, options.variant));
    routers_.back()->connect = [this](Router& r) { return connect(r); };
  }
  for (size_t i = 0; i < 2; ++i) {
    controllers_.push_back(std::make_unique<Controller>(world_, fmt::format("controller{}", i), store_, servers_,
                                                        checker_, options.variant));
    controllers_.back()->fault_point = [this](Controller& c, const std::string& action) { on_action(c, action); };
  }
  choose();
}

// ---- what the seed chooses

void Cluster::choose() {
  Random& random = world_.random;
  choose_layouts();
  script_ = static_cast<Script>(random.below(6));
  script_at_ms_ = 300 + static_cast<int64_t>(random.below(3'000));
  choose_faults();
  scenario_ = fmt::format("{} -> {} nodes, fence {}, script {}, faults:", before_.nodes.size(), after_.nodes.size(),
                          names_ ? "names" : "acl", static_cast<int>(script_));
  for (const Fault& fault : faults_) {
    scenario_ += fault.at_action.empty() ? fmt::format(" {}@{}ms", fault_name(fault.kind), fault.at_ms)
                                         : fmt::format(" {}@{}#{}", fault_name(fault.kind), fault.at_action, fault.nth);
  }
}

void Cluster::choose_layouts() {
  Random& random = world_.random;
  before_.scheme.options["vnodes"] = "16";
  for (size_t i = 0; i + 1 < kServers; ++i) before_.nodes.push_back(node_of(i));
  after_ = before_;
  switch (random.below(4)) {
    case 0:  // a node leaves: one source, several targets
      before_.nodes.push_back(node_of(kServers - 1));
      break;
    case 1:  // a weight changes
      after_.nodes[0].weight_milli = 3000;
      break;
    default:  // a node joins: several sources, one target
      after_.nodes.push_back(node_of(kServers - 1));
  }
}

void Cluster::choose_faults() {
  Random& random = world_.random;
  const uint64_t count = random.below(6);
  for (uint64_t i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = static_cast<FaultKind>(random.below(kFaultKinds));
    if (random.below(100) < 60) {
      fault.at_action = kStrikeAt[random.below(std::size(kStrikeAt))];
      fault.nth = 1 + static_cast<uint32_t>(random.below(3));
    } else {
      fault.at_ms = static_cast<int64_t>(random.below(kFaultsUntilMs));
    }
    faults_.push_back(fault);
  }
  // What this variant is naive about has to happen.
  for (int i = 0; i < 6 && options_.variant == Variant::kNaiveReconnect; ++i) {
    Fault fault;
    fault.kind = FaultKind::kFeedCut;
    fault.at_ms = static_cast<int64_t>(random.below(4'000));
    faults_.push_back(fault);
  }
}

void Cluster::write_records() {
  Snapshot first;
  first.epoch = Epoch{1};
  first.cluster_id = "0123456789abcdef";
  Pool pool;
  pool.name = "p";
  pool.layout = before_;
  first.pools.push_back(pool);

  PlanRecord plan;
  plan.id = 1;
  plan.pool = "p";
  plan.title = "simulated";
  plan.base_epoch = first.epoch;
  plan.old_layout = before_;
  plan.next_layout = after_;
  plan.options.grace_ms = grace_ms_;
  plan.options.unreachable_ms = 6'000;
  plan.options.attempts_max = 1 + static_cast<uint32_t>(world_.random.below(5));
  std::set<MoveOwner, bool (*)(const MoveOwner&, const MoveOwner&)> pairs([](const MoveOwner& a, const MoveOwner& b) {
    return std::tie(a.source, a.target, a.slice) < std::tie(b.source, b.target, b.slice);
  });
  const auto from = make_scheme(before_);
  const auto to = make_scheme(after_);
  for (int i = 0; i < 3'000; ++i) {
    const std::string key = fmt::format("k{}", i);
    const Node& source = before_.nodes[(*from)->owner(key)];
    const Node& target = after_.nodes[(*to)->owner(key)];
    if (source.instance != target.instance) pairs.insert(MoveOwner{source.instance, target.instance, 0, false});
  }
  std::vector<MoveOwner> moves(pairs.begin(), pairs.end());
  const std::vector<GroupRecord> groups = make_groups(plan.id, moves);
  plan.group_count = static_cast<uint32_t>(groups.size());
  const Result<Snapshot> next = snapshot_with_plan(first, plan, moves);
  Transaction seed;
  seed.writes = {{std::string(kEpochKey), encode_snapshot(first)}};
  const uint64_t revision = *store_.commit(seed);
  const auto opened = store_.commit(open_plan_transaction({first, revision}, plan, groups, *next));
  if (!opened) world_.violate(opened.error().to_string());
  checker_.on_snapshot(*next);
}

void Cluster::load_keys() {
  for (size_t i = 0; i < kKeys; ++i) {
    keys_.push_back(fmt::format("k{}", i));
    if (i % 4 == 3) continue;
    Server& server = *servers_[checker_.owner(keys_.back())];
    const StoredValue value{fmt::format("first{}", i), 0};
    checker_.on_write(server, keys_.back(), value);
    server.write(keys_.back(), value);
  }
}

// ---- load

Command Cluster::next_command(size_t client) {
  Random& random = world_.random;
  Command command;
  command.key = keys_[random.below(keys_.size())];
  command.value = fmt::format("c{}w{}", client, ++writes_);
  const uint64_t dice = random.below(100);
  if (dice < 35) {
    command.kind = Command::Kind::kGet;
  } else if (dice < 70) {
    command.kind = Command::Kind::kSet;
  } else if (dice < 80) {
    command.kind = Command::Kind::kAppend;
    command.value = ".";
  } else if (dice < 88) {
    command.kind = Command::Kind::kExpire;
    command.ttl_ms = 100 + static_cast<int64_t>(random.below(4'000));
  } else {
    command.kind = Command::Kind::kDelete;
  }
  return command;
}

void Cluster::start_clients() {
  for (size_t c = 0; c < kClients; ++c) world_.after_us(500'000, [this, c] { client_step(c); });
}

void Cluster::client_step(size_t client) {
  if (!clients_run_) return;
  Router& router = some_router();
  const auto answered = std::make_shared<bool>(false);
  const auto again = [this, client, answered](int64_t delay_us) {
    if (std::exchange(*answered, true)) return;
    world_.after_us(delay_us, [this, client] { client_step(client); });
  };
  const Command command = next_command(client);
  const int64_t think = 10'000 + static_cast<int64_t>(world_.random.below(60'000));
  router.post_after_us(world_.delay_us(), [&router, command, again, think] {
    router.submit(command, [again, think](const Answer&) { again(think); });
  });
  world_.after_us(2'500'000, [again] { again(0); });
}

// ---- faults

std::shared_ptr<Link> Cluster::connect(Router& router) {
  if (partitioned_ && &router == routers_[0].get()) return nullptr;
  Controller& controller = *controllers_[world_.random.below(controllers_.size())];
  if (!controller.alive() || controller.stopped()) return nullptr;
  return std::make_shared<Link>(router, controller);
}

void Cluster::on_action(Controller& controller, const std::string& action) {
  for (Fault& fault : faults_) {
    if (fault.done || fault.at_action != action || --fault.nth > 0) continue;
    fault.done = true;
    strike(fault, &controller);
    if (!controller.alive() || controller.stopped()) return;
  }
}

void Cluster::strike(const Fault& fault, Controller* where) {
  if (healed_) return;
  Random& random = world_.random;
  world_.trace(fmt::format("FAULT {}", fault_name(fault.kind)));
  world_.cover(fmt::format("fault {}", fault_name(fault.kind)));
  Controller& controller = where != nullptr ? *where : *controllers_[random.below(controllers_.size())];
  Router& router = some_router();
  const int64_t for_us = 300'000 + static_cast<int64_t>(random.below(4'000'000));
  const std::shared_ptr<Link> link = router.link();
  switch (fault.kind) {
    case FaultKind::kControllerCrash:
      controller.crash();
      world_.after_us(for_us, [&controller] { controller.restart(); });
      break;
    case FaultKind::kControllerStop:
      controller.stop();
      // Mostly longer than its lease.
      world_.after_us(1'500'000 + for_us, [&controller] { controller.wake(); });
      break;
    case FaultKind::kRouterCrash:
      router.crash();
      world_.after_us(for_us / 4, [&router] { router.restart(); });
      break;
    case FaultKind::kRouterStop:
      router.stop();
      world_.after_us(for_us, [&router] { router.wake(); });
      break;
    case FaultKind::kLinkCut:
      if (link) link->cut();
      break;
    case FaultKind::kPartition:
      partitioned_ = true;
      if (routers_[0]->link()) routers_[0]->link()->cut();
      world_.after_us(for_us, [this] { partitioned_ = false; });
      break;
    case FaultKind::kSlowToController:
    case FaultKind::kSlowToRouter: {
      const size_t direction = fault.kind == FaultKind::kSlowToController ? 0 : 1;
      if (!link) break;
      link->extra_us[direction] = 150'000 + static_cast<int64_t>(random.below(500'000));
      world_.after_us(4 * for_us, [link, direction] { link->extra_us[direction] = 0; });
      break;
    }
    case FaultKind::kFeedCut:
      some_server().cut_feeds();
      break;
    case FaultKind::kServerCrash:
    case FaultKind::kServerEmpty:
    case FaultKind::kServerStop:
      strike_server(fault.kind);
      break;
    case FaultKind::kStoreDown:
    case FaultKind::kStoreLostReply:
    case FaultKind::kStoreLate:
      controller.store_fault = fault.kind == FaultKind::kStoreDown        ? StoreFault::kDown
                               : fault.kind == FaultKind::kStoreLostReply ? StoreFault::kLostReply
                                                                          : StoreFault::kLate;
      world_.after_us(for_us / 2, [&controller] { controller.store_fault = StoreFault::kNone; });
      break;
    case FaultKind::kForeignWrite:
      foreign_write();
      break;
  }
}

void Cluster::strike_server(FaultKind kind) {
  Server& server = some_server();
  const int64_t for_us = 200'000 + static_cast<int64_t>(world_.random.below(2'000'000));
  if (kind == FaultKind::kServerStop) {
    server.stop();
    world_.after_us(for_us, [&server] { server.wake(); });
    return;
  }
  server.crash();
  world_.after_us(for_us, [&server, kind] { server.restart(kind == FaultKind::kServerEmpty); });
}

// Somebody alters a copy on the side that does not own it, past the routers.
void Cluster::foreign_write() {
  for (const auto& server : servers_) {
    for (const auto& [key, value] : server->data()) {
      if (checker_.owner(key) == server->index() || !server->up()) continue;
      const std::string touched = key;
      checker_.on_foreign_write(touched);
      world_.trace(fmt::format("somebody alters {} on {}", touched, server->address()));
      server->write(touched, {"foreign", 0});
      return;
    }
  }
}

void Cluster::heal() {
  healed_ = true;
  partitioned_ = false;
  for (const auto& server : servers_) {
    server->wake();
    server->restart(false);
  }
  for (const auto& router : routers_) {
    router->wake();
    router->restart();
  }
  for (const auto& controller : controllers_) {
    controller->store_fault = StoreFault::kNone;
    controller->wake();
    controller->restart();
  }
}

// ---- the operator

Controller* Cluster::leader() {
  for (const auto& controller : controllers_) {
    if (controller->leading() && !controller->stopped() && controller->machine() != nullptr) return controller.get();
  }
  return nullptr;
}

bool Cluster::finished() {
  Controller* c = leader();
  return c != nullptr && c->machine()->finished();
}

void Cluster::operate() {
  world_.after_us(200'000, [this] { operate(); });
  for (const auto& server : servers_) server->expire_some();
  Controller* c = leader();
  if (c == nullptr || c->machine()->finished() || !c->machine()->recovered() || c->machine()->saving()) return;
  if (healed_ && c->machine()->plan().paused) {
    // Its resume was lost with the controller that took it.
    static_cast<void>(c->order(Order::kResume, 0));
    return;
  }
  for (uint32_t g = 0; g < c->machine()->group_count(); ++g) {
    const Stage stage = c->machine()->group(g).stage;
    if (stage == Stage::kNeedsDecision) return decide(*c, g);
    if (stage != Stage::kStopped || world_.random.below(4) != 0) continue;
    const bool unreachable = c->machine()->group(g).from == Stage::kCleanup;
    static_cast<void>(c->order(unreachable && healed_ ? Order::kComplete : Order::kResume, 0));
    return;
  }
  follow_script(*c);
}

void Cluster::decide(Controller& c, uint32_t group) {
  if (world_.random.below(3) != 0) return;
  const Order decisions[] = {Order::kDecideOwner, Order::kDecideOther, Order::kDecideMerge};
  const Order decision = decisions[world_.random.below(3)];
  world_.trace(
      fmt::format("operator: {} for group {}: {}", order_name(decision), group, c.machine()->group(group).reason));
  checker_.on_decided();
  if (decision == Order::kDecideOther) checker_.on_forced(c.machine()->group(group));
  static_cast<void>(c.order(decision, group));
}

void Cluster::follow_script(Controller& c) {
  if (world_.now_ms() < script_at_ms_) return;
  const bool in_grace = c.machine()->group(0).target_owns;
  const auto give = [&](Order order, int64_t next_ms) {
    world_.trace(fmt::format("operator: {}", order_name(order)));
    const Status done = c.order(order, 0);
    if (done) {
      ++script_step_;
      script_at_ms_ = world_.now_ms() + next_ms;
    }
  };
  switch (script_) {
    case Script::kComplete:
      break;
    case Script::kCompleteEarly:
      if (script_step_ == 0) give(Order::kComplete, 0);
      break;
    case Script::kRollBack:
      if (script_step_ == 0 && in_grace) give(Order::kRollBack, 0);
      break;
    case Script::kCancelEarly:
      if (script_step_ == 0) give(Order::kCancel, 0);
      break;
    case Script::kPauseResume:
      if (script_step_ < 2) give(script_step_ == 0 ? Order::kPause : Order::kResume, 1'500);
      break;
    case Script::kTurnTwice:
      if (script_step_ == 0 && in_grace) {
        give(Order::kRollBack, static_cast<int64_t>(world_.random.below(1'500)));
      } else if (script_step_ == 1) {
        give(Order::kComplete, 0);
      }
      break;
  }
}

// ---- the run

SimResult Cluster::run() {
  world_.trace(scenario_);
  write_records();
  load_keys();
  for (const auto& controller : controllers_) controller->restart();
  for (const auto& router : routers_) router->restart();
  start_clients();
  operate();
  for (const Fault& fault : faults_) {
    if (fault.at_action.empty()) world_.at_us(fault.at_ms * 1000, [this, fault] { strike(fault, nullptr); });
  }
  world_.at_us(kHealAtMs * 1000, [this] { heal(); });

  while (world_.now_ms() < kEndMs && !finished() && world_.step()) {
  }
  const bool ended = finished();
  if (!ended) world_.violate("the plan did not end; " + (leader() != nullptr ? leader()->describe() : "no leader"));
  if (ended) {
    for (uint32_t g = 0; g < leader()->machine()->group_count(); ++g) strays_ += leader()->machine()->group(g).strays;
    world_.cover(fmt::format("plan {}", plan_state_name(leader()->machine()->plan().state)));
  }
  // What was under way comes to its end before the last look.
  if (!healed_) heal();
  clients_run_ = false;
  const int64_t until = world_.now_ms() + 3'000;
  while (world_.now_ms() < until && world_.step()) {
  }
  if (ended) checker_.check_end(strays_);

  SimResult result;
  result.failure = world_.violation();
  result.ok = result.failure.empty();
  result.scenario = scenario_;
  result.events = world_.events();
  result.digest = world_.digest();
  result.simulated_ms = world_.now_ms();
  result.coverage = world_.take_coverage();
  result.trace = world_.take_trace();
  result.replay = fmt::format("slipring lab sim --seed {}", options_.seed);
  if (options_.variant != Variant::kNone) result.replay += fmt::format(" --variant {}", variant_name(options_.variant));
  return result;
}

}  // namespace slipring::lab
