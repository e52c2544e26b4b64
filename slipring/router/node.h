// One server as a loop thread sees it: its connections, one for each protocol version that clients speak. A reply of
// RESP3 cannot be made from one of RESP2 (a map and an array look alike there), so RESP3 clients have their own
// connection, opened when the first of them sends a command.
// Thread-safety: one loop thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "slipring/router/backend.h"
#include "slipring/topology/snapshot.h"

namespace slipring::router {

class NodeLink {
 public:
  NodeLink(Worker& worker, const Instance& at, const std::string& node_name)
      : instance(at),
        name(node_name),
        resp2_(worker, {node_name, at.address}, resp::Version::kResp2),
        resp3_(worker, {node_name, at.address}, resp::Version::kResp3) {
    resp2_.open();
  }

  Backend& connection(resp::Version version) { return version == resp::Version::kResp3 ? resp3_ : resp2_; }

  // How many requests were handed to each connection so far.
  using Counts = std::array<uint64_t, 2>;
  Counts enqueued() const { return {resp2_.enqueued(), resp3_.enqueued()}; }
  // Everything up to those counts is answered or can no longer be executed.
  bool settled(const Counts& counts) const { return resp2_.settled(counts[0]) && resp3_.settled(counts[1]); }

  bool idle() const { return resp2_.pending() == 0 && resp3_.pending() == 0; }
  // The instance has left the topology: what was sent is still answered, nothing is tried again.
  void retire() {
    each([](Backend& backend) { backend.retire(); });
  }

  void rename(const std::string& to) {
    if (to == name) return;
    name = to;
    each([&](Backend& backend) { backend.set_node_name(to); });
  }

  template <typename Fn>
  void each(Fn fn) {
    fn(resp2_);
    fn(resp3_);
  }

  const Instance instance;
  std::string name;

 private:
  Backend resp2_;
  Backend resp3_;
};

}  // namespace slipring::router
