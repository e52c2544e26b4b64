#include "slipring/control/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/fault_point.h"
#include "slipring/base/log.h"

namespace slipring::control {
namespace {

constexpr Millis kViewEvery{250};

// By index of PlanAction, as fault points name them.
constexpr std::string_view kActionNames[] = {
    "store_read",      "store_commit", "fence_terms", "fence_routers", "list_users", "ensure_saved", "announce_open",
    "announce_closed", "publish",      "start_copy",  "tell_copy",     "stop_copy",  "note"};
static_assert(std::size(kActionNames) == std::variant_size_v<rebalance::PlanAction>);

}  // namespace

using namespace rebalance;  // NOLINT: the runner speaks the machine's language throughout

PlanRunner::PlanRunner(Revised<PlanRecord> plan, std::vector<Revised<GroupRecord>> groups, Parts parts,
                       PlanLimits limits)
    : parts_(std::move(parts)), id_(plan.value.id), machine_(std::move(plan), std::move(groups), limits) {
  load_notes();
  publish_view();
  thread_ = std::thread([this] { drive(); });
}

PlanRunner::~PlanRunner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Input& input : inputs_) {
      if (auto* request = std::get_if<OrderRequest>(&input)) {
        request->answer.set_value(fail(Code::kUnavailable, "this controller no longer leads"));
      }
    }
    inputs_.clear();
  }
  inputs_ready_.notify_all();
  thread_.join();
  for (std::promise<Status>& answer : taken_orders_) {
    answer.set_value(fail(Code::kDeadlineExceeded, "this controller no longer leads; look at the plan"));
  }
  copies_.clear();
}

Status PlanRunner::order(Order order, uint32_t group) {
  std::promise<Status> promise;
  std::future<Status> answer = promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return fail(Code::kUnavailable, "this controller no longer leads");
    inputs_.emplace_back(OrderRequest{order, group, std::move(promise)});
  }
  inputs_ready_.notify_one();
  return answer.get();
}

void PlanRunner::routers_changed() {
  post(RefreshRouters{});
}
void PlanRunner::acknowledged(uint64_t attempt, uint64_t generation) {
  post(PlanEvent(AttemptAcked{attempt, generation}));
}
void PlanRunner::withdraw_asked(uint64_t attempt) {
  post(PlanEvent(WithdrawAsked{attempt}));
}

void PlanRunner::post(Input input) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    inputs_.push_back(std::move(input));
  }
  inputs_ready_.notify_one();
}

void PlanRunner::drive() {
  perform(machine_.start(now()));
  for (;;) {
    look_at_routers();
    publish_view();
    save_notes_soon();
    std::deque<Input> inputs;
    {
      std::unique_lock lock(mutex_);
      // The view shows how copies get on, so it is renewed even when nothing happens.
      const MonoTime renew = parts_.clock.now() + kViewEvery;
      const Nanos left = std::min(machine_.next_wake().value_or(renew), renew) - parts_.clock.now();
      if (left > Nanos(0)) inputs_ready_.wait_for(lock, left, [&] { return ending_ || !inputs_.empty(); });
      if (ending_) return;
      inputs.swap(inputs_);
    }
    for (Input& input : inputs) handle(input);
    answer_orders();
    const std::optional<MonoTime> wake = machine_.next_wake();
    if (wake && *wake <= parts_.clock.now()) perform(machine_.on(PlanTick{}, now()));
  }
}

// A router that falls silent changes without anybody saying so.
void PlanRunner::look_at_routers() {
  std::vector<RouterView> routers = parts_.host.routers();
  if (routers == routers_) return;
  routers_ = routers;
  perform(machine_.on(RoutersChanged{std::move(routers)}, now()));
}

void PlanRunner::handle(Input& input) {
  if (auto* event = std::get_if<PlanEvent>(&input)) return perform(machine_.on(*event, now()));
  if (std::holds_alternative<RefreshRouters>(input)) return look_at_routers();
  auto& request = std::get<OrderRequest>(input);
  auto actions = machine_.order(request.order, request.group, now());
  if (!actions) return request.answer.set_value(Status(fail(actions.error())));
  taken_orders_.push_back(std::move(request.answer));
  perform(std::move(*actions));
}

// Whoever gave an order hears of it when a crash could not undo it any more.
void PlanRunner::answer_orders() {
  if (taken_orders_.empty() || machine_.saving()) return;
  publish_view();
  for (std::promise<Status>& answer : taken_orders_) answer.set_value({});
  taken_orders_.clear();
}

