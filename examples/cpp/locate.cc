// locate_cpp SNAPSHOT < KEYS: the node and the range of every key, from the snapshot that a router keeps.
#include <slipring/topology/routing.h>
#include <slipring/topology/snapshot_file.h>

#include <iostream>

int main(int, char** argv) {
  const auto snapshot = slipring::read_snapshot_file(argv[1]);
  if (!snapshot) return std::cerr << snapshot.error().message << "\n", 1;
  const auto routing = *slipring::PoolRouting::compile(snapshot->pools.at(0));
  for (std::string key; std::getline(std::cin, key);) {
    const auto decision = routing->decide(key);
    const bool by_new = decision.source != decision.target && decision.owner == decision.target;
    const auto& scheme = by_new ? *routing->new_scheme() : routing->old_scheme();
    std::cout << key << '\t' << routing->node_name(decision.owner) << '\t' << scheme.explain(key).range << '\n';
  }
}
