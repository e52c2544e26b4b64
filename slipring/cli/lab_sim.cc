#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "slipring/cli/lab_command.h"
#include "slipring/lab/sim/sim.h"

namespace slipring::cli {

namespace {

struct SimOptions {
  uint64_t seed = 1;
  uint64_t seeds = 1;
  std::string variant = "none";
  bool trace = false;
  bool coverage = false;
  bool thorough = false;
};

// The run must be the same to the last event when it is repeated.
bool repeats(const lab::SimResult& result, uint64_t seed, lab::Variant variant, Console& console) {
  const lab::SimResult again = lab::run_sim({seed, variant, false});
  if (again.digest == result.digest && again.events == result.events) return true;
  console.out << fmt::format("seed {}: gives another run when it is repeated\n", seed);
  return false;
}

// Every state, action and fault that a run can reach was reached.
bool reached_all(const std::map<std::string, uint64_t>& coverage, Console& console) {
  bool all = true;
  for (const std::string& goal : lab::coverage_goals()) {
    if (const auto it = coverage.find(goal); it != coverage.end() && it->second > 0) continue;
    console.out << fmt::format("{}: was never reached\n", goal);
    all = false;
  }
  return all;
}

Exit run(const SimOptions& options, Console& console) {
  const auto variant = lab::parse_variant(options.variant);
  if (!variant) {
    console.err << "error: --variant " << options.variant << ": not known; one of none";
    for (const lab::Variant v : lab::naive_variants()) console.err << ", " << lab::variant_name(v);
    console.err << "\n";
    return Exit::kUsage;
  }
  std::map<std::string, uint64_t> coverage;
  uint64_t failed = 0;
  for (uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
    const lab::SimResult result = lab::run_sim({seed, *variant, options.trace});
    for (const std::string& line : result.trace) console.out << line << "\n";
    for (const auto& [what, count] : result.coverage) coverage[what] += count;
    const bool same = !options.thorough || seed % 10 != 0 || repeats(result, seed, *variant, console);
    if (result.ok && same) continue;
    ++failed;
    if (result.ok) continue;
    console.out << fmt::format("seed {}: {}\n  {}\n  again: {} --trace\n", seed, result.failure, result.scenario,
                               result.replay);
  }
  console.out << fmt::format("{} runs, {} failed\n", options.seeds, failed);
  if (options.coverage) {
    for (const auto& [what, count] : coverage) console.out << fmt::format("  {:<28} {:>10}\n", what, count);
  }
  const bool covered = !options.thorough || reached_all(coverage, console);
  return failed == 0 && covered ? Exit::kDone : Exit::kVerification;
}

}  // namespace

void add_lab_sim(CLI::App& lab, Context& context) {
  CLI::App* sim = add_command(lab, "sim", "Run the move's protocol in a simulated cluster with faults",
                              "slipring lab sim --seed 7 --trace");
  const auto options = std::make_shared<SimOptions>();
  sim->add_option("--seed", options->seed, "the run, or the first of several");
  sim->add_option("--seeds", options->seeds, "how many runs, each with the next seed")
      ->check(CLI::Range(1, 10'000'000));
  sim->add_option("--variant", options->variant, "a deliberately wrong protocol that must be caught");
  sim->add_flag("--trace", options->trace, "print what happens");
  sim->add_flag("--coverage", options->coverage, "print how often each state, action and fault was reached");
  sim->add_flag("--thorough", options->thorough, "repeat every tenth run, and fail if anything was never reached");
  on_run(*sim, context, [options, &context] { return run(*options, context.console); });
}

}  // namespace slipring::cli
