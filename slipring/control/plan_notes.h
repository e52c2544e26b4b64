// A plan's log as it is kept in the metadata store, so that what has happened can be read after a restart and after the
// plan's end.
//
//   events/ID            the plan's newest notes
//
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/rebalance/plan_machine.h"

namespace slipring::control {

inline constexpr size_t kPlanNotesMax = 2'000;  // of a plan; older ones are dropped

// One line of a plan's log.
struct PlanNote {
  uint64_t sequence = 0;
  int64_t at_ms = 0;
  uint32_t group = rebalance::kNoGroup;
  bool alarm = false;
  std::string text;

  bool operator==(const PlanNote&) const = default;
};

std::string plan_notes_key(uint64_t plan);
// A text is cut after 4 kB.
std::string encode(const std::deque<PlanNote>& notes);
// kDataLoss: damaged or foreign bytes.
Result<std::deque<PlanNote>> decode_plan_notes(std::string_view bytes);

// Those with a sequence above `after`, oldest first, `limit` at most.
std::vector<PlanNote> notes_after(const std::deque<PlanNote>& notes, uint64_t after, size_t limit);

}  // namespace slipring::control
