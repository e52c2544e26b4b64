// Whether keys lie on the servers where an imported pool expects them: a sample is read from the servers themselves,
// with SCAN from Redis, with `lru_crawler metadump` from memcached.
// Thread-safety: one caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/import/import.h"

namespace slipring::cli {

struct LiveOptions {
  uint64_t sample = 1000;        // keys a server
  std::string credentials_file;  // empty: no passwords
};

struct LiveServer {
  std::string node;
  uint64_t sampled = 0;
  uint64_t at_home = 0;
};

// The least share of sampled keys at home with which a pool is taken over.
inline constexpr double kLiveShareMin = 0.99;

struct LiveReport {
  std::vector<LiveServer> servers;
  uint64_t sampled = 0;
  uint64_t at_home = 0;
  std::string cause;  // where the share is below kLiveShareMin: what is probably otherwise

  double share() const { return sampled == 0 ? 1 : static_cast<double>(at_home) / static_cast<double>(sampled); }
};

// kUnavailable: a server does not answer; kInvalidArgument: its protocol has no way to list keys.
Result<LiveReport> verify_live(const import::Imported& imported, const Pool& pool, const LiveOptions& options);

}  // namespace slipring::cli
