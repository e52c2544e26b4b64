#include "slipring/control/secret_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

Result<NodeCredential> parse_line(std::string_view line) {
  NodeCredential out;
  out.address = take_word(line);
  out.user = take_word(line);
  out.password = line;
  if (out.user.empty() || out.password.empty()) {
    return fail(Code::kInvalidArgument, "must be: address user password");
  }
  if (out.address != "*") {
    SLIPRING_TRY(parse_host_port(out.address));
  }
  return out;
}

}  // namespace

Result<NodeCredentials> NodeCredentials::read(const std::string& path) {
  SLIPRING_ASSIGN(const std::string text, read_secret_file(path));
  return parse(text, path);
}

Result<NodeCredentials> NodeCredentials::parse(std::string_view text, std::string_view path) {
  NodeCredentials out;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto parsed = parse_line(line);
    // The line holds a password: its text stays out of the message.
    if (!parsed)
      return fail(Code::kInvalidArgument, fmt::format("{}:{}: must be: address user password", path, number));
    out.lines_.push_back(std::move(*parsed));
  }
  return out;
}

const NodeCredential* NodeCredentials::find(std::string_view address) const {
  const NodeCredential* any = nullptr;
  for (const NodeCredential& line : lines_) {
    if (line.address == address) return &line;
    if (line.address == "*" && any == nullptr) any = &line;
  }
  return any;
}

std::string format_credentials(const std::vector<NodeCredential>& lines) {
  std::string text;
  for (const NodeCredential& line : lines) text += fmt::format("{} {} {}\n", line.address, line.user, line.password);
  return text;
}

}  // namespace slipring::control
