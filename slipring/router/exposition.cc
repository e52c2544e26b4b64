#include "slipring/router/exposition.h"

#include <chrono>
#include <future>

#include "slipring/metrics/exposition.h"

namespace slipring::router {
namespace {

using metrics::Exposition;
using metrics::Kind;
using metrics::Labels;

constexpr double kSecondsPerUs = 1e-6;
constexpr std::chrono::seconds kAnswerWithin{1};

void add_counts(const Stats& stats, Exposition& out) {
  const auto gauge = [&](std::string_view name, std::string_view help, const Counter& counter) {
    out.add(Kind::kGauge, name, help, {}, static_cast<double>(counter.get()));
  };
  const auto count = [&](std::string_view name, std::string_view help, const Labels& labels, const Counter& counter) {
    out.add(Kind::kCounter, name, help, labels, static_cast<double>(counter.get()));
  };
  gauge("slipring_router_clients", "Client connections now.", stats.clients);
  gauge("slipring_router_held_commands", "Commands that wait for an open attempt now.", stats.held_now);
  gauge("slipring_router_buffered_bytes", "Memory of all client and server buffers.", stats.buffered_bytes);
  count("slipring_router_clients_total", "Client connections accepted.", {}, stats.clients_total);
  count("slipring_router_clients_cut_total", "Clients cut off at a limit.", {}, stats.clients_cut);
  count("slipring_router_held_commands_total", "Commands that waited for an attempt.", {}, stats.held_total);
  for (size_t i = 0; i < kCommandClasses; ++i) {
    count("slipring_router_commands_total", "Commands by class.", {{"class", kCommandClassNames[i]}},
          stats.commands[i]);
    out.add("slipring_router_latency_seconds", "From taking a command to its reply, by class.",
            {{"class", kCommandClassNames[i]}}, stats.latency[i].read(), kSecondsPerUs);
  }
  for (size_t i = 0; i < kErrorKinds; ++i) {
    count("slipring_router_errors_total", "Errors that clients got, by kind.", {{"kind", kErrorKindNames[i]}},
          stats.errors[i]);
  }
  out.add("slipring_router_hold_seconds", "How long commands waited for an attempt.", {}, stats.held.read(),
          kSecondsPerUs);
}

struct NodeCounts {
  std::string node;
  uint64_t open = 0;
  uint64_t ready = 0;
  uint64_t pending = 0;
};

// Runs on the worker's loop.
std::vector<NodeCounts> count_connections(const Worker& worker) {
  std::vector<NodeCounts> counts;
  for (const auto& node : worker.nodes()) {
    NodeCounts& one = counts.emplace_back();
    one.node = node->name;
    node->each([&](const Backend& backend) {
      if (backend.state() == BackendState::kIdle) return;
      one.open += 1;
      one.ready += backend.ready() ? 1 : 0;
      one.pending += backend.pending();
    });
  }
  return counts;
}

void add_connections(const NodeCounts& counts, Exposition& out) {
  const Labels labels = {{"node", counts.node}};
  const auto gauge = [&](std::string_view name, std::string_view help, uint64_t value) {
    out.add(Kind::kGauge, name, help, labels, static_cast<double>(value));
  };
  gauge("slipring_router_connections", "Connections to a node, down ones included.", counts.open);
  gauge("slipring_router_connections_ready", "Connections to a node that carry requests.", counts.ready);
  gauge("slipring_router_pending", "Requests to a node without a reply.", counts.pending);
}

}  // namespace

std::string expose(const Options& options, const Shared& shared, const std::vector<std::unique_ptr<Worker>>& workers) {
  Exposition out;
  out.add(Kind::kGauge, "slipring_router_epoch", "The epoch that all threads serve by.", {{"router", options.id}},
          static_cast<double>(shared.epoch.load()));
  out.add(Kind::kGauge, "slipring_router_generation", "The generation that servers know this router by.", {},
          static_cast<double>(shared.generation.load()));
  out.add(Kind::kGauge, "slipring_router_controller_connected", "1 while the controller is there.", {},
          shared.controller_connected.load() ? 1 : 0);
  for (const auto& worker : workers) add_counts(worker->stats(), out);
  for (const auto& worker : workers) {
    auto done = std::make_shared<std::promise<std::vector<NodeCounts>>>();
    auto counted = done->get_future();
    worker->inspect([done](Worker& w) { done->set_value(count_connections(w)); });
    if (counted.wait_for(kAnswerWithin) != std::future_status::ready) continue;
    for (const NodeCounts& counts : counted.get()) add_connections(counts, out);
  }
  return out.text();
}

}  // namespace slipring::router
