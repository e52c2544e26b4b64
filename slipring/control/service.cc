#include "slipring/control/service.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

std::string describe(const NodeAdd& add) {
  return fmt::format("add node {} at {} (weight {})", add.name, add.address, format_milli(add.weight_milli));
}
std::string describe(const NodeRemove& remove) {
  return "remove node " + remove.name;
}
std::string describe(const NodeWeight& weight) {
  return fmt::format("set the weight of node {} to {}", weight.name, format_milli(weight.weight_milli));
}

}  // namespace

bool is_final(PlanState state) {
  return state == PlanState::kCompleted || state == PlanState::kRolledBack || state == PlanState::kCancelled;
}

std::string describe(const Change& change) {
  return std::visit([](const auto& c) { return describe(c); }, change);
}

std::string describe(const SchemeSpec& scheme) {
  std::string text = scheme.name;
  for (const auto& [name, value] : scheme.options) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace slipring::control
