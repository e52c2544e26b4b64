// The messages between routers and the controller. The channel carries correctness: who is on which epoch, which
// attempts are open, who acknowledged what. One persistent TCP connection a router, frames of u32 length, u8 type, u64
// sequence, body (bytes.h); the length counts what follows it; messages of one direction are numbered 1, 2, 3, ...
//
// Invariant: decode(encode(m)) == m; a frame that is too long, truncated, of an unknown type or with bytes left over is
// refused and the connection closed. Thread-safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring::channel {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr size_t kFrameBytesMax = 64u << 20;
// What a router sends is small: the controller reads with this bound, so a stranger cannot make it keep more.
inline constexpr size_t kRouterFrameBytesMax = 16u << 10;
// Names, users, passwords and tokens; a longer one is a programmer's error in encode() and refused by the decoder.
inline constexpr size_t kNameBytesMax = 512;
// Texts for people; encode() cuts them.
inline constexpr size_t kTextBytesMax = 4096;
// No heartbeat for this long: the router counts as gone and is fenced before an attempt opens.
inline constexpr int64_t kHeartbeatTimeoutMs = 2000;
inline constexpr int64_t kHeartbeatEveryMs = 500;

// One incarnation of a router as the servers know it: its ACL user on every node. A generation is never used again.
struct Credentials {
  uint64_t generation = 0;
  std::string user;
  std::string password;  // 32 hex digits; never shown or logged

  bool operator==(const Credentials&) const = default;
};

// --- router -> controller ---
struct Hello {
  uint32_t protocol = kProtocolVersion;
  std::string token;        // the join token
  std::string router_id;    // stable name, [A-Za-z0-9._-]{1,64}
  std::string listen;       // for people
  Epoch epoch{0};           // of the snapshot it holds; 0 = none
  uint64_t generation = 0;  // it runs on now; 0 = none
  bool operator==(const Hello&) const = default;
};
// All loop threads serve by this epoch with this generation; nothing sent under an older one is in flight.
struct EpochAck {
  Epoch epoch{0};
  uint64_t generation = 0;
  bool operator==(const EpochAck&) const = default;
};
// The router holds new commands for the attempt's keys and has nothing in flight for them.
struct AttemptAck {
  uint64_t attempt = 0;
  uint64_t generation = 0;
  bool operator==(const AttemptAck&) const = default;
};
// The router's bound has passed: please close the attempt as withdrawn (compare-and-set against commit).
struct WithdrawRequest {
  uint64_t attempt = 0;
  bool operator==(const WithdrawRequest&) const = default;
};
// The router's users were refused by a node (it was fenced, or the node lost its users): it asks for a new generation.
struct GenerationRequest {
  uint64_t fenced_generation = 0;
  bool operator==(const GenerationRequest&) const = default;
};
struct RouterStats {
  uint64_t commands = 0;  // since start
  uint64_t errors = 0;
  uint64_t held_now = 0;
  uint64_t hold_last_us = 0;  // longest wait of a command in the last closed attempt
  uint64_t clients = 0;
  bool operator==(const RouterStats&) const = default;
};
struct RouterHeartbeat {
  RouterStats stats;
  bool operator==(const RouterHeartbeat&) const = default;
};
// For servers fenced by names: may this connection carry requests? Asked once for each connection, after the server has
// confirmed the connection's name, which holds the generation.
struct PermitRequest {
  uint64_t number = 0;  // chosen by the router, never twice
  uint64_t generation = 0;
  std::string address;
  std::string run_id;  // of the process that the connection leads to
  bool operator==(const PermitRequest&) const = default;
};

// --- controller -> router ---
struct Welcome {
  uint64_t term = 0;
  Credentials active;
  Credentials spare;  // to start on while the controller is away; generation 0 = none yet
  bool operator==(const Welcome&) const = default;
};
struct Refused {
  std::string reason;
  std::string leader;  // channel address of the leading controller if this one does not lead; may be empty
  bool operator==(const Refused&) const = default;
};
struct SnapshotPush {
  std::string snapshot;  // encoded (topology/codec.h)
  bool operator==(const SnapshotPush&) const = default;
};
// Hold new commands for these moves (indexes into the open plan's moves of `epoch`), drain, then acknowledge.
struct AttemptOpen {
  uint64_t attempt = 0;
  Epoch epoch{0};  // the snapshot the move indexes refer to; a router on another epoch does not acknowledge
  std::string pool;
  std::vector<uint32_t> moves;
  uint32_t hold_bound_ms = 200;
  uint32_t hold_max_ms = 2000;
  bool operator==(const AttemptOpen&) const = default;
};
enum class AttemptOutcome : uint8_t { kCommitted = 1, kWithdrawn = 2 };
// The attempt is closed in the metadata store. Committed: the snapshot of `epoch` follows or was sent; serve the moves
// by it. Withdrawn: serve them from where they were.
struct AttemptClosed {
  uint64_t attempt = 0;
  AttemptOutcome outcome = AttemptOutcome::kWithdrawn;
  Epoch epoch{0};
  bool operator==(const AttemptClosed&) const = default;
};
// New users were created: reconnect to every node with them.
struct NewGeneration {
  Credentials active;
  Credentials spare;
  bool operator==(const NewGeneration&) const = default;
};
// Ends what a router is told on connecting: the snapshot and every open attempt were sent. An attempt that the router
// still holds and that was not among them is closed, and the snapshot says how.
struct Synced {
  bool operator==(const Synced&) const = default;
};
struct ControllerHeartbeat {
  uint64_t term = 0;
  bool operator==(const ControllerHeartbeat&) const = default;
};
enum class PermitAnswer : uint8_t {
  kGranted = 1,
  kFenced = 2,  // the generation is no longer this router's: it needs a new one
  kWait = 3,    // not now: an attempt is open, or that process is not known to hold what it should; ask again
};
struct Permit {
  uint64_t number = 0;
  PermitAnswer answer = PermitAnswer::kWait;
  bool operator==(const Permit&) const = default;
};

using Message =
    std::variant<Hello, EpochAck, AttemptAck, WithdrawRequest, GenerationRequest, RouterHeartbeat, Welcome, Refused,
                 SnapshotPush, AttemptOpen, AttemptClosed, NewGeneration, Synced, ControllerHeartbeat, PermitRequest, Permit>;

// A whole frame. REQUIRES: a Message within the limits above (validated snapshots and plans are).
std::string encode(const Message& message, uint64_t sequence);

// Takes bytes as they come and gives whole messages. After an error the decoder stays failed. Holds at most one frame
// more than what was fed since the last nullopt. Error messages never hold a message's content.
class FrameDecoder {
 public:
  explicit FrameDecoder(size_t frame_bytes_max = kFrameBytesMax) : frame_bytes_max_(frame_bytes_max) {}

  void feed(std::string_view bytes);
  // nullopt: more bytes are needed. kDataLoss: damaged, too long, unknown type or a gap in the sequence.
  Result<std::optional<Message>> next();

 private:
  static constexpr size_t kKeptBufferBytes = 64u << 10;
  tl::unexpected<Error> damaged(std::string_view why);
  void compact();

  size_t frame_bytes_max_;
  std::string buffer_;
  size_t consumed_ = 0;  // bytes at the start of buffer_ that were given out
  uint64_t expected_sequence_ = 1;
  bool failed_ = false;
};

}  // namespace slipring::channel
