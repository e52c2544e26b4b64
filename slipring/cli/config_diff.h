// How the pools of a configuration file differ from the running topology. The file is never applied: each difference
// names the command that would make the change, where there is one.
// Thread-safety: pure function.
#pragma once

#include <string>
#include <vector>

#include "slipring/control/service.h"
#include "slipring/topology/snapshot.h"

namespace slipring::cli {

struct Difference {
  std::string subject;  // "pool main", "pool main node n1"
  std::string field;    // "weight"
  std::string file;     // value in the file; "absent"
  std::string running;
  std::string command;  // may be empty

  bool operator==(const Difference&) const = default;
};

// In the order of the file, then what only runs.
std::vector<Difference> compare_config(const std::vector<Pool>& file, const control::ClusterStatus& running);

}  // namespace slipring::cli
