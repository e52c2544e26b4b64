#include "slipring/control/node_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "slipring/base/parse.h"
#include "slipring/base/secret.h"
#include "slipring/store/redis/connections.h"
#include "slipring/store/redis/inspect.h"
#include "slipring/store/redis/users.h"

namespace slipring::control {
namespace {

constexpr Millis kSavePoll{50};
constexpr std::chrono::minutes kSaveMax{10};

uint64_t number(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto it = fields.find(name);
  return it == fields.end() ? 0 : parse_u64(it->second, 0, UINT64_MAX).value_or(0);
}

std::string text(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto it = fields.find(name);
  return it == fields.end() ? "" : it->second;
}

bool contains(std::span<const uint64_t> generations, uint64_t generation) {
  return std::find(generations.begin(), generations.end(), generation) != generations.end();
}

Status newer_term(const std::string& address, uint64_t term) {
  return fail(Code::kFailedPrecondition,
              fmt::format("{}: a newer controller than term {} has taken over", address, term));
}

// Servers before Redis 6 take a password alone, which later ones take as that of `default`.
std::string login_user(const NodeCredential& login) {
  return login.user == "default" ? "" : login.user;
}

}  // namespace

NodeAccess::NodeAccess(CredentialsOf credentials_of, std::function<Status()> still_leads, const Clock& clock,
                       std::string cluster_id, uint64_t term)
    : credentials_of_(std::move(credentials_of)),
      still_leads_(std::move(still_leads)),
      clock_(clock),
      cluster_id_(std::move(cluster_id)),
      term_(term),
      controller_password_(random_secret()),
      mover_password_(random_secret()) {}

void NodeAccess::set_fence(const std::string& address, PoolFence fence) {
  server(address)->fence.store(fence);
}

std::shared_ptr<NodeAccess::Server> NodeAccess::server(const std::string& address) {
  const std::lock_guard lock(mutex_);
  auto& s = servers_[address];
  if (s == nullptr) s = std::make_shared<Server>();
  return s;
}

void NodeAccess::forget(const std::string& address) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  s->fenced = false;
  s->client.close();
}

Status NodeAccess::fence_terms(const std::string& address) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  return fence_terms(address, *s);
}

Status NodeAccess::fence_terms(const std::string& address, Server& s) {
  if (s.fence.load() == PoolFence::kNames) {
    SLIPRING_TRY(fence_terms_by_names(address));
  } else {
    SLIPRING_ASSIGN(const NodeCredential admin, credentials_of_(address));
    SLIPRING_TRY(fence_terms_by_users(address, admin));
  }
  s.fenced = true;
  return {};
}

// Both sides of a race make their own users first and look afterwards, so at least one of them sees the other, and the
// older one gives way.
Status NodeAccess::fence_terms_by_users(const std::string& address, const NodeCredential& admin) {
  SLIPRING_ASSIGN(redis::Client client,
                  redis::Client::connect({address, admin.user, admin.password, "slipring/admin"}));
  SLIPRING_ASSIGN(const bool has_acl, redis::has_acl(client));
  if (!has_acl) {
    return fail(Code::kUnimplemented,
                fmt::format("{}: the server has no ACL (Redis 6 and later have it, unless the command is renamed); a "
                            "pool of such servers needs fence = \"names\", see docs/operations.md",
                            address));
  }
  const std::string controller = redis::controller_user(cluster_id_, term_);
  const std::string mover = redis::mover_user(cluster_id_, term_);
  SLIPRING_TRY(redis::create_controller_user(client, controller, controller_password_));
  SLIPRING_TRY(redis::create_mover_user(client, mover, mover_password_));
  SLIPRING_ASSIGN(const std::vector<std::string> users, redis::list_users(client));
  std::vector<std::string> older;
  bool newer = false;
  for (const std::string& user : users) {
    const auto term = redis::term_of(cluster_id_, user);
    if (term && *term < term_) older.push_back(user);
    newer = newer || (term && *term > term_);
  }
  if (newer) older = {controller, mover};
  SLIPRING_TRY(redis::delete_users(client, older));
  if (newer) return newer_term(address, term_);
  return redis::make_users_durable(client);
}

// An older term's connection that is not on the list yet will find, once it is named, that its lease is gone.
Status NodeAccess::fence_terms_by_names(const std::string& address) {
  SLIPRING_ASSIGN(const redis::Endpoint own, named_endpoint(address, redis::controller_user(cluster_id_, term_)));
  SLIPRING_ASSIGN(redis::Client client, redis::Client::connect(own));
  SLIPRING_ASSIGN(const std::vector<redis::Connection> connections, redis::list_connections(client));
  for (const redis::Connection& c : connections) {
    if (redis::term_of(cluster_id_, c.name).value_or(0) > term_) return newer_term(address, term_);
  }
  return redis::end_connections(client, [&](std::string_view name) {
    const auto term = redis::term_of(cluster_id_, name);
    return term && *term < term_;
  });
}

