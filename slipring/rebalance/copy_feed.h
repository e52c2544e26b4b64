// One peer's feed inside a CopyExecutor: a thread that opens the feed when asked, reads it always, and passes on what
// touches the group's keys. Waiting for a barrier means waiting until the feed has given out a position of the stream.
//
// Thread-safety: open(), wait_for() and end() from any thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "slipring/rebalance/copy_executor.h"

namespace slipring::rebalance {

class CopyExecutor::Feed {
 public:
  Feed(CopyExecutor& executor, Peer peer);
  ~Feed();

  // Opens the feed, closing the one before. Answers the number of this opening.
  void open();
  // The opening whose events count.
  uint64_t wanted() const;
  // True when everything up to `offset` was posted; false when the feed was lost, closed or opened again meanwhile.
  bool wait_for(uint64_t offset);
  void end();

 private:
  class Sink;
  void run();
  bool wait_until_wanted(uint64_t done);
  void read(StoreFeed& feed, uint64_t serial);
  void set_current(StoreFeed* feed, uint64_t serial);
  void post(CopyEvent event, uint64_t serial);

  CopyExecutor& executor_;
  const Peer peer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wanted_ = 0;
  uint64_t serial_ = 0;           // of current_
  StoreFeed* current_ = nullptr;  // being read
  uint64_t offset_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace slipring::rebalance
