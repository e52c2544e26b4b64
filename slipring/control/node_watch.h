// Looks at every server of the current topology once a second: up or down, keys, memory, and whether it is still the
// process it was. A server that became another process is reported, so that its users can be made anew.
//
// Thread-safety: any thread; the callback runs on the watch's own thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "slipring/control/node_access.h"
#include "slipring/control/service.h"

namespace slipring::control {

struct NodePulse {
  NodeState state = NodeState::kUnknown;
  std::string detail;  // why it is down
  std::optional<uint64_t> keys;
  std::optional<uint64_t> bytes;
  std::string run_id;
};

class NodeWatch {
 public:
  // `on_new_process(address)` is called when a server is seen for the first time or is another process than before;
  // false: call again with the next look.
  NodeWatch(NodeAccess& access, std::function<bool(const std::string& address)> on_new_process);
  ~NodeWatch();
  // Looks no more; what was seen last stays.
  void stop();

  // The servers to look at.
  void watch(std::vector<std::string> addresses);
  NodePulse pulse(const std::string& address) const;

 private:
  void run();
  void look(const std::string& address);

  NodeAccess& access_;
  std::function<bool(const std::string&)> on_new_process_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> addresses_;
  std::map<std::string, NodePulse> pulses_;
  std::map<std::string, std::string> greeted_;  // run id by address; the watch's thread
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace slipring::control