Result<redis::Endpoint> NodeAccess::named_endpoint(const std::string& address, std::string name) {
  SLIPRING_ASSIGN(const NodeCredential login, credentials_of_(address));
  redis::Endpoint endpoint{address, login_user(login), login.password, std::move(name)};
  endpoint.confirm = still_leads_;
  return endpoint;
}

Result<redis::Endpoint> NodeAccess::endpoint(const std::string& address, const Server& s, std::string user,
                                             const std::string& password, std::string_view label) {
  if (s.fence.load() == PoolFence::kNames) return named_endpoint(address, std::move(user));
  return redis::Endpoint{address, std::move(user), password, fmt::format("slipring/{}/{}", label, term_)};
}

Status NodeAccess::connect(const std::string& address, Server& s) {
  if (!s.fenced) SLIPRING_TRY(fence_terms(address, s));
  SLIPRING_ASSIGN(const redis::Endpoint own,
                  endpoint(address, s, redis::controller_user(cluster_id_, term_), controller_password_, "ctl"));
  auto client = redis::Client::connect(own);
  if (!client && client.error().code == Code::kUnauthenticated) {
    // The server has lost the users of this term, by a restart for instance; a newer leader would show itself.
    SLIPRING_TRY(fence_terms(address, s));
    client = redis::Client::connect(own);
  }
  if (!client) return fail(client.error());
  s.client = std::move(*client);
  return {};
}

template <typename Work>
auto NodeAccess::with_client(const std::string& address, Work work)
    -> decltype(work(std::declval<redis::Client&>(), std::declval<Server&>())) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  if (!s->client.open() || !s->client.command({"PING"})) {
    if (auto connected = connect(address, *s); !connected) return fail(connected.error());
  }
  return work(s->client, *s);
}

Result<redis::Client> NodeAccess::connect(const std::string& address) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  redis::Client shared = std::move(s->client);
  const Status connected = connect(address, *s);
  std::swap(shared, s->client);
  if (!connected) return fail(connected.error());
  return shared;
}

Result<redis::Endpoint> NodeAccess::mover_endpoint(const std::string& address) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  if (!s->fenced) SLIPRING_TRY(fence_terms(address, *s));
  return endpoint(address, *s, redis::mover_user(cluster_id_, term_), mover_password_, "mover");
}

Status NodeAccess::delete_generations(redis::Client& client, std::span<const uint64_t> keep) {
  SLIPRING_ASSIGN(const std::vector<std::string> users, redis::list_users(client));
  std::vector<std::string> gone;
  for (const std::string& user : users) {
    const auto generation = redis::router_generation_of(cluster_id_, user);
    if (generation && !contains(keep, *generation)) gone.push_back(user);
  }
  SLIPRING_TRY(redis::delete_users(client, gone));
  return redis::make_users_durable(client);
}

Status NodeAccess::end_generations(redis::Client& client, Server& s, const Generations& generations) {
  SLIPRING_ASSIGN(const redis::LiveState state, redis::live_state(client));
  SLIPRING_TRY(redis::end_connections(client, [&](std::string_view name) {
    const auto generation = redis::router_generation_of(cluster_id_, name);
    return generation && !contains(generations.keep, *generation);
  }));
  s.fenced_run_id = state.identity.run_id;
  s.fenced_routers = generations;
  return {};
}

Status NodeAccess::fence_routers(const std::string& address, const Generations& generations) {
  return with_client(address, [&](redis::Client& client, Server& s) -> Status {
    if (s.fence.load() == PoolFence::kNames) return end_generations(client, s, generations);
    return delete_generations(client, generations.keep);
  });
}

Status NodeAccess::shut_out_routers(const std::string& address) {
  return with_client(address, [&](redis::Client& client, Server& s) -> Status {
    if (s.fence.load() == PoolFence::kNames) return {};
    return delete_generations(client, {});
  });
}

Status NodeAccess::sync_router_users(const std::string& address, const std::string& run_id,
                                     std::span<const channel::Credentials> wanted, uint64_t newest,
                                     std::string_view key_prefix) {
  return with_client(address, [&](redis::Client& client, Server& s) -> Status {
    // One connection leads to one process, so what is made below is made in the one that is meant.
    SLIPRING_ASSIGN(const redis::LiveState state, redis::live_state(client));
    if (state.identity.run_id != run_id) return fail(Code::kAborted, address + ": the server was restarted meanwhile");
    std::vector<uint64_t> keep;
    for (const channel::Credentials& c : wanted) keep.push_back(c.generation);
    if (s.fence.load() == PoolFence::kNames) {
      return redis::end_connections(client, [&](std::string_view name) {
        const auto generation = redis::router_generation_of(cluster_id_, name);
        return generation && *generation <= newest && !contains(keep, *generation);
      });
    }
    SLIPRING_ASSIGN(const std::vector<redis::RouterLogin> logins, redis::list_router_logins(client));
    std::set<std::string> usable;
    for (const redis::RouterLogin& login : logins) {
      if (!login.password_hashes.empty()) usable.insert(login.user);
    }
    for (const channel::Credentials& c : wanted) {
      // SETUSER with `reset` ends the connections of a user that exists.
      if (!usable.contains(c.user)) {
        SLIPRING_TRY(redis::create_router_user(client, c.user, c.password, key_prefix));
      }
    }
    return delete_generations(client, keep);
  });
}

