// One connection of a loop thread to one server in one protocol version, shared by all clients of the thread.
//
//   idle -> connecting -> handshake -> ready -> (new generation) draining -> connecting ...
//                 \___________\__________\______-> down, retried with backoff
//
// The handshake waits for each answer that matters: AUTH (a command behind a refused AUTH would run as another user),
// then name, CLIENT ID and run id, then CLIENT KILL ID of every **ghost**: an earlier connection that ended while the
// server might still execute what it was sent. Only after the server has confirmed that no ghost is left (or that it is
// another process) does the connection carry requests; so a late request can never overtake a newer one. Where servers
// are fenced by names, the controller must permit it too, asked after the server has confirmed the name (design/0008).
//
// Invariant: a request is sent at most once; it is settled when its reply was read, when it was certainly never sent,
// or when its connection is confirmed dead. Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/channel/messages.h"
#include "slipring/net/buffer.h"
#include "slipring/net/event_loop.h"
#include "slipring/net/fd.h"
#include "slipring/protocol/resp/reply.h"
#include "slipring/protocol/resp/write.h"
#include "slipring/router/pending.h"

namespace slipring::router {

class Worker;

// What a connection needs to know of its server.
struct Target {
  std::string node;     // for messages
  std::string address;  // "host:port"
};

enum class BackendState : uint8_t { kIdle, kConnecting, kHandshake, kReady, kDraining, kDown };

class Backend final : public net::IoHandler {
 public:
  Backend(Worker& worker, Target target, resp::Version version);
  ~Backend();

  // False: the server is down or its queue is full, and refusal() is the client's reply.
  bool accepts() const { return !failing_ && out_.size() + queued_.size() <= backlog_bytes_max_; }
  std::string_view refusal() const { return failing_ ? down_reply_ : full_reply_; }
  // Queues one request and answers the buffer that its bytes are to be appended to. REQUIRES: accepts().
  net::Buffer& begin(const Pending& pending) {
    pending_.push(pending);
    ++enqueued_;
    if (state_ != BackendState::kReady) [[unlikely]]
      return begin_unready();
    ++sent_;
    mark_dirty();
    return out_;
  }

  // Connects if it never has.
  void open();
  // Writes what has been queued: once a turn.
  void flush();
  // Requests that are too old end the connection; a handshake too.
  void check_timeouts(uint32_t now_us);
  // Credentials changed: connects anew as soon as what was sent is answered.
  void renew();
  // No longer part of the topology: late requests there harm nobody.
  void retire();
  void set_node_name(const std::string& node);
  // The controller's answer to Worker::ask_permit(); one that this connection does not wait for is ignored.
  void on_permit(uint64_t number, channel::PermitAnswer answer);
  void trim() { pending_.trim(); }

  // Requests so far, in order; everything up to a count taken earlier is settled when settled(count).
  uint64_t enqueued() const { return enqueued_; }
  bool settled(uint64_t count) const { return answered_ >= count && ghosts_.empty(); }

  BackendState state() const { return state_; }
  bool ready() const { return state_ == BackendState::kReady; }
  bool refused() const { return refused_; }
  const std::string& down_reason() const { return down_reason_; }
  const Target& target() const { return target_; }
  resp::Version version() const { return version_; }
  uint32_t pending() const { return pending_.size(); }
  size_t buffered_bytes() const { return out_.capacity() + queued_.capacity() + partial_.capacity(); }

 private:
  enum class Step : uint8_t { kAuth, kSetup, kKill, kPermit };
  struct Ghost {
    std::string run_id;
    int64_t client_id = 0;
  };

  net::Buffer& begin_unready();
  void mark_dirty();
  void on_events(uint32_t events);
  void connect();
  void on_connected();
  void read();
  void take_reply(std::string_view reply, char type);
  size_t scan_all(std::string_view bytes, size_t scanned);

  void start_handshake();
  void log_in_by_file();
  void send_setup();
  void send_kills();
  void handshake_reply(std::string_view reply);
  void auth_reply(std::string_view reply);
  void setup_reply(std::string_view reply);
  void send_now(const std::string& bytes);
  void ask_permit();
  void become_ready();

  // The connection ended. What was sent on it gets `unknown`; what was not waits for the next connection or gets the
  // down reply.
  void lose(std::string_view reason, std::string_view unknown);
  void go_down(std::string_view reason);
  void fail_sent(std::string_view text);
  void fail_all(std::string_view text);
  void answer_front(std::string_view reply);
  void close_socket();
  void retry_later();
  std::string error_text(std::string_view what) const;

  Worker& worker_;
  Target target_;
  const resp::Version version_;
  const uint64_t backlog_bytes_max_;
  BackendState state_ = BackendState::kIdle;
  Step step_ = Step::kAuth;
  bool dirty_ = false;
  bool failing_ = false;  // the last try failed: requests are refused until a connection is ready
  bool retired_ = false;
  bool refused_ = false;  // the server refused our generation
  uint32_t sent_ = 0;     // how many of pending_ (the oldest) were sent on the current connection
  uint32_t tries_ = 0;
  uint32_t step_since_us_ = 0;
  size_t setup_left_ = 0;
  uint64_t permit_ = 0;  // that kPermit waits for
  size_t scanned_ = 0;       // of partial_
  uint64_t connection_ = 0;  // changes whenever the socket does
  uint64_t enqueued_ = 0;
  uint64_t answered_ = 0;
  PendingRing pending_;
  net::Buffer out_;      // requests of the current connection
  net::Buffer queued_;   // requests that wait for the next one
  net::Buffer partial_;  // the beginning of a reply
  resp::ReplyScanner scanner_;
  std::vector<Ghost> ghosts_;
  std::string run_id_;
  int64_t client_id_ = 0;
  std::string down_reason_;
  std::string down_reply_;
  std::string full_reply_;
  net::Timer retry_;
};

}  // namespace slipring::router
