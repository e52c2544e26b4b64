// What a controller is started with.
// Thread-safety: values.
#pragma once

#include <string>
#include <vector>

#include "slipring/rebalance/plan.h"
#include "slipring/topology/snapshot.h"

namespace slipring::control {

struct ControllerOptions {
  std::string id = "c1";                   // stable name among the controllers of a cluster, [A-Za-z0-9._-]{1,64}
  std::string dir;                         // its metadata store and move checkpoints; made with mode 0700
  std::string api = "127.0.0.1:7400";      // HTTP
  std::string api_token_file;              // bearer token; empty: loopback only
  std::string channel = "127.0.0.1:7401";  // routers connect here
  std::string channel_token_file;          // what they must present (secret_file.h)
  std::string credentials_file;            // NodeCredentials: how to log in to store servers
  std::string supervisor;                  // socket of the `slipring up` that runs the servers; empty: none
  int64_t lease_ms = 3'000;                // how long the leader's lease lasts without being renewed
  rebalance::PlanOptions plan;             // defaults of a plan, and its limits
  std::vector<Pool> seed;                  // the first epoch, published only while there is none
};

}  // namespace slipring::control