// Those whose connections may carry requests.
Result<std::vector<uint64_t>> NodeAccess::connected_generations(redis::Client& client, const Server& s,
                                                                const std::string& run_id) {
  SLIPRING_ASSIGN(const std::vector<redis::Connection> connections, redis::list_connections(client));
  std::set<uint64_t> found;
  for (const redis::Connection& c : connections) {
    const auto generation = redis::router_generation_of(cluster_id_, c.name);
    if (!generation) continue;
    const bool fenced = s.fenced_run_id == run_id && *generation <= s.fenced_routers.newest &&
                        !contains(s.fenced_routers.keep, *generation);
    if (!fenced) found.insert(*generation);
  }
  return std::vector<uint64_t>(found.begin(), found.end());
}

Result<NodeAccess::RouterUsers> NodeAccess::router_users(const std::string& address) {
  return with_client(address, [&](redis::Client& client, Server& s) -> Result<RouterUsers> {
    RouterUsers found;
    if (s.fence.load() == PoolFence::kNames) {
      SLIPRING_ASSIGN(const redis::LiveState before, redis::live_state(client));
      SLIPRING_ASSIGN(found.generations, connected_generations(client, s, before.identity.run_id));
    } else {
      SLIPRING_ASSIGN(const std::vector<std::string> users, redis::list_users(client));
      for (const std::string& user : users) {
        if (auto generation = redis::router_generation_of(cluster_id_, user)) found.generations.push_back(*generation);
      }
      std::sort(found.generations.begin(), found.generations.end());
    }
    SLIPRING_ASSIGN(const redis::LiveState state, redis::live_state(client));
    found.identity = state.identity;
    return found;
  });
}

Result<ServerFacts> NodeAccess::inspect(const std::string& address) {
  return with_client(address, [&](redis::Client& client, Server&) { return redis::inspect(client, clock_); });
}

Result<ServerFacts> NodeAccess::pulse(const std::string& address) {
  return with_client(address, [&](redis::Client& client, Server&) { return redis::pulse(client); });
}

Status NodeAccess::ensure_persisted(const std::string& address, int64_t since_ms) {
  const auto s = server(address);
  {
    const std::lock_guard lock(s->mutex);
    if (s->persisted_since_ms >= since_ms && s->persisted_since_ms != 0) return {};
  }
  SLIPRING_ASSIGN(redis::Client client, connect(address));
  const int64_t begin_ms = clock_.wall_ms();
  SLIPRING_TRY(save_and_wait(client));
  const std::lock_guard lock(s->mutex);
  s->persisted_since_ms = std::max(s->persisted_since_ms, begin_ms);
  return {};
}

// Starts a save of the kind that the server keeps and waits for its end. One that runs already began too early to
// count.
Status NodeAccess::save_and_wait(redis::Client& client) {
  const std::string& address = client.endpoint().address;
  SLIPRING_ASSIGN(const ServerFacts facts, redis::inspect(client, clock_));
  if (!facts.append_only && !facts.saves_rdb) return {};
  const std::string counter = facts.append_only ? "aof_rewrites" : "rdb_saves";
  const std::string outcome = facts.append_only ? "aof_last_bgrewrite_status" : "rdb_last_bgsave_status";
  const MonoTime give_up = clock_.now() + kSaveMax;
  bool begun = false;
  uint64_t before = 0;
  for (;;) {
    SLIPRING_ASSIGN(const auto now, client.info("persistence"));
    const bool busy = number(now, "aof_rewrite_in_progress") != 0 || number(now, "rdb_bgsave_in_progress") != 0 ||
                      number(now, "aof_rewrite_scheduled") != 0;
    if (!begun && !busy) {
      before = number(now, counter);
      SLIPRING_TRY(client.call({facts.append_only ? "BGREWRITEAOF" : "BGSAVE"}));
      begun = true;
    } else if (begun && !busy) {
      if (text(now, outcome) != "ok") {
        return fail(Code::kUnavailable, fmt::format("{}: {} is {}", address, outcome, text(now, outcome)));
      }
      if (number(now, counter) > before) return {};
    }
    if (clock_.now() > give_up) {
      return fail(Code::kUnavailable, fmt::format("{}: a background save takes longer than 10 minutes", address));
    }
    std::this_thread::sleep_for(kSavePoll);
  }
}

}  // namespace slipring::control
