// The fields of every value of the API, told once: writing and reading JSON both walk over them (api_types.cc).
//
// Invariant: a field's name is its JSON name; enumerators are written by name, in the order of their values.
// Thread-safety: templates over the caller's values.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>

#include "slipring/base/parse.h"
#include "slipring/control/api_types.h"

namespace slipring::control {

// ---- names of enumerators, in the order of their values
// --------------------------------------------------------------

template <typename Enum>
struct Names;
template <>
struct Names<Severity> {
  static constexpr std::array<std::string_view, 3> kAll = {"note", "warn", "refuse"};
};
template <>
struct Names<NodeState> {
  static constexpr std::array<std::string_view, 6> kAll = {"up", "down", "loading", "joining", "leaving", "unknown"};
};
template <>
struct Names<RouterState> {
  static constexpr std::array<std::string_view, 4> kAll = {"serving", "behind", "gone", "fenced"};
};
template <>
struct Names<PlanState> {
  static constexpr std::array<std::string_view, 11> kAll = {"running",      "paused",      "grace",    "completing",
                                                            "rolling_back", "cancelling",  "stopped",  "needs_decision",
                                                            "completed",    "rolled_back", "cancelled"};
};
template <>
struct Names<MoveStage> {
  static constexpr std::array<std::string_view, 12> kAll = {"waiting",     "stream",    "verify",   "cutover",
                                                            "grace",       "cleanup",   "rollback", "done",
                                                            "rolled_back", "cancelled", "stopped",  "needs_decision"};
};
template <>
struct Names<PlanAction> {
  static constexpr std::array<std::string_view, 5> kAll = {"pause", "resume", "rollback", "complete", "cancel"};
};
template <>
struct Names<Choice> {
  static constexpr std::array<std::string_view, 3> kAll = {"owner", "other", "merge"};
};

template <typename Enum>
std::string_view enum_name(Enum value) {
  const auto& names = Names<Enum>::kAll;
  const auto i = static_cast<size_t>(value);
  return i < names.size() ? names[i] : "unknown";
}

template <typename Enum>
Result<Enum> enum_value(std::string_view name) {
  const auto& names = Names<Enum>::kAll;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return fail(Code::kInvalidArgument,
              fmt::format("\"{}\": must be one of {}", name.substr(0, 64), fmt::join(names, ", ")));
}

// ---- the fields of every type
// ---------------------------------------------------------------------------------------- v(name, field): may be left
// out. v.must(name, field): an error when missing. v.weight, v.bytes: see the header.

template <typename T, typename U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

void fields(auto& v, Of<Finding> auto& x) {
  v("severity", x.severity);
  v("check", x.check);
  v("subject", x.subject);
  v("message", x.message);
  v("todo", x.todo);
}

void fields(auto& v, Of<NodeStatus> auto& x) {
  v("name", x.name);
  v("address", x.address);
  v("generation", x.generation);
  v("zone", x.zone);
  v.weight("weight", x.weight_milli);
  v("share", x.share);
  v("keys", x.keys);
  v("bytes", x.bytes);
  v("state", x.state);
  v("detail", x.detail);
}

void fields(auto& v, Of<RouterStatus> auto& x) {
  v("id", x.id);
  v("listen", x.listen);
  v("epoch", x.epoch);
  v("generation", x.generation);
  v("state", x.state);
  v("silent_ms", x.silent_ms);
  v("clients", x.clients);
  v("commands", x.commands);
  v("errors", x.errors);
  v("held", x.held);
}

void fields(auto& v, Of<RollbackStatus> auto& x) {
  v("available", x.available);
  v("reason", x.reason);
  v("unavailable_since_ms", x.unavailable_since_ms);
}

void fields(auto& v, Of<PlanSummary> auto& x) {
  v("id", x.id);
  v("pool", x.pool);
  v("title", x.title);
  v("state", x.state);
  v("reason", x.reason);
  v("created_at_ms", x.created_at_ms);
  v("finished_at_ms", x.finished_at_ms);
  v("grace_ends_at_ms", x.grace_ends_at_ms);
  v("epoch_before", x.epoch_before);
  v("epoch_now", x.epoch_now);
  v("keys_total", x.keys_total);
  v("keys_done", x.keys_done);
  v("bytes_total", x.bytes_total);
  v("bytes_done", x.bytes_done);
  v("keys_per_second", x.keys_per_second);
  v("bytes_per_second", x.bytes_per_second);
  v("time_left_ms", x.time_left_ms);
  v("feed_lag_bytes", x.feed_lag_bytes);
  v("rollback", x.rollback);
}

void fields(auto& v, Of<PoolStatus> auto& x) {
  v("name", x.name);
  v("kind", x.kind);
  v("fence", x.fence);
  v("scheme", x.scheme);
  v("key_prefix", x.key_prefix);
  v("nodes", x.nodes);
  v("plan", x.plan);
}

void fields(auto& v, Of<ClusterStatus> auto& x) {
  v("cluster_id", x.cluster_id);
  v("version", x.version);
  v("epoch", x.epoch);
  v("leader", x.leader);
  v("term", x.term);
  v("pools", x.pools);
  v("routers", x.routers);
  v("warnings", x.warnings);
}

void fields(auto& v, Of<Location> auto& x) {
  v.bytes("key", x.key);
  v("owner", x.owner);
  v("address", x.address);
  v("preference_list", x.preference_list);
  v("point", x.point);
  v("range", x.range);
  v("epoch", x.epoch);
  v("old_owner", x.old_owner);
  v("new_owner", x.new_owner);
  v("stage", x.stage);
}

void fields(auto& v, Of<NodeAdd> auto& x) {
  v.must("name", x.name);
  v.must("address", x.address);
  v.weight("weight", x.weight_milli);
  v("zone", x.zone);
}
void fields(auto& v, Of<NodeRemove> auto& x) {
  v.must("name", x.name);
}
void fields(auto& v, Of<NodeWeight> auto& x) {
  v.must("name", x.name);
  v.must_weight("weight", x.weight_milli);
}

void fields(auto& v, Of<PlanOptions> auto& x) {
  v("grace_ms", x.grace_ms);
  v("keys_per_second", x.keys_per_second);
  v("bytes_per_second", x.bytes_per_second);
  v("accept_weaker", x.accept_weaker);
}

void fields(auto& v, Of<ChangeRequest> auto& x) {
  v("pool", x.pool);
  v.must("change", x.change);
  v("options", x.options);
}

void fields(auto& v, Of<MoveEstimate> auto& x) {
  v("source", x.source);
  v("target", x.target);
  v("share", x.share);
  v("keys", x.keys);
  v("bytes", x.bytes);
}

void fields(auto& v, Of<NodeLoad> auto& x) {
  v("node", x.node);
  v("share_before", x.share_before);
  v("share_after", x.share_after);
  v("keys_before", x.keys_before);
  v("keys_after", x.keys_after);
  v("bytes_before", x.bytes_before);
  v("bytes_after", x.bytes_after);
}

void fields(auto& v, Of<PlanPreview> auto& x) {
  v("pool", x.pool);
  v("title", x.title);
  v("epoch", x.epoch);
  v("share_moved", x.share_moved);
  v("share_least", x.share_least);
  v("moves", x.moves);
  v("loads", x.loads);
  v("keys", x.keys);
  v("bytes", x.bytes);
  v("estimated_ms", x.estimated_ms);
  v("slices", x.slices);
  v("slices_with_instant_rollback", x.slices_with_instant_rollback);
  v("findings", x.findings);
}

void fields(auto& v, Of<Started> auto& x) {
  v("plan", x.plan);
  v("findings", x.findings);
}

void fields(auto& v, Of<MoveProgress> auto& x) {
  v("index", x.index);
  v("source", x.source);
  v("target", x.target);
  v("slice", x.slice);
  v("stage", x.stage);
  v("target_owns", x.target_owns);
  v("keys_total", x.keys_total);
  v("keys_done", x.keys_done);
  v("bytes_done", x.bytes_done);
  v("keys_per_second", x.keys_per_second);
  v("bytes_per_second", x.bytes_per_second);
  v("time_left_ms", x.time_left_ms);
  v("dirty_keys", x.dirty_keys);
  v("rounds", x.rounds);
  v("attempts", x.attempts);
  v("hold_us", x.hold_us);
  v("reason", x.reason);
  v.bytes("key", x.key);
}

void fields(auto& v, Of<VerificationRow> auto& x) {
  v("source", x.source);
  v("target", x.target);
  v("slice", x.slice);
  v("keys_source", x.keys_source);
  v("keys_target", x.keys_target);
  v("bytes_source", x.bytes_source);
  v("bytes_target", x.bytes_target);
  v("digest_source", x.digest_source);
  v("digest_target", x.digest_target);
  v("equal", x.equal);
}

void fields(auto& v, Of<PlanDetail> auto& x) {
  v("summary", x.summary);
  v("options", x.options);
  v("moves", x.moves);
  v("moves_total", x.moves_total);
  v("verification", x.verification);
  v("hold_longest_us", x.hold_longest_us);
  v("strays", x.strays);
  v("alarms", x.alarms);
}

void fields(auto& v, Of<PlanEvent> auto& x) {
  v("sequence", x.sequence);
  v("at_ms", x.at_ms);
  v("severity", x.severity);
  v("text", x.text);
}

void fields(auto& v, Of<LocateRequest> auto& x) {
  v("pool", x.pool);
  v.must_bytes_list("keys", x.keys);
}
void fields(auto& v, Of<LocateAnswer> auto& x) {
  v("locations", x.locations);
}
void fields(auto& v, Of<StartRequest> auto& x) {
  fields(v, x.request);
  v.must("if_epoch", x.if_epoch);
}
void fields(auto& v, Of<PlansAnswer> auto& x) {
  v("plans", x.plans);
}
void fields(auto& v, Of<EventsAnswer> auto& x) {
  v("events", x.events);
}
void fields(auto& v, Of<ActRequest> auto& x) {
  v("force", x.force);
}
void fields(auto& v, Of<DecideRequest> auto& x) {
  v.must("choice", x.choice);
}
void fields(auto& v, Of<SpawnRequest> auto& x) {
  v.must("name", x.name);
}
void fields(auto& v, Of<SpawnAnswer> auto& x) {
  v("address", x.address);
}
void fields(auto& v, Of<EpochAnswer> auto& x) {
  v("epoch", x.epoch);
}
void fields(auto&, Of<DoneAnswer> auto&) {}
void fields(auto& v, Of<ErrorBody> auto& x) {
  v("code", x.code);
  v("message", x.message);
  v("findings", x.findings);
}

// The alternatives of Change by their "type", in the order of the variant.
constexpr std::array<std::string_view, 3> kChangeTypes = {"add_node", "remove_node", "set_weight"};

}  // namespace slipring::control
