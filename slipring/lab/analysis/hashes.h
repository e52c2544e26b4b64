// How evenly hash functions spread these keys, and what they cost: a choice between good ones is a choice by speed.
// Thread-safety: pure functions.
#pragma once

#include "slipring/base/clock.h"
#include "slipring/lab/analysis/keys.h"
#include "slipring/lab/analysis/report.h"

namespace slipring::lab {

// REQUIRES: buckets is at least 2. Cost: a hash of every key by every function, and some milliseconds each.
Report analyse_hashes(const KeySet& keys, uint64_t buckets, const Clock& clock);

}  // namespace slipring::lab
