// The controller's access to store servers: its own users of this term, the routers' users, the mover's credentials.
// Every server has an administrator whose password comes from a file; with it the controller only makes the users of
// its term and removes those of older terms, everything else runs under the term's own user, so that a newer leader can
// end it. On servers that are fenced by names (design/0008) what would be a user's name is the name of connections: the
// controller and the mover log in by the file and use a connection only when the lease is still theirs after the server
// has confirmed its name; routers ask for permits.
//
// Invariant: nothing is done on a server under a term before older terms are removed there, and a term that finds a
// newer one on a server withdraws its own users and fails. Thread-safety: any thread; calls block on servers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/channel/messages.h"
#include "slipring/control/secret_file.h"
#include "slipring/store/redis/client.h"
#include "slipring/store/server_facts.h"
#include "slipring/topology/snapshot.h"

namespace slipring::control {

class NodeAccess {
 public:
  using CredentialsOf = std::function<Result<NodeCredential>(const std::string& address)>;

  // `still_leads` reads in the store whether the lease is this term's.
  NodeAccess(CredentialsOf credentials_of, std::function<Status()> still_leads, const Clock& clock,
             std::string cluster_id, uint64_t term);

  // How the server is fenced; by ACL if nobody says so.
  void set_fence(const std::string& address, PoolFence fence);

  // Makes this term's users on the server and removes those of older terms, durably. kFailedPrecondition: a newer term
  // has been there.
  Status fence_terms(const std::string& address);
  // How the mover logs in; fences older terms first if that was not done yet.
  Result<redis::Endpoint> mover_endpoint(const std::string& address);

  // Generations of routers: those up to `newest` were given out when the others were chosen.
  struct Generations {
    std::vector<uint64_t> keep;
    uint64_t newest = 0;
  };
  // Makes the router users of the server exactly these, if it is the process `run_id`; kAborted: it is another one.
  // By names: ends the connections of older generations that are not among them.
  Status sync_router_users(const std::string& address, const std::string& run_id,
                           std::span<const channel::Credentials> wanted, uint64_t newest, std::string_view key_prefix);
  // Removes every router user of this cluster whose generation is not to be kept, durably. By names: ends their
  // connections; the caller permits no further ones.
  Status fence_routers(const std::string& address, const Generations& generations);
  // No router may log in any more. By names there is nothing to do: a process has to be admitted.
  Status shut_out_routers(const std::string& address);
  struct RouterUsers {
    std::vector<uint64_t> generations;  // ascending
    ServerIdentity identity;            // read after the list
  };
  Result<RouterUsers> router_users(const std::string& address);

  Result<ServerFacts> inspect(const std::string& address);
  // Of inspect() only what one INFO tells: identity, loading, keys, memory.
  Result<ServerFacts> pulse(const std::string& address);
  // Waits until a background save or rewrite that began after `since_ms` (wall clock) has ended well; nothing to do
  // where the server persists nothing. kUnavailable: it failed or takes too long; ask again.
  Status ensure_persisted(const std::string& address, int64_t since_ms);

  // A connection under the term's controller user, for work of its own. Fences older terms first if needed.
  Result<redis::Client> connect(const std::string& address);

  // Forgets that the server was fenced: its process is another one.
  void forget(const std::string& address);

 private:
  struct Server {
    std::atomic<PoolFence> fence{PoolFence::kAcl};
    std::mutex mutex;
    // The last fence by names: connections that such generations have made since can carry no request.
    std::string fenced_run_id;
    Generations fenced_routers;
    redis::Client client;
    bool fenced = false;
    int64_t persisted_since_ms = 0;  // a save that began then has ended well
  };
  std::shared_ptr<Server> server(const std::string& address);
  Status fence_terms(const std::string& address, Server& server);
  Status fence_terms_by_users(const std::string& address, const NodeCredential& admin);
  Status fence_terms_by_names(const std::string& address);
  Status connect(const std::string& address, Server& server);
  // How to connect as this user of our term, or under its name.
  Result<redis::Endpoint> named_endpoint(const std::string& address, std::string name);
  Result<redis::Endpoint> endpoint(const std::string& address, const Server& server, std::string user,
                                   const std::string& password, std::string_view label);
  // Runs `work` on the server's shared connection; a connection that broke earlier is replaced.
  template <typename Work>
  auto with_client(const std::string& address, Work work)
      -> decltype(work(std::declval<redis::Client&>(), std::declval<Server&>()));
  Status save_and_wait(redis::Client& client);
  Status delete_generations(redis::Client& client, std::span<const uint64_t> keep);
  Status end_generations(redis::Client& client, Server& server, const Generations& generations);
  Result<std::vector<uint64_t>> connected_generations(redis::Client& client, const Server& server,
                                                      const std::string& run_id);

  CredentialsOf credentials_of_;
  const std::function<Status()> still_leads_;
  const Clock& clock_;
  const std::string cluster_id_;
  const uint64_t term_;
  const std::string controller_password_;
  const std::string mover_password_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Server>> servers_;
};

}  // namespace slipring::control
