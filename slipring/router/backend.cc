#include "slipring/router/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "slipring/base/log.h"
#include "slipring/net/socket.h"
#include "slipring/protocol/resp/decimal.h"
#include "slipring/router/quick_reply.h"
#include "slipring/router/worker.h"

namespace slipring::router {
namespace {

uint32_t age_ms(uint32_t now_us, uint32_t since_us) {
  return (now_us - since_us) / 1000;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

// An error reply without its marks: "-ERR x\r\n" -> "ERR x".
std::string_view error_line(std::string_view reply) {
  reply.remove_prefix(std::min<size_t>(1, reply.size()));
  return reply.substr(0, reply.find('\r'));
}

std::string_view info_field(std::string_view info, std::string_view name) {
  const size_t at = info.find(name);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + name.size());
  return info.substr(0, info.find('\r'));
}

}  // namespace

Backend::Backend(Worker& worker, Target target, resp::Version version)
    : IoHandler([](IoHandler& self, uint32_t events) { static_cast<Backend&>(self).on_events(events); }),
      worker_(worker),
      target_(std::move(target)),
      version_(version),
      backlog_bytes_max_(worker.options().limits.node_backlog_bytes_max),
      out_(worker.pool()),
      queued_(worker.pool()),
      partial_(worker.pool()),
      retry_(worker.loop(), [this] { connect(); }) {
  set_node_name(target_.node);
}

Backend::~Backend() {
  if (dirty_) worker_.forget(*this);
  close_socket();
  fail_all(error_text(": the router is stopping, outcome unknown"));
}

void Backend::retire() {
  retired_ = true;
  ghosts_.clear();
}

void Backend::set_node_name(const std::string& node) {
  target_.node = node;
  full_reply_ = error_text(fmt::format(" has {} bytes of requests waiting: try again", backlog_bytes_max_));
}

std::string Backend::error_text(std::string_view what) const {
  return fmt::format("-ERR slipring: node {} ({}){}\r\n", target_.node, target_.address, what);
}

net::Buffer& Backend::begin_unready() {
  if (state_ == BackendState::kIdle) open();
  return queued_;
}

void Backend::mark_dirty() {
  if (dirty_) return;
  dirty_ = true;
  worker_.mark_dirty(*this);
}

void Backend::open() {
  if (state_ != BackendState::kIdle) return;
  state_ = BackendState::kConnecting;
  retry_.arm(Nanos(0));
}

void Backend::connect() {
  state_ = BackendState::kConnecting;
  step_since_us_ = worker_.now_us();
  const auto address = parse_host_port(target_.address);
  const auto resolved = address ? net::resolve(*address) : Result<net::SocketAddress>(fail(address.error()));
  if (!resolved) return go_down(resolved.error().message);
  auto socket = net::start_connect(*resolved);
  if (!socket) return go_down(socket.error().message);
  fd = socket->release();
  if (auto watched = worker_.loop().watch(*this, EPOLLOUT); !watched) go_down(watched.error().message);
}

void Backend::on_events(uint32_t events) {
  if (state_ == BackendState::kConnecting) return on_connected();
  if ((events & EPOLLIN) != 0 || (events & (EPOLLERR | EPOLLHUP)) != 0) read();
  if (fd >= 0 && (events & EPOLLOUT) != 0) mark_dirty();
}

void Backend::on_connected() {
  const int error = net::connect_error(fd);
  if (error != 0) return go_down(error == ECONNREFUSED ? "connection refused" : std::strerror(error));
  if (auto watched = worker_.loop().watch(*this, EPOLLIN); !watched) return go_down(watched.error().message);
  start_handshake();
}

// --- handshake ---

void Backend::start_handshake() {
  state_ = BackendState::kHandshake;
  client_id_ = 0;
  run_id_.clear();
  const channel::Credentials& credentials = worker_.credentials();
  if (credentials.user.empty()) {
    // Under a controller nothing is sent that no fence could end, also where a server would take it without a login.
    if (!worker_.options().controllers.empty()) return go_down("the controller has not let this router in yet");
    return send_setup();
  }
  step_ = Step::kAuth;
  if (worker_.fenced_by_names()) return log_in_by_file();
  std::string out;
  resp::append_command(out, {"AUTH", credentials.user, credentials.password});
  send_now(out);
}

void Backend::log_in_by_file() {
  const auto& login_of = worker_.options().login_of;
  const Result<NodeLogin> login = login_of ? login_of(target_.address) : NodeLogin{};
  if (!login) return go_down(login.error().message);
  if (login->password.empty()) return send_setup();
  std::string out;
  if (login->user.empty()) {
    resp::append_command(out, {"AUTH", login->password});
  } else {
    resp::append_command(out, {"AUTH", login->user, login->password});
  }
  send_now(out);
}

void Backend::send_setup() {
  step_ = Step::kSetup;
  setup_left_ = 3;
  std::string out;
  if (version_ == resp::Version::kResp3) {
    ++setup_left_;
    resp::append_command(out, {"HELLO", "3"});
  }
  resp::append_command(out, {"CLIENT", "SETNAME", worker_.connection_name()});
  resp::append_command(out, {"CLIENT", "ID"});
  resp::append_command(out, {"INFO", "server"});
  send_now(out);
}

void Backend::send_kills() {
  // Another process answers: what an earlier one was sent is gone with it, and the ids are no longer ours.
  std::erase_if(ghosts_, [&](const Ghost& ghost) { return ghost.run_id != run_id_; });
  if (ghosts_.empty()) return ask_permit();
  step_ = Step::kKill;
  setup_left_ = ghosts_.size();
  std::string out;
  for (const Ghost& ghost : ghosts_) {
    resp::append_command(out, {"CLIENT", "KILL", "ID", std::to_string(ghost.client_id)});
  }
  send_now(out);
}

void Backend::send_now(const std::string& bytes) {
  // A few hundred bytes on an empty socket; if it does not take them, something is wrong with it.
  if (net::write_some(fd, bytes).bytes != bytes.size()) go_down("the connection took no bytes");
}

void Backend::handshake_reply(std::string_view reply) {
  if (step_ == Step::kAuth) return auth_reply(reply);
  if (step_ == Step::kSetup) return setup_reply(reply);
  if (step_ == Step::kPermit) return go_down("sent a reply to no request");
  if (!reply.starts_with(':')) return go_down(fmt::format("CLIENT KILL: {}", error_line(reply)));
  if (--setup_left_ > 0) return;
  ghosts_.clear();
  ask_permit();
}

void Backend::auth_reply(std::string_view reply) {
  if (reply.starts_with("+OK")) return send_setup();
  if (worker_.fenced_by_names()) {
    return go_down(fmt::format("refuses the password of node_credentials_file: {}", error_line(reply)));
  }
  refused_ = starts_with_any(reply, {"-WRONGPASS", "-NOPERM", "-NOAUTH", "-ERR"});
  if (refused_) worker_.on_refused(*this);
  go_down(fmt::format("refused generation {} of this router: {}", worker_.credentials().generation, error_line(reply)));
}

void Backend::setup_reply(std::string_view reply) {
  if (reply.starts_with('-') && worker_.fenced_by_names()) return go_down(error_line(reply));
  if (reply.starts_with('-')) {
    refused_ = starts_with_any(reply, {"-NOPERM", "-NOAUTH"});
    if (refused_) worker_.on_refused(*this);
    return go_down(error_line(reply));
  }
  if (reply.starts_with(':')) resp::ReplyReader(reply).next_int(client_id_);
  const std::string_view run_id = info_field(reply, "\nrun_id:");
  if (!run_id.empty()) run_id_ = run_id;
  if (--setup_left_ > 0) return;
  if (run_id_.empty() || client_id_ == 0) return go_down("does not tell its run id and client id");
  send_kills();
}

// Whoever fences this generation from now on finds the connection by its name; whether somebody has begun to do so
// before, the controller tells.
void Backend::ask_permit() {
  if (!worker_.fenced_by_names()) return become_ready();
  step_ = Step::kPermit;
  permit_ = worker_.ask_permit(target_.address, run_id_);
}

void Backend::on_permit(uint64_t number, channel::PermitAnswer answer) {
  if (state_ != BackendState::kHandshake || step_ != Step::kPermit || permit_ != number) return;
  if (answer == channel::PermitAnswer::kGranted) return become_ready();
  refused_ = answer == channel::PermitAnswer::kFenced;
  if (refused_) worker_.on_refused(*this);
  go_down(refused_ ? "the controller has fenced this router's generation" : "the controller does not permit it yet");
}

void Backend::become_ready() {
  state_ = BackendState::kReady;
  failing_ = false;
  refused_ = false;
  tries_ = 0;
  down_reason_.clear();
  out_.swap(queued_);
  sent_ = pending_.size();
  mark_dirty();
  log(LogLevel::kDebug, "router", "node {} ({}): connected id={}", target_.node, target_.address, client_id_);
}

// --- data ---

void Backend::flush() {
  dirty_ = false;
  if (fd < 0 || (state_ != BackendState::kReady && state_ != BackendState::kDraining)) return;
  if (!out_.empty()) {
    const net::IoResult sent = net::write_some(fd, out_.view());
    if (sent.state == net::IoState::kClosed) return lose("connection lost", "connection lost, outcome unknown");
    out_.consume(sent.bytes);
  }
  const uint32_t events = out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  if (auto watched = worker_.loop().watch(*this, events); !watched) lose(watched.error().message, "outcome unknown");
}

void Backend::read() {
  const bool fresh = partial_.empty();
  constexpr size_t kStepBytes = 64u << 10;
  std::span<char> shared = worker_.read_buffer();
  char* into = fresh ? shared.data() : partial_.reserve(kStepBytes);
  const net::IoResult got = net::read_some(fd, into, fresh ? shared.size() : partial_.room());
  if (got.state == net::IoState::kFull) return;
  if (got.state == net::IoState::kClosed) {
    const std::string reason = got.error == 0 ? "connection closed by the server" : std::strerror(got.error);
    return lose(reason, "connection lost, outcome unknown");
  }
  const uint64_t connection = connection_;
  if (fresh) {
    const std::string_view bytes(into, got.bytes);
    const size_t done = scan_all(bytes, 0);
    if (connection_ == connection && done < bytes.size()) partial_.append(bytes.substr(done));
  } else {
    partial_.commit(got.bytes);
    const size_t done = scan_all(partial_.view(), scanned_);
    if (connection_ == connection) partial_.consume(done);
  }
  scanned_ = partial_.size();
}

// Hands on every whole reply; answers how many bytes they took. The first `scanned` bytes have been scanned before.
size_t Backend::scan_all(std::string_view bytes, size_t scanned) {
  size_t begin = 0;
  size_t at = scanned;
  const uint64_t connection = connection_;
  while (at < bytes.size() && connection_ == connection) {
    if (at == begin) {
      if (const size_t length = quick_reply_length(bytes.substr(begin)); length != 0) {
        take_reply(bytes.substr(begin, length), bytes[begin]);
        at = begin += length;
        continue;
      }
    }
    const resp::ParseStatus status = scanner_.scan(bytes.substr(at));
    if (status == resp::ParseStatus::kNeedMore) break;
    if (status == resp::ParseStatus::kError) {
      lose(scanner_.error(), "answered in a form that is no reply");
      break;
    }
    at += scanner_.used();
    take_reply(bytes.substr(begin, at - begin), scanner_.type());
    begin = at;
  }
  return begin;
}

void Backend::take_reply(std::string_view reply, char type) {
  if (type == '>') return;  // a push is nobody's reply
  if (state_ == BackendState::kHandshake) return handshake_reply(reply);
  if (sent_ == 0) return lose("sent a reply to no request", "connection lost, outcome unknown");
  if (type == '-' && reply.starts_with("-NOAUTH")) {
    refused_ = true;
    worker_.on_refused(*this);
  }
  --sent_;
  answer_front(reply);
  if (state_ == BackendState::kDraining && sent_ == 0) {
    close_socket();
    connect();
  }
}

void Backend::answer_front(std::string_view reply) {
  const Pending pending = pending_.front();
  pending_.pop();
  ++answered_;
  worker_.on_reply(pending, reply);
}

// --- endings ---

void Backend::check_timeouts(uint32_t now_us) {
  const Timeouts& timeouts = worker_.options().timeouts;
  if (state_ == BackendState::kConnecting || state_ == BackendState::kHandshake) {
    if (fd >= 0 && age_ms(now_us, step_since_us_) > timeouts.connect_ms) go_down("no answer to the connection");
    return;
  }
  if (sent_ == 0 || age_ms(now_us, pending_.front().since_us) <= timeouts.request_ms) return;
  lose("no answer", fmt::format("no answer within {} ms, outcome unknown", timeouts.request_ms));
}

void Backend::renew() {
  refused_ = false;
  failing_ = false;  // other credentials, another chance: requests wait for this try
  if (state_ == BackendState::kReady && sent_ > 0) {
    state_ = BackendState::kDraining;
    return;
  }
  if (state_ == BackendState::kIdle || state_ == BackendState::kDraining) return;
  close_socket();
  tries_ = 0;
  retry_.cancel();
  connect();
}

void Backend::lose(std::string_view reason, std::string_view unknown) {
  if (state_ == BackendState::kHandshake || state_ == BackendState::kConnecting) return go_down(reason);
  if (sent_ > 0 && !retired_) ghosts_.push_back({run_id_, client_id_});
  log(LogLevel::kWarn, "router", "node {} ({}): {}, {} requests with unknown outcome", target_.node, target_.address,
      reason, sent_);
  close_socket();
  // One new try at once: new requests wait for it.
  state_ = BackendState::kConnecting;
  down_reason_ = reason;
  retry_.arm(Nanos(0));
  fail_sent(error_text(fmt::format(": {}", unknown)));
}

void Backend::go_down(std::string_view reason) {
  close_socket();
  if (down_reason_ != reason) {
    log(LogLevel::kWarn, "router", "node {} ({}): down: {}", target_.node, target_.address, reason);
  }
  state_ = BackendState::kDown;
  failing_ = true;
  down_reason_ = reason;
  down_reply_ = error_text(fmt::format(" is down: {}", reason));
  retry_later();
  queued_.clear();
  fail_all(down_reply_);
}

void Backend::fail_sent(std::string_view text) {
  const uint32_t n = std::exchange(sent_, 0);
  for (uint32_t i = 0; i < n; ++i) answer_front(text);
}

void Backend::fail_all(std::string_view text) {
  sent_ = 0;
  for (uint32_t n = pending_.size(); n > 0; --n) answer_front(text);
}

void Backend::close_socket() {
  ++connection_;
  if (fd >= 0) {
    worker_.loop().unwatch(*this);
    net::UniqueFd(std::exchange(fd, -1)).reset();
  }
  out_.clear();
  partial_.clear();
  scanned_ = 0;
  scanner_ = resp::ReplyScanner();
}

void Backend::retry_later() {
  const Timeouts& timeouts = worker_.options().timeouts;
  const int64_t longest = std::min(timeouts.reconnect_ms_max, timeouts.reconnect_ms_min << std::min(tries_, 16u));
  ++tries_;
  // Half of it at random, so that many routers do not come back in step.
  const auto jitter = static_cast<int64_t>(worker_.random().below(static_cast<uint64_t>(longest / 2 + 1)));
  retry_.arm(Millis(longest - jitter));
}

}  // namespace slipring::router
