// decode(encode(m)) == m for any message, at any split; any bytes at all are answered without harm.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/channel/messages.h"

namespace slipring::channel {
namespace {

std::string bytes_up_to(size_t max) {
  const auto size = *rc::gen::inRange<size_t>(0, max + 1);
  return *rc::gen::container<std::string>(size, rc::gen::arbitrary<char>());
}
std::string name() {
  return bytes_up_to(40);
}
uint64_t number() {
  return *rc::gen::arbitrary<uint64_t>();
}
uint32_t small() {
  return *rc::gen::arbitrary<uint32_t>();
}
Credentials credentials() {
  return {number(), name(), name()};
}

Message any_message() {
  switch (*rc::gen::inRange<size_t>(0, std::variant_size_v<Message>)) {
    case 0:
      return Hello{small(), name(), name(), name(), Epoch{number()}, number()};
    case 1:
      return EpochAck{Epoch{number()}, number()};
    case 2:
      return AttemptAck{number(), number()};
    case 3:
      return WithdrawRequest{number()};
    case 4:
      return GenerationRequest{number()};
    case 5:
      return RouterHeartbeat{{number(), number(), number(), number(), number()}};
    case 6:
      return Welcome{number(), credentials(), credentials()};
    case 7:
      return Refused{name(), name()};
    case 8:
      return SnapshotPush{bytes_up_to(500)};
    case 9:
      return AttemptOpen{number(), Epoch{number()}, name(), *rc::gen::arbitrary<std::vector<uint32_t>>(),
                         small(),  small()};
    case 10:
      return AttemptClosed{number(), *rc::gen::element(AttemptOutcome::kCommitted, AttemptOutcome::kWithdrawn),
                           Epoch{number()}};
    case 11:
      return NewGeneration{credentials(), credentials()};
    case 12:
      return Synced{};
    case 13:
      return ControllerHeartbeat{number()};
    case 14:
      return PermitRequest{number(), number(), name(), name()};
    default:
      return Permit{number(), *rc::gen::element(PermitAnswer::kGranted, PermitAnswer::kFenced, PermitAnswer::kWait)};
  }
}

// Feeds `stream` in random parts and takes what comes; the last result is nullopt or the error.
std::pair<std::vector<Message>, bool> take_all(std::string_view stream) {
  FrameDecoder decoder;
  std::vector<Message> got;
  while (!stream.empty()) {
    const size_t n = *rc::gen::inRange<size_t>(1, stream.size() + 1);
    decoder.feed(stream.substr(0, n));
    stream.remove_prefix(n);
    for (;;) {
      auto next = decoder.next();
      if (!next) return {got, false};
      if (!*next) break;
      got.push_back(std::move(**next));
    }
  }
  return {got, true};
}

TEST(MessagesProperty, AnyMessagesArriveEqualAndInOrderAtAnySplit) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Message> sent(*rc::gen::inRange<size_t>(1, 6));
    std::string stream;
    for (size_t i = 0; i < sent.size(); ++i) {
      sent[i] = any_message();
      stream += encode(sent[i], i + 1);
    }
    const auto got = take_all(stream);
    RC_ASSERT(got.second);
    RC_ASSERT(got.first == sent);
  }));
}

TEST(MessagesProperty, ATruncatedStreamGivesItsWholeMessagesAndNoMore) {
  EXPECT_TRUE(rc::check([] {
    const Message first = any_message();
    const std::string second = encode(any_message(), 2);
    const auto got = take_all(encode(first, 1) + second.substr(0, *rc::gen::inRange<size_t>(0, second.size())));
    RC_ASSERT(got.second);
    RC_ASSERT(got.first == std::vector<Message>{first});
  }));
}

TEST(MessagesProperty, ADamagedFrameIsRefusedOrStillAMessage) {
  EXPECT_TRUE(rc::check([] {
    std::string bytes = encode(any_message(), 1);
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    const auto got = take_all(bytes);
    RC_ASSERT(got.first.size() <= 1u);
    // What was taken is a message of our own: it encodes to the same bytes.
    if (!got.first.empty()) RC_ASSERT(encode(got.first[0], 1) == bytes.substr(0, encode(got.first[0], 1).size()));
  }));
}

TEST(MessagesProperty, AnyBytesAreAnsweredWithoutHarm) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    FrameDecoder decoder;
    decoder.feed(bytes);
    if (auto next = decoder.next(); next) RC_ASSERT(!next->has_value());
  }));
}

}  // namespace
}  // namespace slipring::channel
