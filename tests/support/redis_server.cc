#include "tests/support/redis_server.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "slipring/base/check.h"
#include "slipring/base/secret.h"
#include "slipring/store/redis/client.h"

namespace slipring::testing {
namespace {

constexpr double kServerStartSeconds = 30;

}  // namespace

RedisServer::RedisServer(RedisServerOptions options)
    : options_(std::move(options)), port_(free_port()), admin_password_(random_secret()) {
  if (options_.acl) return;
  admin_user_ = options_.password ? "default" : "";
  if (!options_.password) admin_password_ = "";
}

std::string RedisServer::address() const {
  return fmt::format("127.0.0.1:{}", port_);
}

void RedisServer::write_config() {
  const std::string path = dir_.path() + "/redis.conf";
  if (options_.users_in_config && std::filesystem::exists(path)) return;
  std::ofstream conf(path);
  conf << "bind 127.0.0.1\nport " << port_ << "\ndir " << dir_.path() << "\ndaemonize no\nloglevel notice\n"
       << "logfile redis.log\nappendonly yes\nappendfsync " << options_.appendfsync << "\nsave \"\"\n"
       << "maxmemory-policy noeviction\nrepl-diskless-sync yes\nrepl-diskless-sync-delay 5\n"
       << "repl-diskless-sync-max-replicas 0\nrepl-backlog-size 16mb\n";
  const std::string users = fmt::format("user default off\nuser slipring-admin on >{} ~* &* +@all\n", admin_password_);
  if (options_.acl && options_.users_in_config) {
    conf << users;
  } else if (options_.acl) {
    const std::string aclfile = dir_.path() + "/users.acl";
    conf << "aclfile " << aclfile << "\n";
    if (!std::filesystem::exists(aclfile)) std::ofstream(aclfile) << users;
  }
  if (!options_.acl && options_.password) conf << "requirepass " << admin_password_ << "\n";
  for (const std::string& line : options_.config) conf << line << "\n";
}

void RedisServer::start() {
  write_config();
  auto child = ChildProcess::start({"redis-server", dir_.path() + "/redis.conf"}, dir_.path() + "/stdout.log");
  SLIPRING_CHECK(child.has_value(), "redis-server is installed");
  process_ = std::move(*child);
  const bool ready = eventually(kServerStartSeconds, [&] {
    SLIPRING_CHECK(process_.running(), "redis-server keeps running after its start; see its redis.log");
    auto client = redis::Client::connect({address(), admin_user_, admin_password_, "test", Millis(1000), Millis(1000)});
    if (!client) return false;
    auto pong = client->command({"PING"});
    return pong && pong->text == "PONG";
  });
  SLIPRING_CHECK(ready, "redis-server answers PING within its start time");
}

void RedisServer::restart() {
  kill();
  start();
}

void RedisServer::restart_empty() {
  kill();
  for (const char* name : {"appendonlydir", "dump.rdb"}) std::filesystem::remove_all(dir_.path() + "/" + name);
  start();
}

}  // namespace slipring::testing
