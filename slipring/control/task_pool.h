// A few threads for work that blocks on servers. Tasks of one pool run in any order.
// Thread-safety: submit() from any thread; the destructor waits for running tasks and drops those not begun.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace slipring::control {

class TaskPool {
 public:
  explicit TaskPool(size_t threads);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  void submit(std::function<void()> task);
  // As the destructor; later tasks are dropped.
  void stop();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace slipring::control
