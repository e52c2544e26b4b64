// The router's counters as Prometheus text. Thread-safety: any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slipring/router/worker.h"

namespace slipring::router {

// Asks each worker for the states of its connections, so the workers must be running; waits at most a second.
std::string expose(const Options& options, const Shared& shared, const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace slipring::router
