#include "slipring/router/merge.h"

#include "slipring/protocol/resp/write.h"

namespace slipring::router {
namespace {

constexpr std::string_view kMalformed = "-ERR slipring: a server answered in an unexpected form\r\n";
// What a burst of large values may leave behind in a merge that is used again.
constexpr size_t kKeptBytesMax = 64u << 10;

void reuse(std::string& text) {
  text.clear();
  if (text.capacity() > kKeptBytesMax) text.shrink_to_fit();
}

}  // namespace

void Merge::start(MergeKind kind, uint32_t parts, std::vector<uint16_t>& part_of_key) {
  kind_ = kind;
  left_ = parts;
  error_part_ = UINT32_MAX;
  sum_ = 0;
  part_of_key_.swap(part_of_key);
  replies_.resize(parts);
  for (std::string& reply : replies_) reuse(reply);
  reuse(result_);
}

bool Merge::add(uint16_t part, std::string_view reply) {
  const char type = reply.empty() ? 0 : reply[0];
  int64_t number = 0;
  if (type == '-' || type == '!') {
    note_error(part, reply);
  } else if (kind_ == MergeKind::kValues) {
    replies_[part] = reply;
  } else if (kind_ == MergeKind::kSum && resp::ReplyReader(reply).next_int(number)) {
    sum_ += number;
  } else if (kind_ != MergeKind::kOk || type != '+') {
    note_error(part, kMalformed);
  }
  return --left_ == 0;
}

void Merge::note_error(uint16_t part, std::string_view reply) {
  if (part >= error_part_) return;
  error_part_ = part;
  result_ = reply;
}

std::string_view Merge::result() {
  if (error_part_ != UINT32_MAX) return result_;
  if (kind_ == MergeKind::kValues) merge_values();
  if (kind_ == MergeKind::kSum) resp::append_int(result_, sum_);
  if (kind_ == MergeKind::kOk) result_ = "+OK\r\n";
  return result_;
}

void Merge::merge_values() {
  std::vector<std::string_view> rest;
  rest.reserve(replies_.size());
  bool ok = true;
  for (const std::string& reply : replies_) {
    const size_t header = reply.find('\n');
    ok = ok && !reply.empty() && reply[0] == '*' && header != std::string::npos;
    rest.push_back(ok ? std::string_view(reply).substr(header + 1) : std::string_view());
  }
  resp::append_array_header(result_, part_of_key_.size());
  for (size_t i = 0; i < part_of_key_.size() && ok; ++i) {
    std::string_view& from = rest[part_of_key_[i]];
    ok = scanner_.scan(from) == resp::ParseStatus::kDone;
    if (!ok) break;
    result_.append(from.substr(0, scanner_.used()));
    from.remove_prefix(scanner_.used());
  }
  if (!ok) scanner_ = resp::ReplyScanner();
  if (!ok) result_ = kMalformed;
}

}  // namespace slipring::router
