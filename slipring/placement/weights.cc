#include "slipring/placement/weights.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring {

Result<std::vector<uint32_t>> whole_weights(std::span<const Member> members) {
  std::vector<uint32_t> weights;
  weights.reserve(members.size());
  for (const Member& member : members) {
    if (member.weight_milli % 1000 != 0) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: weight {}: must be a whole number", member.name,
                                                      format_milli(member.weight_milli)));
    }
    weights.push_back(static_cast<uint32_t>(member.weight_milli / 1000));
  }
  return weights;
}

std::vector<double> decimal_weights(std::span<const Member> members) {
  std::vector<double> weights;
  weights.reserve(members.size());
  // Both operands are exact and division rounds once, so the quotient is what parsing the decimal gives.
  for (const Member& member : members) weights.push_back(static_cast<double>(member.weight_milli) / 1000.0);
  return weights;
}

}  // namespace slipring
