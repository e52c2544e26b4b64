// Requests: however the bytes are cut, the parser finds the same commands, arguments and errors as in one piece, and
// looking a command up, finding its keys and refusing it stay within the arguments.
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "slipring/protocol/resp/command.h"
#include "slipring/protocol/resp/request.h"

namespace slipring::resp {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

constexpr RequestLimits kLimits = {.args_max = 1000, .bulk_bytes_max = 1 << 16, .line_bytes_max = 256};

struct Outcome {
  std::vector<std::vector<std::string>> commands;
  std::vector<size_t> lengths;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

void look_up(const Args& args) {
  if (args.empty()) return;
  const CommandInfo* info = nullptr;
  const CommandCheck check = resolve_command(args, info);
  std::string error;
  append_check_error(error, check, info, args);
  require((check == CommandCheck::kOk) == error.empty(), "a refused command has an error, a good one none");
  require(error.find('\n') == std::string::npos || error.find('\n') == error.size() - 1, "an error is one line");
  if (check != CommandCheck::kOk) return;
  std::vector<KeyRef> keys;
  if (!extract_keys(*info, args, keys)) require(keys.empty(), "no keys where they cannot be found");
  for (const KeyRef& key : keys) require(key.index > 0 && key.index < args.size(), "a key is an argument");
}

// A connection that receives the pieces [0, cut), [cut, 2 cut), ... of the stream.
Outcome read_in_pieces(std::string_view stream, size_t first, size_t step) {
  RequestParser parser(kLimits);
  Outcome out;
  size_t start = 0;
  for (size_t end = first; out.error.empty(); end = std::min(stream.size(), end + step)) {
    while (true) {
      const ExactCopy buffer(stream.substr(start, end - start));
      const ParseStatus status = parser.parse(buffer.view());
      if (status == ParseStatus::kError) out.error = parser.error();
      if (status != ParseStatus::kDone) break;
      const Args args = parser.args(buffer.view());
      auto& command = out.commands.emplace_back();
      for (size_t i = 0; i < args.size(); ++i) command.emplace_back(args[i]);
      look_up(args);
      require(parser.length() > 0 && parser.length() <= buffer.view().size(), "a command takes bytes of the buffer");
      out.lengths.push_back(parser.length());
      start += parser.length();
    }
    if (end == stream.size()) break;
  }
  return out;
}

}  // namespace
}  // namespace slipring::resp

// Inputs up to this size are cut at every place; larger ones only in steps.
static constexpr size_t kEverySplitBytesMax = 32;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipring;
  const std::string_view stream = fuzz::view(data, size);
  const size_t step = 1 + size / kEverySplitBytesMax;
  const resp::Outcome whole = resp::read_in_pieces(stream, size, 1);
  fuzz::require(whole == resp::read_in_pieces(stream, std::min<size_t>(step, size), step),
                "pieces of any size give what the whole gives");
  for (size_t cut = step; cut < size; cut += step)
    fuzz::require(whole == resp::read_in_pieces(stream, cut, size), "pieces of any size give what the whole gives");
  return 0;
}
