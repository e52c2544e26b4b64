// The TOML file of a controller, a router and `slipring up`: one file may serve all three. config_table.h lists every
// key with its limits; docs/config.md is generated from the same table.
//
// Invariant: a Config that was loaded holds only values inside their limits; an unknown key is an error; every error
// names file, line and column. The pools in it seed the first epoch and nothing else: later the topology is what was
// published, and `slipring config diff` shows what differs. Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/control/options.h"
#include "slipring/router/options.h"

namespace slipring::cli {

struct UpOptions {
  uint32_t nodes = 3;
  uint32_t routers = 1;
  std::string dir = "./slipring-data";
  std::string listen = "127.0.0.1:6400";  // router i listens on port + i - 1
  std::string api = "127.0.0.1:7400";
  std::string fsync = "everysec";
  std::string redis_server = "redis-server";
};

struct Config {
  control::ControllerOptions controller;  // its seed holds the pools
  router::Options router;
  std::string router_password_file;
  std::string router_node_credentials_file;
  UpOptions up;
};

inline constexpr size_t kConfigBytesMax = 16u << 20;

// kNotFound: no such file; kInvalidArgument: `FILE:LINE:COLUMN: key: what is wrong`.
Result<Config> load_config(const std::string& path);
Result<Config> parse_config(std::string_view text, const std::string& path);

}  // namespace slipring::cli
