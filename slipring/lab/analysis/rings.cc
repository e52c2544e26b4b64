#include "slipring/lab/analysis/rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "slipring/placement/ring.h"

namespace slipring::lab {
namespace {

VnodeCounts equal_counts(uint64_t nodes, uint64_t vnodes) {
  return VnodeCounts(nodes, static_cast<uint32_t>(vnodes));
}

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
  Circle circle(equal_counts(nodes, vnodes));
  circle.build(seed);
  return shares_of(circle, circle.counts());
}

double measured_stdev(uint64_t nodes, uint64_t vnodes, uint64_t rings) {
  return measure_rings(nodes, vnodes, rings).stdev;
}

std::vector<double> joining_shares(uint64_t nodes, uint64_t vnodes, uint64_t rings) {
  RingChange change{equal_counts(nodes + 1, vnodes), equal_counts(nodes + 1, vnodes)};
  change.before.back() = 0;
  return moved_shares(change, rings);
}

RingChange ring_change(std::span<const Member> before, uint64_t vnodes_before, std::span<const Member> after,
                       uint64_t vnodes_after) {
  std::unordered_map<std::string_view, size_t> index;
  for (const auto side : {before, after}) {
    for (const Member& m : side) index.try_emplace(m.name, index.size());
  }
  RingChange change{VnodeCounts(index.size()), VnodeCounts(index.size())};
  for (const Member& m : before) {
    change.before[index[m.name]] = static_cast<uint32_t>(vnode_count(vnodes_before, m.weight_milli));
  }
  for (const Member& m : after) {
    change.after[index[m.name]] = static_cast<uint32_t>(vnode_count(vnodes_after, m.weight_milli));
  }
  return change;
}

double theory_moved(const RingChange& change) {
  double all = 0;
  double old_all = 0;
  double new_all = 0;
  for (size_t i = 0; i < change.before.size(); ++i) {
    all += std::max(change.before[i], change.after[i]);
    old_all += change.before[i];
    new_all += change.after[i];
  }
  double moved = 0;
  for (size_t i = 0; i < change.before.size(); ++i) {
    const double was = change.before[i];
    const double is = change.after[i];
    moved += is > was ? (is - was) / all * (1 - was / old_all) : (was - is) / all * (1 - is / new_all);
  }
  return moved;
}

std::vector<double> moved_shares(const RingChange& change, uint64_t rings) {
  VnodeCounts both(change.before.size());
  for (size_t i = 0; i < both.size(); ++i) both[i] = std::max(change.before[i], change.after[i]);
  Circle circle(both);
  std::vector<double> shares;
  for (uint64_t seed = 0; seed < rings; ++seed) {
    circle.build(seed);
    shares.push_back(moved_share(circle, change.before, change.after));
  }
  return shares;
}

double theory_takers(uint64_t nodes, uint64_t vnodes) {
  if (nodes < 2) return 0;
  const auto n = static_cast<double>(nodes);
  const auto v = static_cast<double>(vnodes);
  double spared = 1;  // that no token of another node follows one of the removed node's
  for (uint64_t i = 0; i < vnodes; ++i) {
    const auto d = static_cast<double>(i);
    spared *= ((n - 2) * v + d) / ((n - 1) * v + d);
  }
  return (n - 1) * (1 - spared);
}

RingMeans measure_rings(uint64_t nodes, uint64_t vnodes, uint64_t rings) {
  Circle circle(equal_counts(nodes, vnodes));
  const auto n = static_cast<double>(nodes);
  double squares = 0;
  double takers = 0;
  for (uint64_t seed = 0; seed < rings; ++seed) {
    circle.build(seed);
    for (const double share : shares_of(circle, circle.counts())) squares += (share * n - 1) * (share * n - 1);
    if (nodes > 1) takers += static_cast<double>(takers_of(circle, circle.counts(), 0));
  }
  const auto count = static_cast<double>(rings);
  return {std::sqrt(squares / (n * count)), takers / count};
}

}  // namespace slipring::lab
