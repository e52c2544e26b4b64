// Bytes as a stream of the channel: the same messages whole and in pieces, each equal to what its encoding gives.
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "slipring/channel/messages.h"

namespace {

using slipring::channel::FrameDecoder;
using slipring::channel::Message;
using slipring::fuzz::require;

struct Outcome {
  std::vector<Message> messages;
  bool failed = false;
  bool operator==(const Outcome&) const = default;
};

Outcome take(std::string_view stream, size_t piece) {
  FrameDecoder decoder;
  Outcome outcome;
  while (!stream.empty() && !outcome.failed) {
    decoder.feed(stream.substr(0, piece));
    stream.remove_prefix(std::min(piece, stream.size()));
    for (;;) {
      auto next = decoder.next();
      outcome.failed = !next;
      if (!next || !*next) break;
      outcome.messages.push_back(std::move(**next));
    }
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = slipring::fuzz::view(data, size);
  const Outcome whole = take(input, size);
  require(whole == take(input, 1), "pieces of one byte give what the whole gives");
  require(whole == take(input, 7), "pieces of seven bytes give what the whole gives");
  std::string again;
  for (const Message& message : whole.messages) {
    again += slipring::channel::encode(message, 1 + (&message - whole.messages.data()));
  }
  require(input.starts_with(again), "accepted messages encode to their own bytes");
  return 0;
}
