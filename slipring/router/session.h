// What the router remembers of a client between its commands. Thread-safety: values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "slipring/protocol/resp/write.h"

namespace slipring::router {

struct ClientNames {
  std::string name;
  std::string library;
  std::string library_version;
};

struct Session {
  uint64_t id = 0;
  resp::Version version = resp::Version::kResp2;
  bool authenticated = false;
  std::unique_ptr<ClientNames> names;  // most clients give none

  ClientNames& named() {
    if (!names) names = std::make_unique<ClientNames>();
    return *names;
  }
};

}  // namespace slipring::router
