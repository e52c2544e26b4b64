// A plan as people want to see it, from its records and the progress of its copies. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "slipring/control/plan_runner.h"
#include "slipring/control/service.h"
#include "slipring/control/survey.h"

namespace slipring::control {

// How long commands were held at the last cutover of each group, in microseconds.
using PlanHolds = std::map<uint32_t, int64_t>;

struct PlanReport {
  PlanSummary summary;
  std::vector<MoveProgress> moves;  // by index in the plan
  std::vector<VerificationRow> verification;
  int64_t hold_longest_us = 0;
  uint64_t strays = 0;
};

struct PlanReportInput {
  const PlanView& view;
  const std::vector<MoveCount>& estimates;  // by move; may be empty
  const PlanHolds& holds;
  uint64_t epoch_now = 0;
};

PlanReport report_plan(const PlanReportInput& input);

MoveStage move_stage(const rebalance::PlanRecord& plan, const rebalance::GroupRecord& group);
PlanState plan_state(const PlanView& view);

}  // namespace slipring::control