void PlanRunner::perform(PlanActions actions) {
  for (const PlanAction& action : actions) {
    fault_point("plan", kActionNames[action.index()], "before");
    std::visit([this](const auto& a) { perform(a); }, action);
    fault_point("plan", kActionNames[action.index()], "after");
  }
  if (machine_.finished() && !finished_told_) {
    finished_told_ = true;
    publish_view();
    parts_.host.plan_finished(machine_.plan());
  }
}

void PlanRunner::perform(const StoreRead& action) {
  StoreRecords event{action.id, {}};
  for (const std::string& key : action.keys) {
    auto record = parts_.store.get(key);
    if (!record) return post(PlanEvent(StoreFailed{action.id, record.error().message}));
    event.records.push_back(record->value_or(Record{key, "", 0}));
  }
  post(PlanEvent(std::move(event)));
}

void PlanRunner::perform(const StoreCommit& action) {
  auto revision = parts_.host.commit(action.transaction);
  StoreCommitted event{action.id, CommitOutcome::kCommitted, revision ? *revision : 0};
  if (!revision) {
    const Code code = revision.error().code;
    event.outcome = code == Code::kAborted            ? CommitOutcome::kAborted
                    : code == Code::kDeadlineExceeded ? CommitOutcome::kUnknown
                                                      : CommitOutcome::kUnavailable;
  }
  post(PlanEvent(std::move(event)));
}

void PlanRunner::run_task(uint64_t id, std::function<Status()> task) {
  tasks_.submit([this, id, task = std::move(task)] {
    const Status status = task();
    post(PlanEvent(Done{id, status.has_value(), status ? "" : status.error().message}));
  });
}

void PlanRunner::perform(const FenceTerms& action) {
  run_task(action.id, [this, instance = action.instance] { return parts_.host.fence_terms(instance); });
}

void PlanRunner::perform(const FenceRouters& action) {
  run_task(action.id, [this, instance = action.instance, keep = action.keep] {
    return parts_.host.fence_routers(instance, keep);
  });
}

void PlanRunner::perform(const ListRouterUsers& action) {
  tasks_.submit([this, id = action.id, instance = action.instance] {
    auto users = parts_.host.router_users(instance);
    if (!users) return post(PlanEvent(Done{id, false, users.error().message}));
    users->id = id;
    post(PlanEvent(std::move(*users)));
  });
}

void PlanRunner::perform(const EnsurePersisted& action) {
  run_task(action.id, [this, instance = action.instance, since = action.since_ms] {
    return parts_.host.ensure_persisted(instance, since);
  });
}

void PlanRunner::perform(const AnnounceOpen& action) {
  publish_view();  // routers may answer before the loop comes round
  parts_.host.announce_open(action);
}
void PlanRunner::perform(const AnnounceClosed& action) {
  publish_view();
  parts_.host.announce_closed(action);
}
void PlanRunner::perform(const Publish& action) {
  parts_.host.publish(action.snapshot);
}

KeyFilter PlanRunner::filter_of(uint32_t group) const {
  std::vector<MoveInGroup> in_group;  // by move of the plan
  const std::vector<GroupMove>& moves = machine_.group(group).moves;
  for (size_t i = 0; i < moves.size(); ++i) {
    if (moves[i].move >= in_group.size()) in_group.resize(moves[i].move + 1, kNoMoveInGroup);
    in_group[moves[i].move] = static_cast<MoveInGroup>(i);
  }
  return [routing = parts_.routing, in_group = std::move(in_group)](std::string_view key) {
    if (!key.starts_with(routing->pool().key_prefix)) return kNoMoveInGroup;
    const MoveIndex move = routing->decide(key).move;
    return move < in_group.size() ? in_group[move] : kNoMoveInGroup;
  };
}

void PlanRunner::perform(const StartCopy& action) {
  copies_.erase(action.group);
  const GroupRecord& group = machine_.group(action.group);
  CopyExecutorOptions options;
  options.spec = action.spec;
  options.addresses.push_back(group.source.address);
  for (const GroupMove& move : group.moves) options.addresses.push_back(move.target.address);
  options.filter = filter_of(action.group);
  options.key_bytes_max = machine_.plan().options.key_bytes_max;
  const uint32_t index = action.group;
  Copy& copy = copies_[index];
  copy.at = parts_.clock.now();
  copy.executor = std::make_unique<CopyExecutor>(
      std::move(options), parts_.adapter, parts_.clock, [this, index](const CopyAction& report) {
        if (const auto* alarm = std::get_if<Alarm>(&report)) {
          add_note(index, true, fmt::format("key {:?}: {}", alarm->key, alarm->what));
        }
        post(PlanEvent(CopyReport{index, report}));
      });
}

