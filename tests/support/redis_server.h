// A real redis-server of a test: on a free port of 127.0.0.1, in its own directory, with the settings that a Slipring
// store node has (aclfile, noeviction, append-only file, diskless sync). Port and data survive restart().
// Thread-safety: one owner.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "tests/support/child_process.h"

namespace slipring::testing {

struct RedisServerOptions {
  // ACL on: user `default` off, administrator `slipring-admin` with admin_password. Off: no passwords, default user on.
  bool acl = true;
  // Without ACL: a password for everybody (requirepass).
  bool password = false;
  // Users stand in redis.conf, which is written once, instead of an aclfile.
  bool users_in_config = false;
  std::string appendfsync = "always";
  // More lines for redis.conf; they come last and win.
  std::vector<std::string> config;
};

class RedisServer {
 public:
  explicit RedisServer(RedisServerOptions options = {});

  // Ready for commands on return; check-fails if it cannot start.
  void start();
  void kill() { process_.kill(); }
  void stop() { process_.stop(); }
  void resume() { process_.resume(); }
  // kill -9, then start with the same data.
  void restart();
  // kill -9, the data removed, then start.
  void restart_empty();

  std::string address() const;
  int port() const { return port_; }
  const std::string& admin_user() const { return admin_user_; }
  const std::string& admin_password() const { return admin_password_; }
  const std::string& directory() const { return dir_.path(); }
  ChildProcess& process() { return process_; }

 private:
  void write_config();
  RedisServerOptions options_;
  TempDir dir_;
  int port_;
  std::string admin_user_ = "slipring-admin";
  std::string admin_password_;
  ChildProcess process_;
};

}  // namespace slipring::testing
