#include "slipring/channel/messages.h"

#include <fmt/format.h>

#include <array>

#include "slipring/base/bytes.h"
#include "slipring/base/check.h"

namespace slipring::channel {
namespace {

// Type and sequence number, counted by the frame's length like the body.
constexpr size_t kPrefixBytes = 1 + 8;
constexpr size_t kLengthBytes = 4;

// --- bodies: put() writes one, get() reads it back ---

// Text for people is cut to its bound; everything else fits it by construction.
void put_text(ByteWriter& out, std::string_view text) {
  out.str(text.substr(0, kTextBytesMax));
}
void put_name(ByteWriter& out, std::string_view name) {
  SLIPRING_CHECK(name.size() <= kNameBytesMax, "names are checked where they come in");
  out.str(name);
}
std::string get_text(ByteReader& in) {
  return std::string(in.str(kTextBytesMax));
}
std::string get_name(ByteReader& in) {
  return std::string(in.str(kNameBytesMax));
}

void put(ByteWriter& out, const Credentials& m) {
  out.u64(m.generation);
  put_name(out, m.user);
  put_name(out, m.password);
}
void get(ByteReader& in, Credentials& m) {
  m.generation = in.u64();
  m.user = get_name(in);
  m.password = get_name(in);
}

void put(ByteWriter& out, const Hello& m) {
  out.u32(m.protocol);
  put_name(out, m.token);
  put_name(out, m.router_id);
  put_text(out, m.listen);
  out.u64(to_u64(m.epoch));
  out.u64(m.generation);
}
void get(ByteReader& in, Hello& m) {
  m.protocol = in.u32();
  m.token = get_name(in);
  m.router_id = get_name(in);
  m.listen = get_text(in);
  m.epoch = Epoch{in.u64()};
  m.generation = in.u64();
}

void put(ByteWriter& out, const EpochAck& m) {
  out.u64(to_u64(m.epoch));
  out.u64(m.generation);
}
void get(ByteReader& in, EpochAck& m) {
  m.epoch = Epoch{in.u64()};
  m.generation = in.u64();
}

void put(ByteWriter& out, const AttemptAck& m) {
  out.u64(m.attempt);
  out.u64(m.generation);
}
void get(ByteReader& in, AttemptAck& m) {
  m.attempt = in.u64();
  m.generation = in.u64();
}

void put(ByteWriter& out, const WithdrawRequest& m) {
  out.u64(m.attempt);
}
void get(ByteReader& in, WithdrawRequest& m) {
  m.attempt = in.u64();
}

void put(ByteWriter& out, const GenerationRequest& m) {
  out.u64(m.fenced_generation);
}
void get(ByteReader& in, GenerationRequest& m) {
  m.fenced_generation = in.u64();
}

void put(ByteWriter& out, const RouterHeartbeat& m) {
  for (const uint64_t v : {m.stats.commands, m.stats.errors, m.stats.held_now, m.stats.hold_last_us, m.stats.clients}) {
    out.u64(v);
  }
}
void get(ByteReader& in, RouterHeartbeat& m) {
  for (uint64_t* v : {&m.stats.commands, &m.stats.errors, &m.stats.held_now, &m.stats.hold_last_us, &m.stats.clients}) {
    *v = in.u64();
  }
}

void put(ByteWriter& out, const Welcome& m) {
  out.u64(m.term);
  put(out, m.active);
  put(out, m.spare);
}
void get(ByteReader& in, Welcome& m) {
  m.term = in.u64();
  get(in, m.active);
  get(in, m.spare);
}

void put(ByteWriter& out, const Refused& m) {
  put_text(out, m.reason);
  put_text(out, m.leader);
}
void get(ByteReader& in, Refused& m) {
  m.reason = get_text(in);
  m.leader = get_text(in);
}

void put(ByteWriter& out, const SnapshotPush& m) {
  out.str(m.snapshot);
}
void get(ByteReader& in, SnapshotPush& m) {
  m.snapshot = std::string(in.str(kFrameBytesMax));
}

void put(ByteWriter& out, const AttemptOpen& m) {
  out.u64(m.attempt);
  out.u64(to_u64(m.epoch));
  put_name(out, m.pool);
  out.u32(static_cast<uint32_t>(m.moves.size()));
  for (const uint32_t move : m.moves) out.u32(move);
  out.u32(m.hold_bound_ms);
  out.u32(m.hold_max_ms);
}
void get(ByteReader& in, AttemptOpen& m) {
  m.attempt = in.u64();
  m.epoch = Epoch{in.u64()};
  m.pool = get_name(in);
  const uint32_t moves = in.count(4);
  if (moves > kMovesPerPlanMax) return in.mark_bad();
  m.moves.reserve(moves);
  for (uint32_t i = 0; i < moves; ++i) m.moves.push_back(in.u32());
  m.hold_bound_ms = in.u32();
  m.hold_max_ms = in.u32();
}

void put(ByteWriter& out, const AttemptClosed& m) {
  out.u64(m.attempt);
  out.u8(static_cast<uint8_t>(m.outcome));
  out.u64(to_u64(m.epoch));
}
void get(ByteReader& in, AttemptClosed& m) {
  m.attempt = in.u64();
  m.outcome = static_cast<AttemptOutcome>(in.u8());
  if (m.outcome != AttemptOutcome::kCommitted && m.outcome != AttemptOutcome::kWithdrawn) in.mark_bad();
  m.epoch = Epoch{in.u64()};
}

void put(ByteWriter& out, const NewGeneration& m) {
  put(out, m.active);
  put(out, m.spare);
}
void get(ByteReader& in, NewGeneration& m) {
  get(in, m.active);
  get(in, m.spare);
}

void put(ByteWriter&, const Synced&) {}
void get(ByteReader&, Synced&) {}

void put(ByteWriter& out, const ControllerHeartbeat& m) {
  out.u64(m.term);
}
void get(ByteReader& in, ControllerHeartbeat& m) {
  m.term = in.u64();
}

void put(ByteWriter& out, const PermitRequest& m) {
  out.u64(m.number);
  out.u64(m.generation);
  put_name(out, m.address);
  put_name(out, m.run_id);
}
void get(ByteReader& in, PermitRequest& m) {
  m.number = in.u64();
  m.generation = in.u64();
  m.address = get_name(in);
  m.run_id = get_name(in);
}

void put(ByteWriter& out, const Permit& m) {
  out.u64(m.number);
  out.u8(static_cast<uint8_t>(m.answer));
}
void get(ByteReader& in, Permit& m) {
  m.number = in.u64();
  m.answer = static_cast<PermitAnswer>(in.u8());
  if (m.answer < PermitAnswer::kGranted || m.answer > PermitAnswer::kWait) in.mark_bad();
}

// --- frames ---

// A message's type on the wire is its place in Message, from 1: new messages go to the end.
template <typename M>
Message get_message(ByteReader& in) {
  M message;
  get(in, message);
  return message;
}

template <typename... Ms>
constexpr auto readers(const std::variant<Ms...>*) {
  return std::array<Message (*)(ByteReader&), sizeof...(Ms)>{&get_message<Ms>...};
}
constexpr auto kReaders = readers(static_cast<const Message*>(nullptr));

}  // namespace

std::string encode(const Message& message, uint64_t sequence) {
  ByteWriter body;
  std::visit([&](const auto& m) { put(body, m); }, message);
  const size_t length = kPrefixBytes + body.bytes().size();
  SLIPRING_CHECK(length <= kFrameBytesMax, "snapshots and plans are bounded below a frame");
  ByteWriter frame;
  frame.u32(static_cast<uint32_t>(length));
  frame.u8(static_cast<uint8_t>(message.index() + 1));
  frame.u64(sequence);
  frame.raw(body.bytes());
  return frame.take();
}

void FrameDecoder::feed(std::string_view bytes) {
  if (!failed_) buffer_.append(bytes);
}

Result<std::optional<Message>> FrameDecoder::next() {
  if (failed_) return fail(Code::kDataLoss, "channel: the stream failed before");
  ByteReader header(std::string_view(buffer_).substr(consumed_));
  const size_t left = header.left();
  const uint32_t length = header.u32();
  // The length is refused as soon as it is known: nobody makes us wait for, or keep, more than a frame.
  if (!header.bad() && (length < kPrefixBytes || length > frame_bytes_max_)) {
    return damaged(fmt::format("frame of {} bytes", length));
  }
  if (header.bad() || left - kLengthBytes < length) {
    compact();
    return std::nullopt;
  }
  ByteReader frame(std::string_view(buffer_).substr(consumed_ + kLengthBytes, length));
  const uint8_t type = frame.u8();
  const uint64_t sequence = frame.u64();
  if (type < 1 || type > kReaders.size()) return damaged(fmt::format("unknown message type {}", type));
  if (sequence != expected_sequence_) {
    return damaged(fmt::format("message {} where {} is due", sequence, expected_sequence_));
  }
  Message message = kReaders[type - 1u](frame);
  if (!frame.done()) return damaged(fmt::format("body of message type {} is malformed", type));
  ++expected_sequence_;
  consumed_ += kLengthBytes + length;
  return message;
}

tl::unexpected<Error> FrameDecoder::damaged(std::string_view why) {
  failed_ = true;
  buffer_ = std::string();
  consumed_ = 0;
  return fail(Code::kDataLoss, fmt::format("channel: {}", why));
}

// Drops what was read, once a call; a buffer that held a snapshot gives its memory back.
void FrameDecoder::compact() {
  if (consumed_ == 0) return;
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  if (buffer_.capacity() > kKeptBufferBytes && buffer_.size() <= kKeptBufferBytes) buffer_.shrink_to_fit();
}

}  // namespace slipring::channel