void PlanRunner::perform(const TellCopy& action) {
  const auto copy = copies_.find(action.group);
  if (copy != copies_.end()) copy->second.executor->tell(action.command, action.attempt);
}

void PlanRunner::perform(const StopCopy& action) {
  copies_.erase(action.group);
}

void PlanRunner::perform(const Note& action) {
  add_note(action.group, false, action.text);
}

void PlanRunner::add_note(uint32_t group, bool alarm, std::string text) {
  log(alarm ? LogLevel::kWarn : LogLevel::kInfo, "plan", "plan {} group {}: {}", id_,
      group == kNoGroup ? std::string("-") : std::to_string(group), text);
  const std::lock_guard lock(mutex_);
  notes_.push_back({++last_note_, parts_.clock.wall_ms(), group, alarm, std::move(text)});
  if (notes_.size() > kPlanNotesMax) notes_.pop_front();
}

void PlanRunner::load_notes() {
  const auto record = parts_.store.get(plan_notes_key(id_));
  if (!record || !*record) return;
  auto notes = decode_plan_notes((*record)->value);
  if (!notes) return log(LogLevel::kWarn, "plan", "plan {}: {}", id_, notes.error().message);
  const std::lock_guard lock(mutex_);
  notes_ = std::move(*notes);
  if (!notes_.empty()) last_note_ = saved_note_ = notes_.back().sequence;
}

// On a task, so that no cutover waits for it; several notes are one write.
void PlanRunner::save_notes_soon() {
  {
    const std::lock_guard lock(mutex_);
    if (saving_notes_ || saved_note_ == last_note_) return;
    saving_notes_ = true;
  }
  tasks_.submit([this] {
    save_notes();
    const std::lock_guard lock(mutex_);
    saving_notes_ = false;
  });
}

void PlanRunner::save_notes() {
  const std::lock_guard one_at_a_time(save_mutex_);
  Transaction transaction;
  uint64_t newest = 0;
  {
    const std::lock_guard lock(mutex_);
    if (saved_note_ == last_note_) return;
    newest = last_note_;
    transaction.writes.push_back({plan_notes_key(id_), encode(notes_)});
  }
  if (!parts_.host.commit(std::move(transaction))) return;  // tried again with the next view
  const std::lock_guard lock(mutex_);
  saved_note_ = std::max(saved_note_, newest);
}

// Rates over the last half second or more.
void PlanRunner::measure(Copy& copy, const CopyProgress& progress, MonoTime now) {
  const double seconds = static_cast<double>((now - copy.at).count()) * 1e-9;
  if (seconds < 0.5) return;
  copy.keys_per_second = static_cast<double>(progress.copied_keys - copy.before.copied_keys) / seconds;
  copy.bytes_per_second = static_cast<double>(progress.copied_bytes - copy.before.copied_bytes) / seconds;
  copy.before = progress;
  copy.at = now;
}

void PlanRunner::publish_view() {
  PlanView view;
  view.plan = machine_.plan();
  for (uint32_t i = 0; i < machine_.group_count(); ++i) {
    GroupView group;
    group.record = machine_.group(i);
    if (const auto copy = copies_.find(i); copy != copies_.end()) {
      group.copying = true;
      group.progress = copy->second.executor->progress();
      group.phase = copy->second.executor->phase();
      measure(copy->second, group.progress, parts_.clock.now());
      group.keys_per_second = copy->second.keys_per_second;
      group.bytes_per_second = copy->second.bytes_per_second;
    }
    view.groups.push_back(std::move(group));
  }
  const Status rollback = machine_.rollback_available();
  view.rollback_available = rollback.has_value();
  if (!rollback) view.rollback_reason = rollback.error().message;
  view.open_attempt = machine_.open_attempt();
  view.recovered = machine_.recovered();
  const std::lock_guard lock(mutex_);
  view_ = std::move(view);
}

PlanView PlanRunner::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::vector<PlanNote> PlanRunner::notes(uint64_t after, size_t limit) const {
  const std::lock_guard lock(mutex_);
  return notes_after(notes_, after, limit);
}

}  // namespace slipring::control
