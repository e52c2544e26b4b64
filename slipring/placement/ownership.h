// A key space cut into ranges with one owner each, as a scheme that has ranges or slots sees it. Two schemes with the
// same `space` place the same key at the same position, so what moves between them can be counted exactly.
//
// Invariant: ends rise strictly; range i is (ends[i - 1], ends[i]]; the first begins behind the last, wrapping.
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipring {

struct OwnedRange {
  uint64_t end;    // included
  uint32_t owner;  // NodeIndex
};

struct OwnershipMap {
  std::string space;  // names the function key -> position: "xxh3-64 seed 0 tag redis"
  uint64_t last = 0;  // positions are 0..last
  std::vector<OwnedRange> ranges;
};

}  // namespace slipring
