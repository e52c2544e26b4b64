#include "slipring/router/dispatch.h"

#include <fmt/format.h>

#include "slipring/router/worker.h"

namespace slipring::router {
namespace {

constexpr std::string_view kNoAuth = "NOAUTH Authentication required.";
constexpr std::string_view kCrossSlot = "CROSSSLOT slipring: the keys of this command lie on different nodes";
constexpr std::string_view kTryAgain = "TRYAGAIN slipring: these keys are being moved and the move is not decided yet";
constexpr std::string_view kNowhere = "ERR slipring: no node owns this key: the router has no topology yet";

}  // namespace

bool Dispatcher::refuse(Client& client, ErrorKind kind, std::string_view text) {
  text_.clear();
  resp::append_error(text_, text);
  worker_.stats().error(kind);
  client.answer(text_);
  if (client.transaction) client.transaction->mark_refused();
  return true;
}

bool Dispatcher::refuse_check(Client& client, resp::CommandCheck check, const resp::CommandInfo* info,
                              const resp::Args& args) {
  text_.clear();
  resp::append_check_error(text_, check, info, args);
  worker_.stats().error(ErrorKind::kUnknown);
  client.answer(text_);
  if (client.transaction) client.transaction->mark_refused();
  return true;
}

bool Dispatcher::refuse_later(Client& client, const resp::CommandInfo& info) {
  return refuse(client, ErrorKind::kUnsupported, fmt::format("ERR slipring: '{}' is not supported yet", info.name));
}

bool Dispatcher::dispatch(Client& client, const resp::Args& args) {
  const resp::CommandInfo* info = nullptr;
  const resp::CommandCheck check = resp::resolve_command(args, info);
  if (check != resp::CommandCheck::kOk) [[unlikely]]
    return refuse_check(client, check, info, args);
  if (!client.session.authenticated && !info->has(resp::kCommandNoAuth)) [[unlikely]] {
    return refuse(client, ErrorKind::kAuth, kNoAuth);
  }
  const Handling handling = handling_of(*info);
  if (client.transaction && handling != Handling::kTransaction) [[unlikely]] {
    return queue(client, *info, handling, args);
  }
  return run(client, *info, handling, args);
}

bool Dispatcher::run(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args) {
  switch (handling) {
    case Handling::kForward:
      return forward(client, info, args);
    case Handling::kSplitValues:
    case Handling::kSplitSum:
    case Handling::kSplitPairs:
      return split(client, info, handling, args);
    case Handling::kAnyNode:
      return forward_anywhere(client, args.wire());
    case Handling::kAnswered:
      return answer(client, info, args);
    case Handling::kTransaction:
      return transaction(client, info);
    case Handling::kLater:
      return refuse_later(client, info);
  }
  return true;
}

// --- one node ---

// keys_ = the keys of the command. False: the arguments have no place for keys.
bool Dispatcher::find_keys(const resp::CommandInfo& info, const resp::Args& args) {
  keys_.clear();
  if (!resp::extract_keys(info, args, refs_)) return false;
  for (const resp::KeyRef& ref : refs_) keys_.push_back(args[ref.index]);
  return true;
}

bool Dispatcher::forward(Client& client, const resp::CommandInfo& info, const resp::Args& args) {
  if (info.is_single_key()) [[likely]] {
    return forward_placed(client, worker_.placer().place(args[1]), class_of(info), args.wire());
  }
  std::string_view why;
  const bool alone = worker_.nodes().size() <= 1 && info.id != resp::CommandId::kCopy;
  if (is_out_of_reach(info, args, false, why) && !(alone && info.id == resp::CommandId::kSort)) {
    return refuse(client, ErrorKind::kUnsupported, why);
  }
  // Without a place for keys the server answers with an error and touches nothing.
  if (!find_keys(info, args)) return forward_anywhere(client, args.wire());
  if (keys_.empty()) {
    return refuse(client, ErrorKind::kUnsupported,
                  fmt::format("ERR slipring: '{}' without keys is not supported yet", info.name));
  }
  return forward_placed(client, worker_.placer().place(keys_), class_of(info), args.wire());
}

bool Dispatcher::forward_placed(Client& client, const Placement& placement, CommandClass command_class,
                                std::string_view wire) {
  switch (placement.place) {
    case Place::kOne:
      if (Backend* backend = open_backend(client, placement.instance)) send(client, *backend, command_class, wire);
      return true;
    case Place::kHeld:
      return hold_or_try_again(client);
    case Place::kSeveral:
      return refuse(client, ErrorKind::kCrossSlot, kCrossSlot);
    case Place::kNowhere:
      return refuse(client, ErrorKind::kNodeDown, kNowhere);
  }
  return true;
}

bool Dispatcher::hold_or_try_again(Client& client) {
  if (worker_.trying_again()) return refuse(client, ErrorKind::kTryAgain, kTryAgain);
  worker_.hold_back(client);
  return false;
}

// The connection to use, or nullptr after answering that there is none.
Backend* Dispatcher::open_backend(Client& client, InstanceIndex instance) {
  Backend& backend = worker_.node(instance).connection(client.session.version);
  if (backend.accepts()) [[likely]]
    return &backend;
  worker_.stats().error(ErrorKind::kNodeDown);
  client.answer(backend.refusal());
  return nullptr;
}

void Dispatcher::send(Client& client, Backend& backend, CommandClass command_class, std::string_view wire) {
  ++client.in_flight;
  const Pending pending{&client, client.replies.push(), worker_.now_us(), kNoMerge, 0, command_class};
  backend.begin(pending).append(wire);
  worker_.stats().command(command_class);
}

// A node that is up, else the first; kNoInstance after answering that there is none.
InstanceIndex Dispatcher::some_instance(Client& client) {
  const auto count = static_cast<InstanceIndex>(worker_.nodes().size());
  for (InstanceIndex i = 0; i < count; ++i) {
    if (worker_.node(i).connection(client.session.version).accepts()) return i;
  }
  if (count > 0) return 0;
  refuse(client, ErrorKind::kNodeDown, kNowhere);
  return kNoInstance;
}

bool Dispatcher::forward_anywhere(Client& client, std::string_view wire) {
  const InstanceIndex instance = some_instance(client);
  if (instance == kNoInstance) return true;
  return forward_placed(client, {Place::kOne, instance}, CommandClass::kOther, wire);
}

// --- several nodes ---

namespace {

constexpr uint16_t kNoPart = UINT16_MAX;

// Argument i as it stands in the request: "$3\r\nkey\r\n".
std::string_view raw_argument(const resp::Args& args, size_t i) {
  const std::string_view text = args[i];
  size_t digits = 1;
  for (size_t n = text.size(); n >= 10; n /= 10) ++digits;
  const size_t header = digits + 3;
  return {text.data() - header, header + text.size() + 2};
}

MergeKind merge_kind(Handling handling) {
  if (handling == Handling::kSplitValues) return MergeKind::kValues;
  return handling == Handling::kSplitSum ? MergeKind::kSum : MergeKind::kOk;
}

}  // namespace

bool Dispatcher::split(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args) {
  const size_t step = handling == Handling::kSplitPairs ? 2 : 1;
  if ((args.size() - 1) % step != 0) {
    return refuse_check(client, resp::CommandCheck::kWrongArity, &info, args);
  }
  keys_.clear();
  for (size_t i = 1; i < args.size(); i += step) keys_.push_back(args[i]);
  const Place place = worker_.placer().place_each(keys_, instances_);
  if (place == Place::kSeveral) return send_parts(client, handling, args, step);
  const Placement one{place, instances_.empty() ? kNoInstance : instances_[0]};
  return forward_placed(client, one, class_of(info), args.wire());
}

// parts_, part_sizes_ and part_of_key_ from instances_: parts in the order of their first keys.
void Dispatcher::number_parts(size_t instances) {
  part_of_instance_.resize(std::max(part_of_instance_.size(), instances), kNoPart);
  parts_.clear();
  part_sizes_.clear();
  part_of_key_.clear();
  for (const InstanceIndex instance : instances_) {
    uint16_t& part = part_of_instance_[instance];
    if (part == kNoPart) {
      part = static_cast<uint16_t>(parts_.size());
      parts_.push_back(instance);
      part_sizes_.push_back(0);
    }
    ++part_sizes_[part];
    part_of_key_.push_back(part);
  }
  for (const InstanceIndex instance : parts_) part_of_instance_[instance] = kNoPart;
}

bool Dispatcher::send_parts(Client& client, Handling handling, const resp::Args& args, size_t step) {
  number_parts(worker_.nodes().size());
  // A node that is known to be down is found out before any other is touched.
  for (const InstanceIndex instance : parts_) {
    if (open_backend(client, instance) == nullptr) return true;
  }
  outs_.clear();
  const uint32_t merge =
      worker_.start_merge(client, merge_kind(handling), static_cast<uint32_t>(parts_.size()), part_of_key_);
  for (size_t part = 0; part < parts_.size(); ++part) {
    ++client.in_flight;
    const Pending pending{&client, 0, worker_.now_us(), merge, static_cast<uint16_t>(part), CommandClass::kSplit};
    net::Buffer& out = worker_.node(parts_[part]).connection(client.session.version).begin(pending);
    text_.clear();
    resp::append_array_header(text_, 1 + part_sizes_[part] * step);
    out.append(text_);
    out.append(raw_argument(args, 0));
    outs_.push_back(&out);
  }
  const std::vector<uint16_t>& part_of_key = worker_.parts_of(merge);
  for (size_t key = 0; key < part_of_key.size(); ++key) {
    for (size_t i = 0; i < step; ++i) outs_[part_of_key[key]]->append(raw_argument(args, 1 + key * step + i));
  }
  worker_.stats().command(CommandClass::kSplit);
  return true;
}

// --- answers of the router ---

LocalFacts Dispatcher::facts() const {
  LocalFacts facts;
  const Options& options = worker_.options();
  facts.client_password = options.client_password;
  facts.run_id = worker_.shared().run_id;
  facts.router_id = options.id;
  facts.listen = worker_.shared().listen;
  facts.epoch = worker_.topology() == nullptr ? 0 : to_u64(worker_.topology()->epoch);
  facts.generation = worker_.credentials().generation;
  facts.nodes = worker_.nodes().size();
  facts.uptime_s = static_cast<uint64_t>((worker_.now() - worker_.shared().started).count() / 1'000'000'000);
  facts.clients = worker_.shared().clients.load();
  facts.clients_total = worker_.stats().clients_total.get();
  for (const Counter& commands : worker_.stats().commands) facts.commands += commands.get();
  facts.unix_us = worker_.unix_us();
  return facts;
}

bool Dispatcher::answer(Client& client, const resp::CommandInfo& info, const resp::Args& args) {
  // What changes the form of replies waits until everything before it is answered.
  const bool alone = info.id == resp::CommandId::kReset ||
                     (info.id == resp::CommandId::kHello && changes_version(args, client.session));
  if (alone && !client.replies.empty()) {
    client.paused |= kPauseBarrier;
    client.mark_dirty();
    return false;
  }
  text_.clear();
  if (info.id == resp::CommandId::kPing) {
    answer_ping(args, text_);
    worker_.stats().command(CommandClass::kOther);
    return client.answer(text_), true;
  }
  const LocalEffect effect = answer_locally(info, args, facts(), client.session, text_);
  worker_.stats().command(CommandClass::kOther);
  client.answer(text_);
  if (effect == LocalEffect::kClose) client.close_when_answered();
  return true;
}

}  // namespace slipring::router
