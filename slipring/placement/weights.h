// Members' weights in the forms that other systems count in.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/scheme.h"

namespace slipring {

// Whole numbers. kInvalidArgument names the first member whose weight is none.
Result<std::vector<uint32_t>> whole_weights(std::span<const Member> members);

// As the decimal that was written: the double nearest to it.
std::vector<double> decimal_weights(std::span<const Member> members);

}  // namespace slipring
