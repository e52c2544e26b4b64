#include "slipring/control/node_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "slipring/base/parse.h"
#include "slipring/base/secret.h"
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

}  // namespace

NodeAccess::NodeAccess(CredentialsOf credentials_of, const Clock& clock, std::string cluster_id, uint64_t term)
    : credentials_of_(std::move(credentials_of)),
      clock_(clock),
      cluster_id_(std::move(cluster_id)),
      term_(term),
      controller_password_(random_secret()),
      mover_password_(random_secret()) {}

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

// Both sides of a race make their own users first and look afterwards, so at least one of them sees the other, and the
// older one gives way.
Status NodeAccess::fence_terms(const std::string& address, Server& s) {
  SLIPRING_ASSIGN(const NodeCredential admin, credentials_of_(address));
  SLIPRING_ASSIGN(redis::Client client,
                  redis::Client::connect({address, admin.user, admin.password, "slipring/admin"}));
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
  if (newer) {
    return fail(Code::kFailedPrecondition,
                fmt::format("{}: a newer controller than term {} has taken over", address, term_));
  }
  SLIPRING_TRY(redis::make_users_durable(client));
  s.fenced = true;
  return {};
}

Status NodeAccess::connect(const std::string& address, Server& s) {
  if (!s.fenced) SLIPRING_TRY(fence_terms(address, s));
  const redis::Endpoint endpoint{address, redis::controller_user(cluster_id_, term_), controller_password_,
                                 fmt::format("slipring/ctl/{}", term_)};
  auto client = redis::Client::connect(endpoint);
  if (!client && client.error().code == Code::kUnauthenticated) {
    // The server has lost the users of this term, by a restart for instance; a newer leader would show itself.
    SLIPRING_TRY(fence_terms(address, s));
    client = redis::Client::connect(endpoint);
  }
  if (!client) return fail(client.error());
  s.client = std::move(*client);
  return {};
}

template <typename Work>
auto NodeAccess::with_client(const std::string& address, Work work) -> decltype(work(std::declval<redis::Client&>())) {
  const auto s = server(address);
  const std::lock_guard lock(s->mutex);
  if (!s->client.open() || !s->client.command({"PING"})) {
    if (auto connected = connect(address, *s); !connected) return fail(connected.error());
  }
  return work(s->client);
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
  return redis::Endpoint{address, redis::mover_user(cluster_id_, term_), mover_password_,
                         fmt::format("slipring/mover/{}", term_)};
}

Status NodeAccess::delete_generations(redis::Client& client, std::span<const uint64_t> keep) {
  SLIPRING_ASSIGN(const std::vector<std::string> users, redis::list_users(client));
  std::vector<std::string> gone;
  for (const std::string& user : users) {
    const auto generation = redis::router_generation_of(cluster_id_, user);
    if (generation && std::find(keep.begin(), keep.end(), *generation) == keep.end()) gone.push_back(user);
  }
  SLIPRING_TRY(redis::delete_users(client, gone));
  return redis::make_users_durable(client);
}

Status NodeAccess::fence_routers(const std::string& address, std::span<const uint64_t> keep) {
  return with_client(address, [&](redis::Client& client) { return delete_generations(client, keep); });
}

Status NodeAccess::sync_router_users(const std::string& address, std::span<const channel::Credentials> wanted,
                                     std::string_view key_prefix) {
  return with_client(address, [&](redis::Client& client) -> Status {
    SLIPRING_ASSIGN(const std::vector<redis::RouterLogin> logins, redis::list_router_logins(client));
    std::set<std::string> usable;
    for (const redis::RouterLogin& login : logins) {
      if (!login.password_hashes.empty()) usable.insert(login.user);
    }
    std::vector<uint64_t> keep;
    for (const channel::Credentials& c : wanted) {
      keep.push_back(c.generation);
      // SETUSER with `reset` ends the connections of a user that exists.
      if (!usable.contains(c.user)) {
        SLIPRING_TRY(redis::create_router_user(client, c.user, c.password, key_prefix));
      }
    }
    return delete_generations(client, keep);
  });
}

Result<NodeAccess::RouterUsers> NodeAccess::router_users(const std::string& address) {
  return with_client(address, [&](redis::Client& client) -> Result<RouterUsers> {
    SLIPRING_ASSIGN(const std::vector<std::string> users, redis::list_users(client));
    RouterUsers found;
    for (const std::string& user : users) {
      if (auto generation = redis::router_generation_of(cluster_id_, user)) found.generations.push_back(*generation);
    }
    std::sort(found.generations.begin(), found.generations.end());
    SLIPRING_ASSIGN(const redis::LiveState state, redis::live_state(client));
    found.identity = state.identity;
    return found;
  });
}

Result<ServerFacts> NodeAccess::inspect(const std::string& address) {
  return with_client(address, [&](redis::Client& client) { return redis::inspect(client, clock_); });
}

Result<ServerFacts> NodeAccess::pulse(const std::string& address) {
  return with_client(address, [&](redis::Client& client) { return redis::pulse(client); });
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
