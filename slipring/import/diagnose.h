// Why keys do not lie where an imported pool expects them: the pool with one or a few of its settings changed, asked
// for the same keys. Thread-safety: pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slipring/topology/snapshot.h"

namespace slipring::import {

// A key, and the index of the node that holds it.
struct Sighting {
  std::string key;
  NodeIndex node = 0;
};

struct Diagnosis {
  double share = 0;   // of the sightings that the variant explains, 0 to 1
  std::string cause;  // "hash is md5"; empty: no variant explains more than the pool itself
};

inline constexpr size_t kVariantsMax = 2000;
inline constexpr size_t kSightingsUsedMax = 2000;

// The variant that explains most, of equal ones that with the fewest changes. Cost: makes and asks at most kVariantsMax
// schemes.
Diagnosis diagnose(const Layout& layout, std::span<const Sighting> sightings);

}  // namespace slipring::import
