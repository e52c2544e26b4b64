// What every key must hold: a key's whole history is one number, the count of writes that were acknowledged, because
// the n-th write of a key is always the same command. So the model of a key is that number, and its value, the reply of
// each write and the final content follow from it.
//
// A write with an unknown outcome (broken connection, error) makes its key uncertain: it is written no more, and at the
// end both outcomes are right. Thread-safety: pure functions; KeyState has one writer, `acknowledged` any reader.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/checker/resp_connection.h"

namespace slipring::checker {

enum class Kind : uint8_t {
  kString,   // SET, or MSET of several at once
  kCounter,  // INCR
  kList,     // LPUSH
  kHash,     // HSET of one of 16 fields
  kZset,     // ZADD of one of 16 members
  kStream,   // XADD, then XREADGROUP, then XACK
  kSet,      // SADD: numbers or texts
  kExpiry,   // SET, then PEXPIRE
  kGone,     // SET, then GETDEL or DEL
};

struct KeyState {
  std::atomic<uint32_t> acknowledged{0};
  bool uncertain = false;     // write acknowledged + 1 may have happened
  std::string entry;          // kStream: id of the entry that was read and not yet acknowledged
  int64_t expires_at_ms = 0;  // about when (monotonic)
};

class Model {
 public:
  Model(std::string prefix, uint32_t keys) : prefix_(std::move(prefix)), states_(keys) {}

  uint32_t size() const { return static_cast<uint32_t>(states_.size()); }
  KeyState& state(uint32_t key) { return states_[key]; }
  // Scattered over the key numbers, so that every client has keys of every kind.
  static Kind kind(uint32_t key);
  // The key got an expiry when it was loaded, which its writes leave as it is: half of the keys of every kind whose
  // writes do so. A kExpiry key gets and loses one by its writes.
  static bool has_lasting_expiry(uint32_t key);
  // No write changes the key's expiry, or that it has none.
  static bool keeps_expiry(uint32_t key) { return kind(key) != Kind::kExpiry && kind(key) != Kind::kGone; }
  std::string name(uint32_t key) const;

  // The value of a kString, kExpiry or kGone key after its n-th write.
  static std::string value(uint32_t key, uint32_t n);
  // n of a value; 0 if it is none of this key.
  static uint32_t number_in(uint32_t key, const std::string& value);

  // The command of write acknowledged + 1.
  std::vector<std::string> write_command(uint32_t key) const;
  // Empty if `reply` is what write acknowledged + 1 must answer; else what is wrong.
  std::string check_write(uint32_t key, const Reply& reply) const;
  // Takes note of an acknowledged write. REQUIRES: check_write was empty.
  void acknowledge(uint32_t key, const Reply& reply, int64_t now_ms);

  // Gives a key with a lasting expiry its expiry, and asks for what is left of it; check_expiry is empty if right.
  std::vector<std::string> expiry_command(uint32_t key) const;
  std::vector<std::string> read_expiry_command(uint32_t key) const { return {"PTTL", name(key)}; }
  void set_expiry(uint32_t key, int64_t now_ms);
  std::string check_expiry(uint32_t key, const Reply& reply, int64_t now_ms) const;

  // The command that reads all that the key holds, and what is wrong with its reply; empty: right.
  std::vector<std::string> read_command(uint32_t key) const;
  std::string check_content(uint32_t key, const Reply& reply, int64_t now_ms) const;

 private:
  // What read_command must answer after exactly n writes; empty: right.
  std::string check_after(uint32_t key, uint32_t n, const Reply& reply, int64_t now_ms) const;
  std::string prefix_;
  std::vector<KeyState> states_;
};

}  // namespace slipring::checker
