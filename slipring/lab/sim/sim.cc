#include "slipring/lab/sim/sim.h"

#include <initializer_list>

#include "slipring/lab/sim/cluster.h"

namespace slipring::lab {

namespace {

struct VariantName {
  Variant variant;
  std::string_view name;
};
constexpr VariantName kVariants[] = {
    {Variant::kNone, "none"},
    {Variant::kReleaseByClock, "release-by-clock"},
    {Variant::kAckWithoutNumber, "ack-without-number"},
    {Variant::kLeaseWithoutFence, "lease-without-fence"},
    {Variant::kMoverWithoutTerm, "mover-without-term"},
    {Variant::kNaiveReconnect, "naive-reconnect"},
    {Variant::kEagerCleanup, "eager-cleanup"},
    {Variant::kPermitKept, "permit-kept"},
    {Variant::kFenceWithoutBar, "fence-without-bar"},
    {Variant::kAbsenceUnchecked, "absence-unchecked"},
};

}  // namespace

std::string_view variant_name(Variant variant) {
  for (const VariantName& v : kVariants) {
    if (v.variant == variant) return v.name;
  }
  return "unknown";
}

std::optional<Variant> parse_variant(std::string_view name) {
  for (const VariantName& v : kVariants) {
    if (v.name == name) return v.variant;
  }
  return std::nullopt;
}

std::vector<Variant> naive_variants() {
  std::vector<Variant> variants;
  for (const VariantName& v : kVariants) {
    if (v.variant != Variant::kNone) variants.push_back(v.variant);
  }
  return variants;
}

// Not among them, because only several rare things together lead there: a batch dropped unread, a key that grew too
// large, an older leader that still answers.
std::vector<std::string> coverage_goals() {
  std::vector<std::string> goals;
  const auto add = [&](std::string_view kind, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) goals.push_back(std::string(kind) + " " + std::string(name));
  };
  add("stage", {"planned", "streaming", "verifying", "ready", "cutover", "grace", "rolling_back", "cleanup", "done",
                "needs_decision", "stopped", "cancelled"});
  add("plan", {"store_read", "store_commit", "fence_terms", "fence_routers", "list_router_users", "ensure_persisted",
               "announce_open", "announce_closed", "publish", "start_copy", "tell_copy", "stop_copy", "note",
               "completed", "rolled_back", "cancelled"});
  add("copy", {"open_feed", "barrier", "scan", "read_keys", "write_keys", "compare_keys", "delete_keys", "feeds_open",
               "copied_once", "ready", "not_ready", "sealed", "seal_broken", "flipped", "swept", "alarm",
               "owner_changed", "peer_trouble"});
  add("copy phase", {"waiting", "copying", "settling", "verifying", "steady", "sealing", "sealed", "flipping",
                     "merging", "sweeping", "swept", "stopped"});
  add("gate", {"start_hold", "ack", "withdraw", "try_again", "release"});
  add("order", {"pause", "resume", "rollback", "complete", "cancel", "decide owner", "decide other", "decide merge"});
  add("store", {"unknown", "aborted"});
  add("router", {"refused", "timeout"});
  add("fence", {"acl", "names"});
  add("permit", {"granted", "fenced", "wait"});
  add("fault", {"controller_crash", "controller_stop", "router_crash", "router_stop", "link_cut", "partition",
                "slow_to_controller", "slow_to_router", "feed_cut", "server_crash", "server_empty", "server_stop",
                "store_down", "store_lost_reply", "store_late", "foreign_write"});
  return goals;
}

SimResult run_sim(const SimOptions& options) {
  return Cluster(options).run();
}

}  // namespace slipring::lab
