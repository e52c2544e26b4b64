// Slipring's ACL users on the servers: one a router generation, one a mover and one a controller term. Removing a user
// is the fence: it bars new logins and kills the connections of that user before the reply comes back.
//
// Names carry the cluster's id: slipring-r-CLUSTER-ROUTER-gGENERATION, slipring-mover-CLUSTER-TERM,
// slipring-ctl-CLUSTER-TERM. Thread-safety: pure functions and functions on the caller's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/store/redis/client.h"

namespace slipring::redis {

std::string router_user(std::string_view cluster_id, std::string_view router_id, uint64_t generation);
std::string mover_user(std::string_view cluster_id, uint64_t term);
std::string controller_user(std::string_view cluster_id, uint64_t term);

// The generation of a router user's name, the term of a mover's or controller's; nullopt: the name is not of that kind
// or of another cluster.
std::optional<uint64_t> router_generation_of(std::string_view cluster_id, std::string_view user);
std::optional<uint64_t> term_of(std::string_view cluster_id, std::string_view user);

// A router's, mover's or controller's user of any cluster. The administrator's user is none: people log in with it.
bool is_slipring_user(std::string_view user);

// Creates or replaces the user; an existing one loses what it had. `key_prefix` limits a router to the pool's keys.
Status create_router_user(Client& admin, std::string_view user, std::string_view password, std::string_view key_prefix);
Status create_mover_user(Client& admin, std::string_view user, std::string_view password);
Status create_controller_user(Client& admin, std::string_view user, std::string_view password);

Result<std::vector<std::string>> list_users(Client& admin);

// A router's user as the server lists it.
struct RouterLogin {
  std::string user;
  std::vector<std::string> password_hashes;  // none: read from a file after a restart, nobody can log in with it
};
// Router users of any cluster.
Result<std::vector<RouterLogin>> list_router_logins(Client& admin);
// Users that do not exist are no error.
Status delete_users(Client& admin, std::span<const std::string> users);

// Writes the user list where a restart would read it: ACL SAVE with an aclfile, CONFIG REWRITE with a config file,
// nothing where neither exists. Router users are written without their passwords, so that a server which was restarted
// lets no router in before the controller has made its users anew; what is connected stays so.
// kFailedPrecondition: it cannot be written; the message says what to do.
Status make_users_durable(Client& admin);

}  // namespace slipring::redis
