// The controller that a command talks to, and what goes wrong on the way there in words that help.
// Thread-safety: one thread.
#pragma once

#include <memory>

#include "slipring/cli/command.h"
#include "slipring/control/service.h"

namespace slipring::cli {

// Connects by the options; nothing is sent yet.
Result<std::unique_ptr<control::ControllerService>> connect_api(const ApiOptions& options);

// report() with the next step that fits an error of the controller.
Exit report_api(Context& context, const Error& error);

// Runs `use` with the controller; an error of either is reported.
Exit with_api(Context& context, const ApiOptions& options,
              const std::function<Result<Exit>(control::ControllerService&)>& use);

// The pool that was named, or the only one. kInvalidArgument listing them; kNotFound.
Result<const control::PoolStatus*> choose_pool(const control::ClusterStatus& status, const std::string& name);

}  // namespace slipring::cli
