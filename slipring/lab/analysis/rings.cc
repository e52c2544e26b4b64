#include "slipring/lab/analysis/rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "slipring/hash/xx.h"
#include "slipring/lab/analysis/statistics.h"
#include "slipring/placement/ring_tokens.h"

namespace slipring::lab {
namespace {

struct Token {
  uint64_t point;
  uint32_t node;
};

// Points are spread evenly, so one pass that counts by their upper bits leaves them almost in order.
class Ring {
 public:
  Ring(uint64_t nodes, uint64_t vnodes)
      : nodes_(nodes),
        vnodes_(vnodes),
        bits_(static_cast<int>(std::bit_width(nodes * vnodes))),
        drawn_(nodes * vnodes),
        tokens_(nodes * vnodes),
        starts_((size_t{1} << bits_) + 1) {
    for (uint64_t n = 0; n < nodes; ++n) labels_.emplace_back(fmt::format("n{}", n + 1));
  }

  const std::vector<double>& shares(uint64_t seed) {
    draw(seed);
    sort();
    shares_.assign(nodes_, 0);
    uint64_t before = tokens_.back().point;
    for (const Token& token : tokens_) {
      shares_[token.node] += static_cast<double>(token.point - before) * 0x1.0p-64;
      before = token.point;
    }
    return shares_;
  }

 private:
  size_t bucket(uint64_t point) const { return static_cast<size_t>(point >> (64 - bits_)); }

  void draw(uint64_t seed) {
    size_t at = 0;
    for (uint64_t n = 0; n < nodes_; ++n) {
      for (uint64_t j = 0; j < vnodes_; ++j) {
        drawn_[at++] = {xxh3_64(labels_[n].of(static_cast<uint32_t>(j)), seed), static_cast<uint32_t>(n)};
      }
    }
  }

  void sort() {
    std::fill(starts_.begin(), starts_.end(), 0);
    for (const Token& token : drawn_) ++starts_[bucket(token.point) + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    for (const Token& token : drawn_) tokens_[starts_[bucket(token.point)]++] = token;
    for (size_t i = 1; i < tokens_.size(); ++i) {
      const Token token = tokens_[i];
      size_t at = i;
      for (; at > 0 && tokens_[at - 1].point > token.point; --at) tokens_[at] = tokens_[at - 1];
      tokens_[at] = token;
    }
  }

  uint64_t nodes_;
  uint64_t vnodes_;
  int bits_;
  std::vector<TokenBytes> labels_;
  std::vector<Token> drawn_;
  std::vector<Token> tokens_;
  std::vector<uint32_t> starts_;  // by bucket
  std::vector<double> shares_;
};

}  // namespace

std::vector<Member> numbered_members(uint64_t count) {
  std::vector<Member> members(count);
  for (uint64_t i = 0; i < count; ++i) members[i].name = fmt::format("n{}", i + 1);
  return members;
}

double theory_stdev(uint64_t nodes, uint64_t vnodes) {
  return std::sqrt(static_cast<double>(nodes - 1) / static_cast<double>(nodes * vnodes + 1));
}

std::vector<double> ring_shares(uint64_t nodes, uint64_t vnodes, uint64_t seed) {
  if (nodes == 1) return {1};
  return Ring(nodes, vnodes).shares(seed);
}

double measured_stdev(uint64_t nodes, uint64_t vnodes, uint64_t rings) {
  if (nodes == 1) return 0;
  Ring ring(nodes, vnodes);
  std::vector<double> deviations;
  for (uint64_t seed = 0; seed < rings; ++seed) {
    for (const double share : ring.shares(seed)) deviations.push_back(share * static_cast<double>(nodes) - 1);
  }
  return root_mean_square(deviations);
}

std::vector<double> joining_shares(uint64_t nodes, uint64_t vnodes, uint64_t rings) {
  Ring ring(nodes + 1, vnodes);
  std::vector<double> shares;
  for (uint64_t seed = 0; seed < rings; ++seed) shares.push_back(ring.shares(seed).back());
  return shares;
}

}  // namespace slipring::lab
