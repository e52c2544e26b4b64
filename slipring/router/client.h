// One client connection. What it has at rest is this object: buffers, parser and queues come when they are needed and
// go when they are empty. Bytes are read into the thread's shared buffer; only what is left over is kept here.
//
// Invariant: commands are taken in order; while anything pauses the client none is taken and its socket is not read.
// Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "slipring/net/buffer.h"
#include "slipring/net/event_loop.h"
#include "slipring/protocol/resp/request.h"
#include "slipring/protocol/resp/write.h"
#include "slipring/router/reply_queue.h"
#include "slipring/router/session.h"
#include "slipring/router/transaction.h"

namespace slipring::router {

class Worker;

// Why no further command of a client is taken; several at once may hold.
enum Pause : uint8_t {
  kPauseHold = 1,     // its next command waits for an attempt to end
  kPauseDepth = 2,    // too many commands without a reply
  kPauseOutput = 4,   // it does not read its replies
  kPauseBarrier = 8,  // its next command must run alone: everything before is answered first
};

class Client final : public net::IoHandler {
 public:
  Client(Worker& worker, net::UniqueFd socket, uint64_t id);
  ~Client();

  uint64_t id() const { return session.id; }
  bool open() const { return fd >= 0; }
  // Bytes held for this client.
  size_t held_bytes() const;

  // Answers the command that is being looked at.
  void answer(std::string_view reply) {
    replies.answer(reply, out);
    mark_dirty();
  }
  void complete(uint32_t seq, std::string_view reply) {
    if (!open()) [[unlikely]]
      return;
    replies.complete(seq, reply, out);
    mark_dirty();
  }
  void mark_dirty();
  // No further command; closed once every reply is written.
  void close_when_answered() {
    closing = true;
    mark_dirty();
  }
  // At once; replies still to come are dropped.
  void close();
  // Once a turn for a client with news: writes, lets it go on or pauses it, closes it.
  void settle();
  // Takes commands that were kept while the client was paused.
  void go_on();

  Session session;
  ReplyQueue replies;
  net::Buffer out;
  std::unique_ptr<Transaction> transaction;  // between MULTI and EXEC
  uint32_t in_flight = 0;                    // requests at servers that refer to this object
  uint32_t index = 0;                        // in the worker's list
  uint32_t held_since_us = 0;
  uint32_t stalled_since_us = 0;
  uint8_t paused = 0;
  bool closing = false;
  bool ended = false;  // the client sends nothing more
  bool dirty = false;
  bool stalled = false;  // replies wait for the socket

 private:
  // Bytes that were read but not taken, and the parser's place in them.
  struct Input {
    Input(resp::RequestParser&& p, net::BufferPool& pool) : parser(std::move(p)), bytes(pool) {}
    resp::RequestParser parser;
    net::Buffer bytes;
  };

  void on_events(uint32_t events);
  void read();
  void read_fresh();
  void read_more();
  size_t take_commands(std::string_view bytes, resp::RequestParser& parser);
  bool over_limits();
  void write();
  void watch();
  void pause_or_resume();

  Worker& worker_;
  std::unique_ptr<Input> input_;
};

}  // namespace slipring::router
