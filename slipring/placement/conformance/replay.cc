#include "slipring/placement/conformance/replay.h"

#include <fmt/format.h>

#include "slipring/placement/conformance/mapping.h"

namespace slipring::conformance {
namespace {

std::string index_text(NodeIndex node) {
  return node == kNoNode ? "-1" : std::to_string(node);
}

std::vector<std::string> list_answer(const Scheme& scheme, std::string_view key, size_t length) {
  std::vector<NodeIndex> nodes(length);
  nodes.resize(scheme.preference_list(key, nodes));
  std::vector<std::string> texts;
  for (const NodeIndex node : nodes) texts.push_back(index_text(node));
  return texts;
}

std::vector<std::string> answer(const Scheme& scheme, const Check& check, std::string_view key, size_t row) {
  switch (check.kind) {
    case Check::Kind::kPoint:
      return {scheme.explain(key).point};
    case Check::Kind::kList:
      return list_answer(scheme, key, check.expected[row].size());
    case Check::Kind::kRank:
      break;
  }
  if (check.rank == 0) return {index_text(scheme.owner(key))};
  std::vector<std::string> list = list_answer(scheme, key, check.rank + 1);
  return {list.size() > check.rank ? list[check.rank] : "-1"};
}

std::string printable(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c < ' ' || c > '~' || c == '\\' || c == '"') {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
  }
  return out;
}

void count(const Answer& answer, Difference where, Tally* tally) {
  ++tally->answers;
  if (answer.actual == answer.expected) return;
  ++tally->differing;
  if (tally->first_difference) return;
  where.key = printable(answer.question);
  where.expected = fmt::format("{}", fmt::join(answer.expected, ","));
  where.actual = fmt::format("{}", fmt::join(answer.actual, ","));
  tally->first_difference = where;
}

void compare(const Scheme& scheme, const VectorCase& mapped, const Check& check, const Difference& where,
             Tally* tally) {
  for (size_t i = 0; i < mapped.keys.size(); ++i) {
    count({mapped.keys[i], check.expected[i], answer(scheme, check, mapped.keys[i], i)}, where, tally);
  }
}

Status compare_all(const VectorCase& mapped, const Difference& where, Tally* tally) {
  for (const Answer& answer : mapped.answers) count(answer, where, tally);
  if (mapped.checks.empty()) return {};
  SLIPRING_ASSIGN(const auto scheme, make_scheme(mapped.spec, mapped.members));
  for (const Check& check : mapped.checks) compare(*scheme, mapped, check, where, tally);
  return {};
}

// One line without its end; false at the end of input. Stops one byte past kLineBytesMax.
bool read_line(std::istream& in, std::string* line) {
  line->clear();
  std::streambuf* buffer = in.rdbuf();
  for (int c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
    if (c == '\n') return true;
    line->push_back(static_cast<char>(c));
    if (line->size() > kLineBytesMax) return true;
  }
  return !line->empty();
}

}  // namespace

void Tally::add(const Tally& other) {
  lines += other.lines;
  answers += other.answers;
  differing += other.differing;
  if (!first_difference) first_difference = other.first_difference;
}

Result<Tally> replay_line(std::string_view json, uint64_t line_number) {
  SLIPRING_ASSIGN(VectorLine line, parse_vector_line(json));
  const Difference where{.line = line_number, .system = line.system, .key = {}, .expected = {}, .actual = {}};
  SLIPRING_ASSIGN(const VectorCase mapped, map_line(std::move(line)));
  Tally tally;
  tally.lines = 1;
  SLIPRING_TRY(compare_all(mapped, where, &tally));
  return tally;
}

Result<Tally> replay_stream(std::istream& in, uint64_t step) {
  Tally total;
  std::string line;
  for (uint64_t number = 1; read_line(in, &line); ++number) {
    if (line.size() > kLineBytesMax)
      return fail(Code::kInvalidArgument, fmt::format("line {}: longer than {} bytes", number, kLineBytesMax));
    const bool wanted = (number - 1) % step == 0;
    if (line.empty() || !wanted) continue;
    Result<Tally> one = replay_line(line, number);
    if (!one) return fail_in(fmt::format("line {}", number), one.error());
    total.add(*one);
  }
  return total;
}

std::string describe(const Difference& d) {
  return fmt::format("{} line {}: key \"{}\": recorded {}, here {}", d.system, d.line, d.key, d.expected, d.actual);
}

}  // namespace slipring::conformance
