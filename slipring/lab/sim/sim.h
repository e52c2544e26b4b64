// The move's protocol in a simulated world: servers, routers, clients, controllers and a metadata store in one thread,
// from one seed. The product's own cores run unchanged (PlanMachine, CopyMachine, AttemptGate, PoolRouting,
// MemoryStore); what is around them is simulated, and faults are injected at times and actions that the seed chooses.
//
// Checked all the time: no node but the owner executes a write; a read gives the last executed write; a copy is not
// written on the owner's side nor the last copy of a key removed; in the end the plan is closed, every key is at its
// owner with its value, and nowhere else.
// Thread-safety: run_sim() may run on several threads at once; it shares nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipring::lab {

// Deliberately wrong ways of doing one thing; the simulation must catch each.
enum class Variant : uint8_t {
  kNone = 0,
  kReleaseByClock,     // a router lets held commands go when its bound has passed
  kAckWithoutNumber,   // an acknowledgement counts for whatever attempt is open
  kLeaseWithoutFence,  // router users are not removed: silence counts as death
  kMoverWithoutTerm,   // users of an older controller's mover stay
  kNaiveReconnect,     // a lost feed is opened again as if nothing had happened in between
  kEagerCleanup,       // cleanup removes what it finds, without asking the owner
  kPermitKept,         // by names: a permit counts for later connections of the generation too
  kFenceWithoutBar,    // by names: connections are ended, but permits are still given
  kAbsenceUnchecked,   // an owner that restarted empty is copied as if its keys had been deleted
};
std::string_view variant_name(Variant variant);
std::optional<Variant> parse_variant(std::string_view name);
std::vector<Variant> naive_variants();

struct SimOptions {
  uint64_t seed = 1;
  Variant variant = Variant::kNone;
  bool trace = false;  // keep every line of what happened
};

struct SimResult {
  bool ok = false;
  std::string failure;   // the first violated invariant; empty if ok
  std::string replay;    // the command that runs it again
  std::string scenario;  // what the seed chose
  uint64_t events = 0;
  uint64_t digest = 0;  // of everything that happened: equal for equal seeds
  int64_t simulated_ms = 0;
  std::map<std::string, uint64_t> coverage;  // states, actions, faults: how often
  std::vector<std::string> trace;
};

// Deterministic. Cost: some tens of milliseconds.
SimResult run_sim(const SimOptions& options);

// Everything that coverage is expected to reach over many seeds.
std::vector<std::string> coverage_goals();

}  // namespace slipring::lab
