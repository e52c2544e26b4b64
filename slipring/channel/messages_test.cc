// What one side encodes the other side gets, whole and in order; anything else fails the stream for good.
#include "slipring/channel/messages.h"

#include <gtest/gtest.h>

#include "slipring/base/bytes.h"

namespace slipring::channel {
namespace {

// One of each, with values that a mixed-up field would change.
std::vector<Message> one_of_each() {
  const Credentials active{7, "slipring-r7", "00112233445566778899aabbccddeeff"};
  const Credentials spare{8, "slipring-r8", "ffeeddccbbaa99887766554433221100"};
  return {
      Hello{1, "token", "router-1", "127.0.0.1:6400", Epoch{5}, 7},
      EpochAck{Epoch{6}, 7},
      AttemptAck{11, 7},
      WithdrawRequest{12},
      GenerationRequest{7},
      RouterHeartbeat{{1, 2, 3, 4, 5}},
      Welcome{3, active, spare},
      Refused{"not the leader", "10.0.0.2:7401"},
      SnapshotPush{std::string("SLPRSNAP\0bytes", 14)},
      AttemptOpen{13, Epoch{6}, "main", {0, 5, 999'999}, 250, 3000},
      AttemptClosed{13, AttemptOutcome::kCommitted, Epoch{7}},
      NewGeneration{spare, active},
      Synced{},
      ControllerHeartbeat{4},
      PermitRequest{14, 7, "10.0.0.3:6379", "00112233445566778899aabbccddeeff00112233"},
      Permit{14, PermitAnswer::kWait},
  };
}

std::string frame(uint8_t type, uint64_t sequence, std::string_view body) {
  ByteWriter out;
  out.u32(static_cast<uint32_t>(1 + 8 + body.size()));
  out.u8(type);
  out.u64(sequence);
  out.raw(body);
  return out.take();
}

Code code_after(std::string_view bytes, size_t frame_bytes_max = kFrameBytesMax) {
  FrameDecoder decoder(frame_bytes_max);
  decoder.feed(bytes);
  auto next = decoder.next();
  EXPECT_FALSE(next);
  EXPECT_FALSE(decoder.next()) << "a failed decoder stays failed";
  decoder.feed(encode(Synced{}, 1));
  EXPECT_FALSE(decoder.next()) << "a failed decoder stays failed";
  return next ? Code::kUnknown : next.error().code;
}

TEST(Messages, EveryKindComesBackEqual) {
  ASSERT_EQ(one_of_each().size(), std::variant_size_v<Message>);
  FrameDecoder decoder;
  uint64_t sequence = 0;
  for (const Message& message : one_of_each()) {
    EXPECT_EQ(message.index(), sequence);
    decoder.feed(encode(message, ++sequence));
    auto back = decoder.next();
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_TRUE(*back);
    EXPECT_EQ(**back, message);
    EXPECT_FALSE(decoder.next()->has_value());
  }
}

TEST(Messages, TheFrameIsFixed) {
  EXPECT_EQ(encode(AttemptAck{0x0102, 3}, 9), std::string("\x19\0\0\0"            // length
                                                          "\x03"                  // type
                                                          "\x09\0\0\0\0\0\0\0"    // sequence
                                                          "\x02\x01\0\0\0\0\0\0"  // attempt
                                                          "\x03\0\0\0\0\0\0\0",   // generation
                                                          29));
}

TEST(Messages, ArriveWholeAtEverySplit) {
  std::string stream;
  uint64_t sequence = 0;
  for (const Message& message : one_of_each()) stream += encode(message, ++sequence);
  for (size_t split = 0; split <= stream.size(); ++split) {
    FrameDecoder decoder;
    std::vector<Message> got;
    for (const std::string_view part :
         {std::string_view(stream).substr(0, split), std::string_view(stream).substr(split)}) {
      decoder.feed(part);
      for (;;) {
        auto next = decoder.next();
        ASSERT_TRUE(next) << next.error().message;
        if (!*next) break;
        got.push_back(std::move(**next));
      }
    }
    ASSERT_EQ(got, one_of_each()) << "split at " << split;
  }
}

TEST(Messages, ArriveByteForByte) {
  FrameDecoder decoder;
  const std::string bytes = encode(one_of_each()[9], 1);
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    decoder.feed(bytes.substr(i, 1));
    ASSERT_FALSE(decoder.next()->has_value()) << i;
  }
  decoder.feed(bytes.substr(bytes.size() - 1));
  EXPECT_EQ(**decoder.next(), one_of_each()[9]);
}

TEST(Messages, AGapARepeatOrAZeroInTheSequenceIsRefused) {
  EXPECT_EQ(code_after(encode(Synced{}, 0)), Code::kDataLoss);
  EXPECT_EQ(code_after(encode(Synced{}, 2)), Code::kDataLoss);
  FrameDecoder decoder;
  decoder.feed(encode(Synced{}, 1) + encode(Synced{}, 1));
  EXPECT_TRUE(decoder.next()->has_value());
  auto repeated = decoder.next();
  ASSERT_FALSE(repeated);
  EXPECT_EQ(repeated.error().message, "channel: message 1 where 2 is due");
}

TEST(Messages, UnknownTypesAreRefused) {
  EXPECT_EQ(code_after(frame(0, 1, "")), Code::kDataLoss);
  EXPECT_EQ(code_after(frame(std::variant_size_v<Message> + 1, 1, "")), Code::kDataLoss);
  EXPECT_EQ(code_after(frame(255, 1, "")), Code::kDataLoss);
}

TEST(Messages, BodiesCutShortOrWithBytesLeftOverAreRefused) {
  for (const Message& message : one_of_each()) {
    const uint8_t type = static_cast<uint8_t>(message.index() + 1);
    const std::string body = encode(message, 1).substr(13);
    EXPECT_EQ(code_after(frame(type, 1, body + '\0')), Code::kDataLoss) << int(type);
    for (size_t n = 0; n < body.size(); ++n) {
      ASSERT_EQ(code_after(frame(type, 1, body.substr(0, n))), Code::kDataLoss) << int(type) << " cut to " << n;
    }
  }
}

TEST(Messages, ALengthOutOfBoundsIsRefusedBeforeTheBodyCame) {
  const auto length = [](uint32_t n) {
    ByteWriter out;
    out.u32(n);
    return out.take();
  };
  EXPECT_EQ(code_after(length(0)), Code::kDataLoss);
  EXPECT_EQ(code_after(length(8)), Code::kDataLoss) << "no room for type and sequence";
  EXPECT_EQ(code_after(length(kFrameBytesMax + 1)), Code::kDataLoss);
  EXPECT_EQ(code_after(length(0xffffffff)), Code::kDataLoss);
  EXPECT_EQ(code_after(length(kRouterFrameBytesMax + 1), kRouterFrameBytesMax), Code::kDataLoss);
}

TEST(Messages, EveryMessageOfARouterFitsTheControllersBound) {
  const std::string name(kNameBytesMax, 'n');
  const std::string text(kTextBytesMax + 100, 't');
  EXPECT_LT(encode(Hello{1, name, name, text, Epoch{1}, 1}, 1).size(), kRouterFrameBytesMax);
}

TEST(Messages, TextsForPeopleAreCutNamesAreNot) {
  FrameDecoder decoder;
  decoder.feed(encode(Refused{std::string(kTextBytesMax + 1, 'r'), ""}, 1));
  EXPECT_EQ(std::get<Refused>(**decoder.next()).reason, std::string(kTextBytesMax, 'r'));

  ByteWriter body;
  body.u64(1);
  body.u64(1);
  body.str(std::string(kNameBytesMax + 1, 'p'));
  body.u32(0);
  body.u32(1);
  body.u32(1);
  EXPECT_EQ(code_after(frame(10, 1, body.bytes())), Code::kDataLoss);
}

TEST(MessagesDeathTest, ANameThatIsTooLongIsAProgrammersError) {
  EXPECT_DEATH(encode(Hello{1, std::string(kNameBytesMax + 1, 't'), "r", "", Epoch{0}, 0}, 1), "names are checked");
}

TEST(Messages, CountsBeyondTheBodyTakeNoMemory) {
  ByteWriter body;
  body.u64(1);
  body.u64(1);
  body.str("main");
  body.u32(0xffffffff);
  EXPECT_EQ(code_after(frame(10, 1, body.bytes())), Code::kDataLoss);
}

TEST(Messages, MoreMovesThanAPlanHasAreRefused) {
  ByteWriter body;
  body.u64(1);
  body.u64(1);
  body.str("main");
  body.u32(kMovesPerPlanMax + 1);
  for (size_t i = 0; i <= kMovesPerPlanMax; ++i) body.u32(0);
  body.u32(1);
  body.u32(1);
  EXPECT_EQ(code_after(frame(10, 1, body.bytes())), Code::kDataLoss);
}

TEST(Messages, APermitIsOneOfItsAnswers) {
  for (const uint8_t answer : {0, 4, 255}) {
    ByteWriter body;
    body.u64(1);
    body.u8(answer);
    EXPECT_EQ(code_after(frame(16, 1, body.bytes())), Code::kDataLoss) << int(answer);
  }
}

TEST(Messages, AnOutcomeIsCommittedOrWithdrawn) {
  for (const uint8_t outcome : {0, 3, 255}) {
    ByteWriter body;
    body.u64(1);
    body.u8(outcome);
    body.u64(1);
    EXPECT_EQ(code_after(frame(11, 1, body.bytes())), Code::kDataLoss) << int(outcome);
  }
}

TEST(Messages, ErrorsNeverShowWhatAMessageHeld) {
  const std::string good = encode(one_of_each()[6], 1);
  for (size_t i = 4; i < good.size(); ++i) {
    std::string bad = good.substr(0, i) + '\xff' + good.substr(i + 1);
    FrameDecoder decoder;
    decoder.feed(bad);
    auto next = decoder.next();
    if (next) continue;
    EXPECT_EQ(next.error().message.find("aabbcc"), std::string::npos) << next.error().message;
    EXPECT_EQ(next.error().message.find("ffeedd"), std::string::npos) << next.error().message;
  }
}

}  // namespace
}  // namespace slipring::channel
