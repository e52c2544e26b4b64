// `slipring lab`: what would happen, before anything is changed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <ostream>

#include "slipring/base/parse.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/lab_command.h"
#include "slipring/cli/lab_output.h"
#include "slipring/cli/node_spec.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/lab/analysis/svg.h"
#include "slipring/placement/registry.h"

namespace slipring::cli {
namespace {

constexpr size_t kNumbersMax = 100;

struct Output {
  bool csv = false;
  std::string svg;
};

Status write_svg(const std::string& path, const lab::Report& report) {
  if (report.plots.empty()) return fail(Code::kInvalidArgument, "--svg: this analysis has nothing to plot");
  std::ofstream out(path, std::ios::binary);
  out << lab::svg_of(report.plots);
  out.flush();
  if (!out) return fail(Code::kInvalidArgument, fmt::format("--svg {}: cannot be written", path));
  return {};
}

Exit show(Context& context, const Output& output, const Result<lab::Report>& made) {
  if (!made) return report(context, made.error());
  if (!output.svg.empty()) {
    if (const Status written = write_svg(output.svg, *made); !written) return report(context, written.error());
  }
  context.console.out << (context.json ? json_of(*made) : output.csv ? csv_of(*made) : text_of(*made));
  return Exit::kDone;
}

}  // namespace

void on_report(CLI::App& command, Context& context, std::function<Result<lab::Report>()> analyse) {
  const auto output = std::make_shared<Output>();
  add_json_option(command, context);
  command.add_flag("--csv", output->csv, "tables as CSV")->excludes("--json");
  command.add_option("--svg", output->svg, "write plots to this file too");
  on_run(command, context,
         [&context, output, analyse = std::move(analyse)] { return show(context, *output, analyse()); });
}

void add_lab_node_options(CLI::App& command, LabNodes& nodes) {
  add_placement_options(command, nodes.placement, false);
  command.add_option("--count", nodes.count, "so many equal nodes n1, n2, ... where --nodes is not given")
      ->check(CLI::Range(uint64_t{1}, uint64_t{kMembersMax}))
      ->capture_default_str();
}

Result<std::vector<Member>> read_lab_nodes(const LabNodes& nodes) {
  if (nodes.placement.nodes.empty()) return lab::numbered_members(nodes.count);
  return read_nodes(nodes.placement.nodes);
}

Result<std::vector<uint64_t>> parse_numbers(std::string_view text, uint64_t max) {
  std::vector<uint64_t> numbers;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    SLIPRING_ASSIGN(const uint64_t number, parse_u64(text.substr(0, comma), 1, max));
    numbers.push_back(number);
    if (numbers.size() > kNumbersMax)
      return fail(Code::kInvalidArgument, fmt::format("more than {} numbers", kNumbersMax));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  if (numbers.empty()) return fail(Code::kInvalidArgument, "no number");
  return numbers;
}

void add_lab(CLI::App& root, Context& context) {
  CLI::App* lab = add_group(root, "lab", "See what would happen: analyses and simulations; they change nothing");
  for (const auto add : {add_lab_balance, add_lab_moves, add_lab_karger, add_lab_hashes, add_lab_misses,
                         add_lab_cascade, add_lab_capacity, add_lab_maglev, add_lab_sim}) {
    add(*lab, context);
  }
}

}  // namespace slipring::cli
