// Which pools mcrouter's routes lead to, by which keys and with which hash.
// Thread-safety: pure.
#pragma once

#include <string>
#include <vector>

#include "slipring/import/tree.h"

namespace slipring::import {

struct McrouterHash {
  Mark at;
  std::string function;  // empty: by default
  const Tree* weights = nullptr;
  const Tree* tags = nullptr;
  const Tree* salt = nullptr;
};

struct McrouterUse {
  std::string pool;
  Mark at;
  McrouterHash hash;
  std::string key_prefix;
  // Why it is not clear that all its keys go there by the hash, and where that stands; empty: it is.
  std::string unclear;
  Mark unclear_at;
};

// In the order of the text; a pool that several routes lead to is unclear. kInvalidArgument: no route.
Result<std::vector<McrouterUse>> find_mcrouter_uses(const Tree& root, Draft& draft);

}  // namespace slipring::import
