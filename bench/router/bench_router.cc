// bench_router LISTEN THREADS NODE...: a router with a fixed topology until it is terminated. Prints the address.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "slipring/base/parse.h"
#include "slipring/router/router.h"

int main(int argc, char** argv) {
  using namespace slipring;
  if (argc < 4) return fmt::print(stderr, "usage: bench_router LISTEN THREADS NODE...\n"), 2;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);

  const auto threads = parse_u64(argv[2], 1, 64);
  if (!threads) return fmt::print(stderr, "threads: {}\n", threads.error().message), 2;
  Snapshot snapshot;
  snapshot.epoch = Epoch{1};
  snapshot.cluster_id = "0123456789abcdef";
  Pool& pool = snapshot.pools.emplace_back();
  pool.name = "bench";
  for (int i = 3; i < argc; ++i) {
    Node& node = pool.layout.nodes.emplace_back();
    node.name = fmt::format("n{}", i - 2);
    node.instance.address = argv[i];
  }
  router::Options options;
  options.id = "bench";
  options.listen = argv[1];
  options.threads = static_cast<uint32_t>(*threads);
  options.topology = router::StaticTopology{snapshot, {}};
  auto running = router::Router::start(std::move(options));
  if (!running) return fmt::print(stderr, "{}\n", running.error().message), 1;
  fmt::print("listening on port {}\n", (*running)->port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  (*running)->stop();
  return 0;
}
