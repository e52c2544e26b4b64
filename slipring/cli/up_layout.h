// What `slipring up` keeps in its directory (mode 0700), and the files that its children are started with:
//
//   up.lock                held by the `up` that runs          up.state         nodes and ports, kept over restarts
//   up.sock                its control socket                  credentials      passwords of the store servers, 0600
//   channel.token          what routers join with, 0600        controller.toml  router-1.toml ...
//   run/NAME.pid           see process.h                       log/NAME.log     output of each child
//   node/NAME/             one store server: redis.conf, users.acl, its data
//   controller/ router/    metadata store; snapshots of the routers
//
// Invariant: up.state and credentials are replaced whole; a node keeps its port for as long as it is listed.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/cli/config.h"

namespace slipring::cli {

struct UpNode {
  std::string name;
  uint16_t port = 0;
  // Seen in the topology at least once: when it is gone from there, its server is no longer needed.
  bool joined = false;

  bool operator==(const UpNode&) const = default;
};

struct UpState {
  std::vector<UpNode> seed;   // the first epoch's
  std::vector<UpNode> nodes;  // that run
  uint16_t channel_port = 0;

  bool operator==(const UpState&) const = default;
  std::vector<uint16_t> ports() const;
  const UpNode* find(std::string_view name) const;
};

std::string encode_state(const UpState& state);
// kDataLoss with the line.
Result<UpState> decode_state(std::string_view text);

class UpLayout {
 public:
  // Makes the directory and its folders. kPermissionDenied: it belongs to another user or others can enter it.
  static Result<UpLayout> open(const std::string& dir);

  std::string path(std::string_view name) const { return dir_ + "/" + std::string(name); }
  std::string pid_file(const std::string& child) const { return path("run/" + child + ".pid"); }
  std::string log_file(const std::string& child) const { return path("log/" + child + ".log"); }
  const std::string& dir() const { return dir_; }

  Result<UpState> load_state() const;  // an empty one if there is none yet
  Status save_state(const UpState& state) const;

  // Makes channel.token unless it is there.
  Status ensure_token() const;
  // redis.conf and users.acl of the node, with its password from `credentials` or a new one there. The access list
  // holds the administrator alone: a server that starts serves nobody until the controller has made its users.
  Status write_node(const UpNode& node, const std::string& fsync) const;
  // Removes the node's password and its files.
  Status remove_node(const UpNode& node) const;
  // The same, but its files are moved to node/NAME.removed-TIME and kept.
  Status retire_node(const UpNode& node, int64_t wall_ms) const;
  Status write_controller(const Config& config, const UpState& state) const;
  Status write_router(const Config& config, const UpState& state, uint32_t index) const;

 private:
  explicit UpLayout(std::string dir) : dir_(std::move(dir)) {}
  Result<std::string> password_of(const UpNode& node) const;
  Status forget_password(const UpNode& node) const;
  std::string dir_;  // absolute
};

std::string node_address(const UpNode& node);
// Where router `index` (from 1) listens: the configured port + index - 1. kInvalidArgument: no such port.
Result<std::string> router_listen(const UpOptions& up, uint32_t index);

}  // namespace slipring::cli
