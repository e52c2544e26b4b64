// What a loop thread counts. One thread writes, any thread reads: an addition is two plain moves, no locked
// instruction. Thread-safety: one writer, many readers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "slipring/metrics/histogram.h"
#include "slipring/router/pending.h"

namespace slipring::router {

class Counter {
 public:
  void add(uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

enum class ErrorKind : uint8_t {
  kServer,       // an error of a server, passed on
  kUnknown,      // no such command, wrong arity, wrong form
  kUnsupported,  // not supported yet
  kCrossSlot,
  kNodeDown,
  kUnknownOutcome,
  kTryAgain,
  kAuth,
  kProtocol,  // framing lost: the client is closed
};
inline constexpr size_t kErrorKinds = 9;
inline constexpr std::array<const char*, kErrorKinds> kErrorKindNames = {
    "server", "unknown", "unsupported", "crossslot", "node_down", "unknown_outcome", "tryagain", "auth", "protocol"};
inline constexpr std::array<const char*, kCommandClasses> kCommandClassNames = {"read", "write", "split", "transaction",
                                                                                "other"};

struct Stats {
  Counter clients;
  Counter clients_total;
  Counter clients_cut;
  std::array<Counter, kCommandClasses> commands;
  std::array<Counter, kErrorKinds> errors;
  std::array<metrics::Histogram, kCommandClasses> latency;  // microseconds, by loop time
  Counter held_now;
  Counter held_total;
  metrics::Histogram held;  // microseconds
  Counter held_longest_us;  // in the last closed attempt
  Counter buffered_bytes;

  void command(CommandClass c) { commands[static_cast<size_t>(c)].add(); }
  void error(ErrorKind kind) { errors[static_cast<size_t>(kind)].add(); }
};

}  // namespace slipring::router
