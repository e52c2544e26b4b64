#include "slipring/control/leader.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/log.h"
#include "slipring/base/parse.h"
#include "slipring/base/secret.h"
#include "slipring/topology/codec.h"

namespace slipring::control {
namespace {

constexpr std::string_view kClusterKey = "cluster";
// Of the first epoch's servers, at least this share of a sample of keys must lie where the scheme says.
constexpr uint64_t kSeedSample = 1000;
constexpr uint64_t kSeedAtHomePercent = 99;
// Finished plans whose notes can still be read.

// Every instance of a snapshot, of both sides of a plan, with the pool it belongs to.
template <typename Visit>
void each_instance(const Snapshot& snapshot, Visit visit) {
  for (const Pool& pool : snapshot.pools) {
    for (const Node& node : pool.layout.nodes) visit(pool, node);
    if (!pool.plan) continue;
    for (const Node& node : pool.plan->next.nodes) visit(pool, node);
  }
}

std::vector<std::string> addresses_of(const Snapshot& snapshot) {
  std::vector<std::string> all;
  each_instance(snapshot, [&](const Pool&, const Node& node) { all.push_back(node.instance.address); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<std::string> cluster_id(MetadataStore& store, LeaseKeeper& keeper) {
  SLIPRING_ASSIGN(const auto record, store.get(kClusterKey));
  if (record) return record->value;
  const std::string id = random_secret().substr(0, 16);
  Transaction transaction;
  transaction.expects.push_back({std::string(kClusterKey), 0});
  transaction.writes.push_back({std::string(kClusterKey), id});
  SLIPRING_TRY(keeper.commit(std::move(transaction)));
  return id;
}

}  // namespace

Leader::Leader(Parts parts, std::string cluster)
    : parts_(std::move(parts)),
      cluster_id_(std::move(cluster)),
      term_(parts_.keeper.term()),
      access_(
          parts_.credentials_of, [this] { return parts_.keeper.verify(); }, parts_.clock, cluster_id_, term_),
      adapter_([this](const std::string& address) { return access_.mover_endpoint(address); }, parts_.clock),
      links_(parts_.hub, parts_.clock, term_),
      book_(parts_.store, parts_.keeper, cluster_id_) {}

Result<std::unique_ptr<Leader>> Leader::start(Parts parts) {
  SLIPRING_ASSIGN(std::string cluster, cluster_id(parts.store, parts.keeper));
  std::unique_ptr<Leader> leader(new Leader(std::move(parts), std::move(cluster)));
  SLIPRING_TRY(leader->load());
  return leader;
}

Leader::~Leader() {
  stop();
}

void Leader::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  attempt_closed_.notify_all();
  reaper_.stop();
  router_tasks_.stop();
  permits_.stop();
  std::map<uint64_t, std::shared_ptr<PlanRunner>> runners;
  {
    const std::lock_guard lock(mutex_);
    runners.swap(runners_);
  }
  runners.clear();
  if (watch_ != nullptr) watch_->stop();
}

Status Leader::load() {
  SLIPRING_TRY(book_.load());
  SLIPRING_ASSIGN(auto epoch, read_epoch());
  if (epoch.revision == 0) {
    SLIPRING_ASSIGN(epoch.value, seed());
  }
  learn_fences(epoch.value);
  for (const std::string& address : addresses_of(epoch.value)) {
    // A server that is down is fenced when it comes back, before anything is done on it.
    const Status fenced = access_.fence_terms(address);
    if (!fenced && fenced.error().code == Code::kFailedPrecondition) return fail(fenced.error());
    if (!fenced) log(LogLevel::kWarn, "control", "term {}: {}", term_, fenced.error().message);
  }
  watch_ = std::make_unique<NodeWatch>(access_, [this](const std::string& address) { return greet(address); });
  publish(std::make_shared<const Snapshot>(std::move(epoch.value)));
  SLIPRING_TRY(resume_plans());
  // Only now it is known which servers wait for a plan to settle what they hold.
  plans_known_ = true;
  sync_users_everywhere();
  return {};
}

Result<rebalance::Revised<Snapshot>> Leader::read_epoch() {
  SLIPRING_ASSIGN(const auto record, parts_.store.get(rebalance::kEpochKey));
  rebalance::Revised<Snapshot> epoch;
  if (!record) return epoch;
  SLIPRING_ASSIGN(epoch.value, decode_snapshot(record->value));
  epoch.revision = record->revision;
  return epoch;
}

// The first epoch: refused where the servers hold keys that the scheme would look for elsewhere.
Result<Snapshot> Leader::seed() {
  if (parts_.options.seed.empty()) {
    return fail(Code::kFailedPrecondition, "no epoch is published and the configuration names no pool; add [[pool]]");
  }
  Snapshot first;
  first.epoch = Epoch{1};
  first.cluster_id = cluster_id_;
  first.pools = parts_.options.seed;
  SLIPRING_TRY(validate(first));
  learn_fences(first);
  SLIPRING_TRY(check_seed(first));
  Transaction transaction;
  transaction.expects.push_back({std::string(rebalance::kEpochKey), 0});
  transaction.writes.push_back({std::string(rebalance::kEpochKey), encode_snapshot(first)});
  SLIPRING_TRY(commit(std::move(transaction)));
  log(LogLevel::kInfo, "control", "epoch 1 published: the pools of the configuration");
  return first;
}

void Leader::learn_fences(const Snapshot& snapshot) {
  each_instance(snapshot,
                [&](const Pool& pool, const Node& node) { access_.set_fence(node.instance.address, pool.fence); });
}

Status Leader::check_seed(const Snapshot& snapshot) {
  for (const Pool& pool : snapshot.pools) {
    SLIPRING_ASSIGN(const auto routing, PoolRouting::compile(pool));
    for (const Node& node : pool.layout.nodes) {
      SLIPRING_ASSIGN(redis::Client client, access_.connect(node.instance.address));
      SLIPRING_ASSIGN(const PlacementCheck check,
                      check_placement(client, *routing, node.instance.address, kSeedSample));
      if (check.at_home * 100 >= check.sampled * kSeedAtHomePercent) continue;
      return fail(Code::kFailedPrecondition,
                  fmt::format("pool {}: node {}: {} of {} sampled keys lie where the scheme says ({}); the scheme, its "
                              "options or the order of the nodes differ from what wrote them",
                              pool.name, node.name, check.at_home, check.sampled, check.example));
    }
  }
  return {};
}

Result<uint64_t> Leader::commit(Transaction transaction) {
  return parts_.keeper.commit(std::move(transaction));
}

Status Leader::resume_plans() {
  for (const Pool& pool : current()->pools) {
    SLIPRING_ASSIGN(const auto open, parts_.store.get(rebalance::open_plan_key(pool.name)));
    if (!open) continue;
    SLIPRING_ASSIGN(const uint64_t id, rebalance::decode_open_plan(open->value));
    SLIPRING_ASSIGN(const auto record, parts_.store.get(rebalance::plan_key(id)));
    if (!record) return fail(Code::kDataLoss, fmt::format("plan {} is open but its record is missing", id));
    auto plan = rebalance::decode_plan(record->value);
    if (!plan) return fail_in(fmt::format("plan {}", id), plan.error());
    log(LogLevel::kInfo, "control", "plan {} goes on: {}", id, plan->title);
    SLIPRING_TRY(run_plan({std::move(*plan), record->revision}));
  }
  return {};
}

Status Leader::run_plan(rebalance::Revised<rebalance::PlanRecord> plan) {
  const uint64_t id = plan.value.id;
  SLIPRING_ASSIGN(const std::vector<Record> records, parts_.store.list(rebalance::group_prefix(id)));
  std::vector<rebalance::Revised<rebalance::GroupRecord>> groups;
  for (const Record& record : records) {
    auto group = rebalance::decode_group(record.value);
    if (!group) return fail_in(record.key, group.error());
    groups.push_back({std::move(*group), record.revision});
  }
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.value.index < b.value.index; });
  if (groups.size() != plan.value.group_count) {
    return fail(Code::kDataLoss,
                fmt::format("plan {}: {} of {} groups are recorded", id, groups.size(), plan.value.group_count));
  }
  const std::shared_ptr<const PoolRouting> pool_routing = routing(plan.value.pool);
  if (pool_routing == nullptr) return fail(Code::kDataLoss, fmt::format("plan {}: no pool {}", id, plan.value.pool));
  const std::lock_guard lock(mutex_);
  runners_[id] = std::make_shared<PlanRunner>(
      std::move(plan), std::move(groups), PlanRunner::Parts{parts_.store, adapter_, parts_.clock, *this, pool_routing});
  return {};
}

// ---- what plans need

void Leader::publish(std::shared_ptr<const Snapshot> snapshot) {
  std::map<std::string, std::shared_ptr<const PoolRouting>> routings;
  for (const Pool& pool : snapshot->pools) {
    if (auto compiled = PoolRouting::compile(pool)) routings[pool.name] = std::move(*compiled);
  }
  {
    const std::lock_guard lock(mutex_);
    routings_ = std::move(routings);
    shares_.clear();
  }
  learn_fences(*snapshot);
  watch_->watch(addresses_of(*snapshot));
  links_.publish(std::move(snapshot));
}

std::shared_ptr<const PoolRouting> Leader::routing(const std::string& pool) {
  const std::lock_guard lock(mutex_);
  const auto it = routings_.find(pool);
  return it == routings_.end() ? nullptr : it->second;
}

void Leader::announce_open(const rebalance::AnnounceOpen& open) {
  {
    const std::lock_guard lock(mutex_);
    attempt_ = open;
    attempt_since_ = parts_.clock.now();
  }
  links_.open_attempt(open);
}

void Leader::announce_closed(const rebalance::AnnounceClosed& closed) {
  links_.close_attempt(closed);
  {
    const std::lock_guard lock(mutex_);
    if (attempt_ && attempt_->attempt.number == closed.attempt) {
      const auto held = std::chrono::duration_cast<std::chrono::microseconds>(parts_.clock.now() - attempt_since_);
      if (closed.committed) holds_[attempt_->attempt.plan][attempt_->attempt.group] = held.count();
      attempt_.reset();
    }
  }
  attempt_closed_.notify_all();
  router_tasks_.submit([this] { refill_spares(); });
}

std::vector<rebalance::RouterView> Leader::routers() {
  const std::lock_guard lock(book_mutex_);
  return links_.views(book_.routers());
}

// Called on the runner's own thread, so somebody else has to end it.
void Leader::plan_finished(const rebalance::PlanRecord& plan) {
  reaper_.submit([this, id = plan.id] {
    const std::shared_ptr<PlanRunner> done = runner(id);
    if (done == nullptr) return;
    done->save_notes();
    const std::lock_guard lock(mutex_);
    runners_.erase(id);
  });
}

Status Leader::fence_terms(const Instance& instance) {
  return access_.fence_terms(instance.address);
}

Status Leader::fence_routers(const Instance& instance, const std::vector<uint64_t>& keep) {
  NodeAccess::Generations generations{keep, 0};
  {
    const std::lock_guard lock(book_mutex_);
    for (const auto& [id, record] : book_.routers()) {
      const uint64_t active = record.active.generation;
      if (active == 0 || std::find(keep.begin(), keep.end(), active) != keep.end()) continue;
      log(LogLevel::kWarn, "control", "router {}: its generation {} is fenced: {}", id, active, links_.describe(id));
    }
    SLIPRING_TRY(book_.strike_all_but(keep));
    generations.newest = book_.newest();
  }
  links_.bar(keep, generations.newest);
  router_tasks_.submit([this] { refill_spares(); });
  const std::lock_guard lock(users_mutex_);
  return access_.fence_routers(instance.address, generations);
}

Result<rebalance::RouterUsers> Leader::router_users(const Instance& instance) {
  SLIPRING_ASSIGN(NodeAccess::RouterUsers users, access_.router_users(instance.address));
  return rebalance::RouterUsers{0, std::move(users.generations), std::move(users.identity)};
}

Status Leader::ensure_persisted(const Instance& instance, int64_t since_ms) {
  return access_.ensure_persisted(instance.address, since_ms);
}

}  // namespace slipring::control
