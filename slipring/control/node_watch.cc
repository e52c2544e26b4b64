#include "slipring/control/node_watch.h"

#include <algorithm>

#include "slipring/base/log.h"

namespace slipring::control {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

}  // namespace

NodeWatch::NodeWatch(NodeAccess& access, std::function<bool(const std::string&)> on_new_process)
    : access_(access), on_new_process_(std::move(on_new_process)), thread_([this] { run(); }) {}

NodeWatch::~NodeWatch() {
  stop();
}

void NodeWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void NodeWatch::watch(std::vector<std::string> addresses) {
  const std::lock_guard lock(mutex_);
  addresses_ = std::move(addresses);
  std::erase_if(pulses_, [&](const auto& entry) {
    return std::find(addresses_.begin(), addresses_.end(), entry.first) == addresses_.end();
  });
  changed_.notify_all();
}

NodePulse NodeWatch::pulse(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  const auto it = pulses_.find(address);
  return it == pulses_.end() ? NodePulse{} : it->second;
}

void NodeWatch::run() {
  for (;;) {
    std::vector<std::string> addresses;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      addresses = addresses_;
    }
    for (const std::string& address : addresses) {
      look(address);
      const std::lock_guard lock(mutex_);
      if (ending_) return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLookEvery, [&] { return ending_ || addresses_ != addresses; });
  }
}

void NodeWatch::look(const std::string& address) {
  NodePulse pulse;
  auto facts = access_.pulse(address);
  if (facts) {
    pulse.state = facts->loading ? NodeState::kLoading : NodeState::kUp;
    pulse.keys = facts->keys();
    pulse.bytes = facts->used_memory_bytes;
    pulse.run_id = facts->identity.run_id;
  } else {
    pulse.state = facts.error().message.find("LOADING") != std::string::npos ? NodeState::kLoading : NodeState::kDown;
    pulse.detail = facts.error().message;
  }
  NodeState before = NodeState::kUnknown;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(pulses_[address], pulse).state;
  }
  if (before != pulse.state) {
    log(pulse.state == NodeState::kDown ? LogLevel::kWarn : LogLevel::kInfo, "control", "node at {}: {}", address,
        facts ? "up" : facts.error().message);
  }
  if (pulse.state == NodeState::kUp && greeted_[address] != pulse.run_id && on_new_process_(address)) {
    greeted_[address] = pulse.run_id;
  }
}

}  // namespace slipring::control
