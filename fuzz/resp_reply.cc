// Replies: however the bytes are cut, the scanner finds the same ends and faults, and what it passes as a whole reply
// the reader can walk over to exactly that end. The reader alone survives any bytes.
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "slipring/protocol/resp/reply.h"

namespace slipring::resp {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

struct Outcome {
  std::vector<uint64_t> lengths;
  std::string types;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

constexpr ReplyLimits kLimits = {.bulk_bytes_max = 1 << 16, .line_bytes_max = 256, .count_max = 1 << 20};

Outcome scan_in_pieces(std::string_view stream, size_t first, size_t step) {
  ReplyScanner scanner(kLimits);
  Outcome out;
  size_t at = 0;
  for (size_t end = first; at < stream.size() && out.error.empty(); end = std::min(stream.size(), end + step)) {
    while (at < end) {
      const ExactCopy piece(stream.substr(at, end - at));
      const ParseStatus status = scanner.scan(piece.view());
      if (status == ParseStatus::kError) {
        out.error = scanner.error();
        return out;
      }
      require(scanner.used() > 0, "the scanner gets on");
      require(status == ParseStatus::kDone || scanner.used() == piece.view().size(),
              "all is used while more is needed");
      at += scanner.used();
      if (status != ParseStatus::kDone) continue;
      out.lengths.push_back(scanner.length());
      out.types.push_back(scanner.type());
    }
  }
  return out;
}

void read_whole(std::string_view stream, const Outcome& scanned) {
  size_t at = 0;
  for (const uint64_t length : scanned.lengths) {
    const ExactCopy reply(stream.substr(at, length));
    ReplyReader reader(reply.view());
    ReplyItem item;
    size_t items = 0;
    while (reader.next(item)) ++items;
    require(reader.at_end() || !reader.ok(), "the reader reads to the end");
    require(items > 0 || !reader.ok(), "a reply has an item");
    at += length;
  }
}

void read_anything(std::string_view bytes) {
  const ExactCopy copy(bytes);
  ReplyReader items(copy.view());
  ReplyItem item;
  while (items.next(item)) require(item.type != 0, "an item has a type");
  ReplyReader skipper(copy.view());
  while (skipper.skip()) {
  }
}

}  // namespace
}  // namespace slipring::resp

// Inputs up to this size are cut at every place; larger ones only in steps.
static constexpr size_t kEverySplitBytesMax = 32;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipring;
  const std::string_view stream = fuzz::view(data, size);
  const size_t step = 1 + size / kEverySplitBytesMax;
  const resp::Outcome whole = resp::scan_in_pieces(stream, size, 1);
  fuzz::require(whole == resp::scan_in_pieces(stream, std::min<size_t>(step, size), step),
                "pieces of any size give what the whole gives");
  for (size_t cut = step; cut < size; cut += step)
    fuzz::require(whole == resp::scan_in_pieces(stream, cut, size), "pieces of any size give what the whole gives");
  resp::read_whole(stream, whole);
  resp::read_anything(stream);
  return 0;
}
