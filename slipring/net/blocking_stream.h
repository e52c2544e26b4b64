// A TCP connection with blocking calls that end by a time-out: for the mover and the controller's work on servers,
// where one thread serves one connection. The router's connections live in event_loop.h instead.
//
// Invariant: after any error the stream is closed and every later call fails. Thread-safety: one owner; shutdown() may
// be called from another thread to wake it, but not while the stream is being moved or destroyed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"

namespace slipring::net {

class BlockingStream {
 public:
  BlockingStream();
  BlockingStream(BlockingStream&& other) noexcept;
  BlockingStream& operator=(BlockingStream&& other) noexcept;
  ~BlockingStream();

  // Connects to "host:port". kUnavailable: refused, unreachable or timed out; the message carries the address.
  static Result<BlockingStream> connect(std::string_view address, Millis timeout);

  // Sends all of it. kDeadlineExceeded: some of it may have been sent.
  Status write(std::string_view bytes, Millis timeout);
  // Appends what has arrived, at least one byte, at most max_bytes. kDeadlineExceeded: nothing arrived in time and the
  // stream stays open. kUnavailable: closed by the peer or broken.
  Result<size_t> read_some(std::string& into, size_t max_bytes, Millis timeout);
  // Wakes a blocked call of the owner; it answers kUnavailable.
  void shutdown();
  // Tells the peer that nothing more will be sent; reading goes on.
  void end_writing();
  void close();
  bool open() const { return fd() >= 0; }

 private:
  struct Socket;
  int fd() const;
  std::unique_ptr<Socket> socket_;  // none: never connected
};

}  // namespace slipring::net
