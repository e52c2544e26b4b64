#include "slipring/control/plan_notes.h"

#include <fmt/format.h>

#include "slipring/base/bytes.h"

namespace slipring::control {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kTextMax = 4096;
constexpr size_t kNoteBytesMin = 8 + 8 + 4 + 1 + 4;

}  // namespace

std::string plan_notes_key(uint64_t plan) {
  return fmt::format("events/{:016x}", plan);
}

std::string encode(const std::deque<PlanNote>& notes) {
  ByteWriter out;
  out.u8(kFormat);
  out.u32(static_cast<uint32_t>(notes.size()));
  for (const PlanNote& note : notes) {
    out.u64(note.sequence);
    out.u64(static_cast<uint64_t>(note.at_ms));
    out.u32(note.group);
    out.u8(note.alarm ? 1 : 0);
    out.str(note.text.substr(0, kTextMax));
  }
  return out.take();
}

Result<std::deque<PlanNote>> decode_plan_notes(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != kFormat) return fail(Code::kDataLoss, "plan events: unknown format");
  std::deque<PlanNote> notes(in.count(kNoteBytesMin));
  for (PlanNote& note : notes) {
    note.sequence = in.u64();
    note.at_ms = static_cast<int64_t>(in.u64());
    note.group = in.u32();
    note.alarm = in.u8() != 0;
    note.text = in.str(kTextMax);
  }
  if (!in.done()) return fail(Code::kDataLoss, "plan events: damaged");
  return notes;
}

std::vector<PlanNote> notes_after(const std::deque<PlanNote>& notes, uint64_t after, size_t limit) {
  std::vector<PlanNote> out;
  for (const PlanNote& note : notes) {
    if (note.sequence > after && out.size() < limit) out.push_back(note);
  }
  return out;
}

}  // namespace slipring::control
