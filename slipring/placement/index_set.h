// A set of small integers that grows one by one while a list is walked: a scan over a short array without allocation
// for the first 32, a bitmap beyond. Thread-safety: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace slipring {

class IndexSet {
 public:
  bool contains(uint32_t i) const {
    if (!bits_.empty()) return i < bits_.size() && bits_[i];
    for (size_t k = 0; k < count_; ++k) {
      if (few_[k] == i) return true;
    }
    return false;
  }

  // False if it was there already.
  bool insert(uint32_t i) {
    if (contains(i)) return false;
    if (bits_.empty() && count_ < few_.size()) {
      few_[count_] = i;
    } else {
      if (bits_.empty()) {
        for (const uint32_t old : few_) set_bit(old);
      }
      set_bit(i);
    }
    ++count_;
    return true;
  }

  size_t size() const { return count_; }

 private:
  void set_bit(uint32_t i) {
    if (bits_.size() <= i) bits_.resize(size_t{i} * 2 + 64);
    bits_[i] = true;
  }

  size_t count_ = 0;
  std::array<uint32_t, 32> few_;
  std::vector<bool> bits_;
};

}  // namespace slipring
