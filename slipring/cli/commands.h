// Every command of the program, in the order of the help text. To add one: a file with its add_ function, a line here,
// a line in commands.cc.
#pragma once

#include "slipring/cli/command.h"

namespace slipring::cli {

void add_up(CLI::App& root, Context& context);
void add_down(CLI::App& root, Context& context);
void add_status(CLI::App& root, Context& context);
void add_locate(CLI::App& root, Context& context);
void add_node(CLI::App& root, Context& context);
void add_plan(CLI::App& root, Context& context);
void add_controller(CLI::App& root, Context& context);
void add_router(CLI::App& root, Context& context);
void add_topology(CLI::App& root, Context& context);
void add_config(CLI::App& root, Context& context);
void add_schemes(CLI::App& root, Context& context);
void add_place(CLI::App& root, Context& context);
void add_import(CLI::App& root, Context& context);
void add_check_vectors(CLI::App& root, Context& context);
void add_lab(CLI::App& root, Context& context);
void add_version(CLI::App& root, Context& context);

// Declares all of the above on `root`.
void add_all_commands(CLI::App& root, Context& context);

}  // namespace slipring::cli
