// What the commands of `slipring lab` share.
// Thread-safety: one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slipring/cli/command.h"
#include "slipring/cli/lab_keys.h"
#include "slipring/cli/placement_options.h"
#include "slipring/lab/analysis/report.h"
#include "slipring/placement/scheme.h"

namespace slipring::cli {

// --json, --csv, --svg FILE, and what the analysis answers.
void on_report(CLI::App& command, Context& context, std::function<Result<lab::Report>()> analyse);

// Nodes by --nodes, or n1 to nN by --count.
struct LabNodes {
  PlacementOptions placement;
  uint64_t count = 10;
};
void add_lab_node_options(CLI::App& command, LabNodes& nodes);
Result<std::vector<Member>> read_lab_nodes(const LabNodes& nodes);

// "50,100,200". kInvalidArgument: not numbers from 1 to `max`, or more than a hundred of them.
Result<std::vector<uint64_t>> parse_numbers(std::string_view text, uint64_t max);

void add_lab_sim(CLI::App& lab, Context& context);
void add_lab_balance(CLI::App& lab, Context& context);
void add_lab_moves(CLI::App& lab, Context& context);
void add_lab_karger(CLI::App& lab, Context& context);
void add_lab_hashes(CLI::App& lab, Context& context);
void add_lab_misses(CLI::App& lab, Context& context);
void add_lab_cascade(CLI::App& lab, Context& context);
void add_lab_capacity(CLI::App& lab, Context& context);
void add_lab_maglev(CLI::App& lab, Context& context);

}  // namespace slipring::cli
