#include "slipring/store/redis/reply_reader.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring::redis {
namespace {

constexpr size_t kDepthMax = 32;
constexpr int64_t kBulkBytesMax = 1ll << 30;
constexpr int64_t kItemsMax = 16ll << 20;
constexpr size_t kLineBytesMax = 64u << 10;

auto damaged(std::string_view what) {
  return fail(Code::kDataLoss, fmt::format("reply: {}", what));
}

}  // namespace

Result<bool> ReplyReader::element(std::string_view bytes, Reply& into, size_t& items) {
  const size_t line_end = bytes.find("\r\n", at_);
  if (line_end == std::string_view::npos) {
    if (bytes.size() - at_ > kLineBytesMax) return damaged("a line without end");
    return false;
  }
  const std::string_view line = bytes.substr(at_, line_end - at_);
  if (line.empty()) return damaged("an empty line");
  const std::string_view rest = line.substr(1);
  size_t end = line_end + 2;
  switch (line[0]) {
    case '+':
      into.type = Reply::Type::kSimple;
      into.text = rest;
      break;
    case '-':
      into.type = Reply::Type::kError;
      into.text = rest;
      break;
    case ':': {
      auto value = parse_i64(rest, INT64_MIN, INT64_MAX);
      if (!value) return damaged("an integer that is none");
      into.type = Reply::Type::kInteger;
      into.integer = *value;
      break;
    }
    case '$': {
      auto length = parse_i64(rest, -1, kBulkBytesMax);
      if (!length) return damaged("a bulk length out of range");
      if (*length < 0) break;
      const auto n = static_cast<size_t>(*length);
      if (bytes.size() < end + n + 2) return false;
      into.type = Reply::Type::kBulk;
      into.text = bytes.substr(end, n);
      end += n + 2;
      break;
    }
    case '*': {
      auto count = parse_i64(rest, -1, kItemsMax);
      if (!count) return damaged("an array length out of range");
      if (*count < 0) break;
      into.type = Reply::Type::kArray;
      items = static_cast<size_t>(*count);
      break;
    }
    default:
      return damaged(fmt::format("unknown type byte {:#04x}", static_cast<unsigned char>(line[0])));
  }
  at_ = end;
  return true;
}

Result<std::optional<Reply>> ReplyReader::next(std::string_view bytes) {
  if (stack_.empty()) at_ = 0;
  for (;;) {
    Reply reply;
    size_t items = 0;
    SLIPRING_ASSIGN(const bool whole, element(bytes, reply, items));
    if (!whole) return std::nullopt;
    if (items > 0) {
      if (stack_.size() == kDepthMax) return damaged("nested too deeply");
      stack_.push_back({std::move(reply), items});
      continue;
    }
    while (!stack_.empty()) {
      stack_.back().array.items.push_back(std::move(reply));
      if (--stack_.back().missing > 0) break;
      reply = std::move(stack_.back().array);
      stack_.pop_back();
      if (stack_.empty()) return std::optional(std::move(reply));
    }
    if (stack_.empty()) return std::optional(std::move(reply));
  }
}

}  // namespace slipring::redis
