// Carries out batches of a CopyExecutor, one at a time, over sessions of its own. Thread-safety: its thread only.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "slipring/rebalance/copy_executor.h"

namespace slipring::rebalance {

class CopyExecutor::Worker {
 public:
  explicit Worker(CopyExecutor& executor);
  ~Worker();

 private:
  void run();
  void work(const Barrier& barrier);
  void work(const Scan& scan);
  void work(const ReadKeys& read);
  void work(const WriteKeys& write);
  void work(const CompareKeys& compare);
  void work(const DeleteKeys& remove);

  // An open session to the peer; an error means that nothing was sent.
  Result<StoreSession*> session(Peer peer);
  // After an error on a peer's session: waits until nothing of it can run any more, then reports the batch as failed.
  void report_failure(uint64_t batch, Peer peer, const Error& error);
  void settle(Peer peer);
  Result<std::vector<KeyEntry>> digest(Peer peer, const std::vector<std::string_view>& keys, ServerIdentity& identity);

  CopyExecutor& executor_;
  std::vector<std::unique_ptr<StoreSession>> sessions_;  // by peer
  std::thread thread_;
};

}  // namespace slipring::rebalance
