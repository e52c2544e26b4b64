// A controller that a test plays to one router over a real socket: it accepts, reads messages, sends what it is told
// to, and beats the heart. Thread-safety: one owner.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "slipring/channel/messages.h"
#include "slipring/net/socket.h"
#include "tests/support/child_process.h"

namespace slipring::testing {

class FakeController {
 public:
  FakeController() {
    listener_ = std::move(*net::listen_tcp(*net::numeric_address({"127.0.0.1", 0}), false));
    port_ = net::port_of(*net::local_address(listener_.get()));
    beat_ = std::thread([this] { beat(); });
  }
  ~FakeController() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_.notify_all();
    beat_.join();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Waits for a router; what it introduces itself with.
  channel::Hello accept() {
    wait(listener_.get());
    {
      const std::lock_guard lock(mutex_);
      socket_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK));
      sequence_ = 0;
    }
    decoder_ = channel::FrameDecoder();
    inbox_.clear();
    return expect<channel::Hello>();
  }
  void send(const channel::Message& message) {
    const std::lock_guard lock(mutex_);
    if (socket_) net::write_some(socket_.get(), channel::encode(message, ++sequence_));
  }
  void hang_up() {
    const std::lock_guard lock(mutex_);
    socket_.reset();
  }
  // The next message of this kind; others that come before it are dropped, heartbeats always.
  template <typename T>
  T expect() {
    auto got = next<T>(20'000);
    EXPECT_TRUE(got.has_value()) << "no such message came";
    return got.value_or(T());
  }
  // True if one came within so many milliseconds.
  template <typename T>
  bool comes(int within_ms) {
    return next<T>(within_ms).has_value();
  }

 private:
  // A controller that is silent is left.
  void beat() {
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, Millis(channel::kHeartbeatEveryMs), [this] { return stopping_; })) {
      // The first message must be a welcome.
      if (socket_ && sequence_ > 0) net::write_some(socket_.get(), channel::encode(channel::ControllerHeartbeat{1}, ++sequence_));
    }
  }
  static bool wait(int fd, int ms = 20'000) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, ms) > 0;
  }
  template <typename T>
  std::optional<T> next(int within_ms) {
    const double end = monotonic_seconds() + within_ms / 1000.0;
    for (;;) {
      while (!inbox_.empty()) {
        const channel::Message message = std::move(inbox_.front());
        inbox_.pop_front();
        if (const T* it = std::get_if<T>(&message)) return *it;
      }
      const int left_ms = static_cast<int>((end - monotonic_seconds()) * 1000);
      if (left_ms <= 0 || !wait(socket_.get(), left_ms)) return std::nullopt;
      char bytes[4096];
      const net::IoResult got = net::read_some(socket_.get(), bytes, sizeof bytes);
      if (got.state == net::IoState::kClosed) return std::nullopt;
      decoder_.feed({bytes, got.bytes});
      for (auto message = decoder_.next(); message && *message; message = decoder_.next()) {
        inbox_.push_back(std::move(**message));
      }
    }
  }

  net::UniqueFd listener_;
  net::UniqueFd socket_;
  uint16_t port_ = 0;
  channel::FrameDecoder decoder_;
  std::deque<channel::Message> inbox_;
  std::mutex mutex_;  // socket_ and sequence_ for sending
  std::condition_variable stop_;
  uint64_t sequence_ = 0;
  bool stopping_ = false;
  std::thread beat_;
};

}  // namespace slipring::testing
