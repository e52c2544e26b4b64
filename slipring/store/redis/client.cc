#include "slipring/store/redis/client.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "slipring/store/redis/reply_reader.h"

namespace slipring::redis {
namespace {

constexpr size_t kReadBytes = 64u << 10;

void append_header(std::string& out, char type, size_t n) {
  fmt::format_to(std::back_inserter(out), "{}{}\r\n", type, n);
}

Code code_of(std::string_view error) {
  const std::string_view word = error.substr(0, error.find(' '));
  if (word == "NOPERM") return Code::kPermissionDenied;
  if (word == "NOAUTH" || word == "WRONGPASS") return Code::kUnauthenticated;
  if (word == "LOADING" || word == "BUSY" || word == "MASTERDOWN" || word == "TRYAGAIN") return Code::kUnavailable;
  if (word == "OOM") return Code::kResourceExhausted;
  return Code::kFailedPrecondition;
}

}  // namespace

Result<Reply> as_result(Reply reply) {
  if (!reply.is_error()) return reply;
  const Code code = code_of(reply.text);
  return fail(code, std::move(reply.text));
}

Result<Client> Client::connect(const Endpoint& endpoint) {
  Client client;
  client.endpoint_ = endpoint;
  SLIPRING_ASSIGN(client.stream_, net::BlockingStream::connect(endpoint.address, endpoint.connect_timeout));
  if (!endpoint.password.empty()) {
    auto ok = endpoint.user.empty() ? client.call({"AUTH", endpoint.password})
                                    : client.call({"AUTH", endpoint.user, endpoint.password});
    if (!ok) return fail_in(endpoint.address + ": AUTH", ok.error());
  }
  if (!endpoint.name.empty()) {
    auto ok = client.call({"CLIENT", "SETNAME", endpoint.name});
    if (!ok) return fail_in(endpoint.address + ": CLIENT SETNAME", ok.error());
  }
  if (endpoint.confirm) SLIPRING_TRY(endpoint.confirm());
  return client;
}

Result<Reply> Client::command(std::span<const std::string_view> args) {
  append(args);
  SLIPRING_TRY(flush());
  return read_reply();
}

Result<Reply> Client::command(std::initializer_list<std::string_view> args) {
  return command(std::span(args.begin(), args.size()));
}

Result<Reply> Client::call(std::span<const std::string_view> args) {
  SLIPRING_ASSIGN(Reply reply, command(args));
  return as_result(std::move(reply));
}

Result<Reply> Client::call(std::initializer_list<std::string_view> args) {
  return call(std::span(args.begin(), args.size()));
}

void Client::append(std::span<const std::string_view> args) {
  append_header(out_, '*', args.size());
  for (std::string_view arg : args) {
    append_header(out_, '$', arg.size());
    out_.append(arg).append("\r\n");
  }
}

void Client::append(std::initializer_list<std::string_view> args) {
  append(std::span(args.begin(), args.size()));
}

Status Client::flush() {
  const Status sent = stream_.write(out_, endpoint_.io_timeout);
  out_.clear();
  if (!sent) return fail_in(endpoint_.address, sent.error());
  return {};
}

Status Client::fill() {
  if (parsed_ == in_.size()) {
    in_.clear();
    parsed_ = 0;
  } else if (parsed_ > kReadBytes) {
    in_.erase(0, parsed_);
    parsed_ = 0;
  }
  auto n = stream_.read_some(in_, kReadBytes, endpoint_.io_timeout);
  if (n) return {};
  close();
  return fail_in(endpoint_.address, n.error());
}

Result<Reply> Client::read_reply() {
  ReplyReader reader;
  for (;;) {
    auto reply = reader.next(std::string_view(in_).substr(parsed_));
    if (!reply) {
      close();
      return fail_in(endpoint_.address, reply.error());
    }
    if (reply->has_value()) {
      parsed_ += reader.consumed();
      return std::move(**reply);
    }
    SLIPRING_TRY(fill());
  }
}

Result<size_t> Client::read_raw(std::string& into, Millis timeout) {
  if (parsed_ < in_.size()) {
    const size_t n = in_.size() - parsed_;
    into.append(in_, parsed_);
    in_.clear();
    parsed_ = 0;
    return n;
  }
  return stream_.read_some(into, kReadBytes, timeout);
}

Status Client::write_raw(std::string_view bytes) {
  return stream_.write(bytes, endpoint_.io_timeout);
}

Result<std::map<std::string, std::string>> Client::info(std::string_view section) {
  SLIPRING_ASSIGN(const Reply reply, call({"INFO", section}));
  return parse_info(reply.text);
}

std::map<std::string, std::string> parse_info(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    fields.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return fields;
}

}  // namespace slipring::redis
