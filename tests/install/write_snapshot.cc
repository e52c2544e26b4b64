// write_snapshot FILE [plan]: a snapshot of one pool of five nodes under the default ring; with `plan`, a sixth node
// joins and already owns what it takes from every other node.
#include <cstdio>
#include <cstring>

#include "slipring/topology/snapshot_file.h"

namespace {

slipring::Layout layout(int nodes) {
  slipring::Layout made;
  for (int i = 1; i <= nodes; ++i) {
    slipring::Node node;
    node.name = "n" + std::to_string(i);
    node.zone = i % 2 == 0 ? "even" : "odd";
    node.weight_milli = 500 * i;
    node.instance.address = "127.0.0.1:" + std::to_string(7000 + i);
    made.nodes.push_back(node);
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  slipring::Snapshot snapshot;
  snapshot.epoch = slipring::Epoch{7};
  snapshot.cluster_id = "0123456789abcdef";
  slipring::Pool pool;
  pool.name = "main";
  pool.layout = layout(5);
  if (argc > 2 && std::strcmp(argv[2], "plan") == 0) {
    slipring::OpenPlan plan;
    plan.id = 1;
    plan.next = layout(6);
    for (size_t i = 0; i < 5; ++i) {
      plan.moves.push_back({plan.next.nodes[i].instance, plan.next.nodes[5].instance, 0, i % 2 == 0});
    }
    pool.plan = plan;
  }
  snapshot.pools.push_back(pool);
  const auto written = slipring::write_snapshot_file(argv[1], snapshot);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
