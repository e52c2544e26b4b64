// The controller's answers as text for people.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/control/service.h"

namespace slipring::cli {

std::string render_status(const control::ClusterStatus& status);
std::string render_nodes(const control::PoolStatus& pool);
std::string render_routers(const std::vector<control::RouterStatus>& routers);
std::string render_locations(const std::vector<control::Location>& locations);

std::string render_findings(const std::vector<control::Finding>& findings);
std::string render_preview(const control::PlanPreview& preview);

std::string render_plans(const std::vector<control::PlanSummary>& plans);
// State, moves, verification, what can be done.
std::string render_plan(const control::PlanDetail& plan);
// One row for every source and target: how far, how fast, how long still. At most `rows_max` rows.
std::string render_progress(const control::PlanDetail& plan, size_t rows_max);
// What was compared, both sides; equal rows beyond `rows_max` are counted, rows that differ are all shown.
std::string render_verification(const std::vector<control::VerificationRow>& rows, size_t rows_max);
// How long commands were held at the cutovers; empty before the first.
std::string render_holds(const control::PlanDetail& plan);
// "slipring plan rollback 7 takes it back until ...": what can be done in this state.
std::string render_next_steps(const control::PlanSummary& plan);

}  // namespace slipring::cli
