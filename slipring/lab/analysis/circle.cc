#include "slipring/lab/analysis/circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "slipring/hash/xx.h"

namespace slipring::lab {
namespace {

constexpr double kCircleSize = 0x1p64;

bool stands_before(const Circle::Entry& a, const Circle::Entry& b) {
  return a.token != b.token ? a.token < b.token : a.node < b.node;
}

// The node of the first entry of a ring, which owns what lies behind its last one.
uint32_t first_owner(const Circle& circle, const VnodeCounts& counts) {
  for (const Circle::Entry& e : circle.entries()) {
    if (e.vnode < counts[e.node]) return e.node;
  }
  return 0;
}

}  // namespace

Circle::Circle(VnodeCounts counts) : counts_(std::move(counts)) {
  const uint64_t tokens = std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
  for (size_t i = 0; i < counts_.size(); ++i) labels_.emplace_back(fmt::format("n{}", i + 1));
  unsorted_.resize(tokens);
  entries_.resize(tokens);
  begins_.resize(std::bit_ceil(std::max<uint64_t>(tokens, 2)) + 1);
}

void Circle::build(uint64_t seed) {
  const int shift = 64 - std::countr_zero(begins_.size() - 1);
  std::fill(begins_.begin(), begins_.end(), 0);
  Entry* next = unsorted_.data();
  for (uint32_t node = 0; node < counts_.size(); ++node) {
    for (uint32_t j = 0; j < counts_[node]; ++j) {
      const uint64_t token = xxh3_64(labels_[node].of(j), seed);
      *next++ = {token, node, j};
      ++begins_[(token >> shift) + 1];
    }
  }
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  for (const Entry& e : unsorted_) entries_[begins_[e.token >> shift]++] = e;
  // Nearly in order now: few share a part.
  for (size_t i = 1; i < entries_.size(); ++i) {
    const Entry e = entries_[i];
    size_t at = i;
    for (; at > 0 && stands_before(e, entries_[at - 1]); --at) entries_[at] = entries_[at - 1];
    entries_[at] = e;
  }
}

std::vector<double> shares_of(const Circle& circle, const VnodeCounts& counts) {
  std::vector<double> shares(counts.size());
  uint64_t begin = 0;
  for (const Circle::Entry& e : circle.entries()) {
    if (e.vnode >= counts[e.node]) continue;
    shares[e.node] += static_cast<double>(e.token - begin) / kCircleSize;
    begin = e.token;
  }
  shares[first_owner(circle, counts)] += static_cast<double>(UINT64_MAX - begin) / kCircleSize;
  return shares;
}

double moved_share(const Circle& circle, const VnodeCounts& old_counts, const VnodeCounts& new_counts) {
  const auto entries = circle.entries();
  // Backwards: the owners of what ends at an entry are the nodes of the first entries of each ring from there on.
  uint32_t old_owner = first_owner(circle, old_counts);
  uint32_t new_owner = first_owner(circle, new_counts);
  uint64_t end = UINT64_MAX;
  uint64_t moved = 0;
  for (size_t i = entries.size(); i-- > 0;) {
    const Circle::Entry& e = entries[i];
    if (old_owner != new_owner) moved += end - e.token;
    if (e.vnode < old_counts[e.node]) old_owner = e.node;
    if (e.vnode < new_counts[e.node]) new_owner = e.node;
    end = e.token;
  }
  if (old_owner != new_owner) moved += end;
  return static_cast<double>(moved) / kCircleSize;
}

size_t takers_of(const Circle& circle, const VnodeCounts& counts, uint32_t node) {
  std::vector<bool> takes(circle.nodes());
  VnodeCounts without = counts;
  without[node] = 0;
  uint32_t next = first_owner(circle, without);
  for (size_t i = circle.entries().size(); i-- > 0;) {
    const Circle::Entry& e = circle.entries()[i];
    if (e.vnode >= counts[e.node]) continue;
    if (e.node == node) {
      takes[next] = true;
    } else {
      next = e.node;
    }
  }
  return static_cast<size_t>(std::count(takes.begin(), takes.end(), true));
}

}  // namespace slipring::lab
