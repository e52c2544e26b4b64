// How evenly a placement spreads keys and bytes, and what the number of vnodes buys: choose it by data.
// Thread-safety: pure functions.
#pragma once

#include <span>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/lab/analysis/keys.h"
#include "slipring/lab/analysis/report.h"
#include "slipring/placement/scheme.h"

namespace slipring::lab {

struct BalanceInput {
  SchemeSpec spec;
  std::vector<Member> members;
  std::vector<uint64_t> vnodes;  // compared, for rings; empty: not
  uint64_t rings = 200;          // over which theory is measured
  bool redact = false;           // name no key
};

// kInvalidArgument: the placement cannot be made. Cost: linear in keys and in rings x tokens. The clock measures
// look-ups.
Result<Report> analyse_balance(const BalanceInput& input, const KeySet& keys, const Clock& clock);

// The weights as shares of their sum.
std::vector<double> fair_shares(std::span<const Member> members);

// Nanoseconds of one look-up by the batch form, over the keys again and again for some milliseconds.
double nanos_per_lookup(const Scheme& scheme, std::span<const std::string_view> keys, const Clock& clock);

}  // namespace slipring::lab
