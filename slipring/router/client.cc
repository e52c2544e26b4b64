#include "slipring/router/client.h"

#include <algorithm>

#include "slipring/base/log.h"
#include "slipring/net/fd.h"
#include "slipring/net/socket.h"
#include "slipring/router/worker.h"

namespace slipring::router {

// An idle client is this object and its socket, nothing else.
static_assert(sizeof(Client) <= 512);

Client::Client(Worker& worker, net::UniqueFd socket, uint64_t id)
    : IoHandler([](IoHandler& self, uint32_t events) { static_cast<Client&>(self).on_events(events); }),
      replies(worker.pool()),
      out(worker.pool()),
      worker_(worker) {
  fd = socket.release();
  session.id = id;
  session.authenticated = worker.options().client_password.empty();
}

Client::~Client() {
  if (fd >= 0) net::UniqueFd(fd).reset();
}

size_t Client::held_bytes() const {
  return out.capacity() + replies.early_bytes() + (input_ ? input_->bytes.capacity() : 0) +
         (transaction ? transaction->bytes() : 0);
}

void Client::mark_dirty() {
  if (dirty) return;
  dirty = true;
  worker_.mark_dirty(*this);
}

void Client::on_events(uint32_t events) {
  if ((events & EPOLLERR) != 0) return close();
  if ((events & EPOLLHUP) != 0 && (armed & EPOLLIN) == 0) return close();
  if ((events & EPOLLOUT) != 0) mark_dirty();
  if ((events & EPOLLIN) != 0) read();
}

void Client::read() {
  if (input_) {
    read_more();
  } else {
    read_fresh();
  }
}

void Client::read_fresh() {
  const std::span<char> shared = worker_.read_buffer();
  const net::IoResult got = net::read_some(fd, shared.data(), shared.size());
  if (got.state == net::IoState::kFull) return;
  if (got.state == net::IoState::kClosed) return ended = true, mark_dirty();
  const std::string_view bytes(shared.data(), got.bytes);
  resp::RequestParser& parser = worker_.shared_parser();
  const size_t taken = take_commands(bytes, parser);
  if (taken == bytes.size() || !open() || closing) return;
  input_ = std::make_unique<Input>(worker_.detach_parser(), worker_.pool());
  input_->bytes.append(bytes.substr(taken));
}

void Client::read_more() {
  constexpr size_t kStepBytes = 16u << 10;
  constexpr size_t kStepBytesMax = 1u << 20;
  net::Buffer& bytes = input_->bytes;
  // A large value gets room ahead of its arrival, but no more than a fraction beyond what has really come.
  const size_t wanted = input_->parser.wants() > bytes.size() ? input_->parser.wants() - bytes.size() : 0;
  const size_t step = std::clamp(wanted, kStepBytes, std::max(kStepBytes, std::min(bytes.size(), kStepBytesMax)));
  char* into = bytes.reserve(step);
  const net::IoResult got = net::read_some(fd, into, bytes.room());
  if (got.state == net::IoState::kFull) return;
  if (got.state == net::IoState::kClosed) return ended = true, mark_dirty();
  bytes.commit(got.bytes);
  go_on();
}

void Client::go_on() {
  if (!input_ || paused != 0 || closing || !open()) return;
  // The commands may close the client or pause it; the input stays in place meanwhile.
  const std::unique_ptr<Input>& input = input_;
  const size_t taken = take_commands(input->bytes.view(), input->parser);
  if (!open()) return;
  input->bytes.consume(taken);
  if (input->bytes.empty() || closing) input_.reset();
  mark_dirty();
}

// Takes whole commands until the bytes end or something pauses the client; answers how many bytes they took.
size_t Client::take_commands(std::string_view bytes, resp::RequestParser& parser) {
  size_t at = 0;
  while (at < bytes.size() && paused == 0 && !closing) {
    const std::string_view rest = bytes.substr(at);
    parser.set_authenticated(session.authenticated);
    const resp::ParseStatus status = parser.parse(rest);
    if (status == resp::ParseStatus::kNeedMore) return at;
    if (status == resp::ParseStatus::kError) {
      worker_.refuse_protocol(*this, parser.error());
      parser = resp::RequestParser(parser.limits());  // the next client may use it: an error would stick
      return bytes.size();
    }
    const resp::Args args = parser.args(rest);
    if (!args.empty() && !worker_.dispatch(*this, args)) break;
    at += parser.length();
    if (replies.size() >= worker_.options().limits.pipeline_depth_max) paused |= kPauseDepth, mark_dirty();
  }
  return at;
}

void Client::settle() {
  dirty = false;
  if (!open()) return;
  if (!out.empty()) write();
  if (!open()) return;
  if ((closing || ended) && replies.empty() && out.empty() && (closing || paused == 0)) return close();
  if (over_limits()) return close();
  pause_or_resume();
  if (open()) watch();
}

void Client::write() {
  const net::IoResult sent = net::write_some(fd, out.view());
  if (sent.state == net::IoState::kClosed) return close();
  if (sent.bytes > 0) stalled_since_us = worker_.now_us();
  if (!stalled) stalled_since_us = worker_.now_us();
  out.consume(sent.bytes);
  stalled = !out.empty();
}

bool Client::over_limits() {
  constexpr size_t kSmallBytes = 64u << 10;
  const Limits& limits = worker_.options().limits;
  if (out.size() + replies.early_bytes() > limits.client_output_bytes_max) {
    return worker_.count_cut(*this, "it does not read its replies"), true;
  }
  if (worker_.over_memory() && held_bytes() > kSmallBytes) {
    return worker_.count_cut(*this, "the router's buffers are full"), true;
  }
  return false;
}

void Client::pause_or_resume() {
  const Limits& limits = worker_.options().limits;
  if (out.size() > limits.client_output_pause_bytes) paused |= kPauseOutput;
  const uint8_t before = paused;
  if (out.size() <= limits.client_output_pause_bytes / 2) paused &= static_cast<uint8_t>(~kPauseOutput);
  if (replies.size() <= limits.pipeline_depth_max / 2) paused &= static_cast<uint8_t>(~kPauseDepth);
  if (replies.empty()) paused &= static_cast<uint8_t>(~kPauseBarrier);
  if (before != 0 && paused == 0) go_on();
}

void Client::watch() {
  uint32_t events = stalled ? EPOLLOUT : 0u;
  if (paused == 0 && !closing && !ended) events |= EPOLLIN;
  // With nothing to wait for, the end of the connection is still reported.
  if (events == 0) events = EPOLLET;
  if (auto watched = worker_.loop().watch(*this, events); !watched) close();
}

void Client::close() {
  if (!open()) return;
  worker_.loop().unwatch(*this);
  net::UniqueFd(std::exchange(fd, -1)).reset();
  out.clear();
  transaction.reset();
  worker_.on_closed(*this);
}

}  // namespace slipring::router
