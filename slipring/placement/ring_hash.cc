#include "slipring/placement/ring_hash.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace slipring {
namespace {

double scale_of(std::span<const RingHashHost> hosts, double sum, RingSizes sizes) {
  double least = 1;
  for (const RingHashHost& host : hosts) {
    if (host.weight > 0) least = std::min(least, host.weight / sum);
  }
  return std::min(std::ceil(least * static_cast<double>(sizes.min)) / least, static_cast<double>(sizes.max));
}

}  // namespace

std::vector<RingPoint<uint64_t>> ring_hash_points(std::span<const RingHashHost> hosts, RingSizes sizes,
                                                  uint64_t (*hash)(std::string_view)) {
  double sum = 0;
  for (const RingHashHost& host : hosts) sum += host.weight;
  const double scale = scale_of(hosts, sum, sizes);
  std::vector<RingPoint<uint64_t>> points;
  double target = 0;
  std::string text;
  for (const RingHashHost& host : hosts) {
    target += scale * (host.weight / sum);
    text.assign(host.key).push_back('_');
    const size_t stem = text.size();
    for (uint64_t i = 0; static_cast<double>(points.size()) < target; ++i) {
      text.resize(stem);
      text += std::to_string(i);
      points.push_back({hash(text), host.member});
    }
  }
  return points;
}

}  // namespace slipring
