#include "slipring/protocol/memcache/request.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace slipring::memcache {
namespace {

constexpr size_t kWordsKept = 1024;

enum class Form : uint8_t { kNoKey, kOneKey, kAllKeys, kKeysAfterTime, kStorage, kMeta, kMetaData, kMetaPlain };

struct Row {
  std::string_view name;
  Verb verb;
  Form form;
  uint8_t words_min;  // command included
  uint8_t words_max;  // 0: no bound
};

constexpr Row kRows[] = {
    {"get", Verb::kGet, Form::kAllKeys, 2, 0},           {"gets", Verb::kGets, Form::kAllKeys, 2, 0},
    {"gat", Verb::kGat, Form::kKeysAfterTime, 2, 0},     {"gats", Verb::kGats, Form::kKeysAfterTime, 2, 0},
    {"set", Verb::kSet, Form::kStorage, 5, 6},           {"add", Verb::kAdd, Form::kStorage, 5, 6},
    {"replace", Verb::kReplace, Form::kStorage, 5, 6},   {"append", Verb::kAppend, Form::kStorage, 5, 6},
    {"prepend", Verb::kPrepend, Form::kStorage, 5, 6},   {"cas", Verb::kCas, Form::kStorage, 6, 7},
    {"delete", Verb::kDelete, Form::kOneKey, 2, 4},      {"incr", Verb::kIncr, Form::kOneKey, 3, 4},
    {"decr", Verb::kDecr, Form::kOneKey, 3, 4},          {"touch", Verb::kTouch, Form::kOneKey, 3, 4},
    {"flush_all", Verb::kFlushAll, Form::kNoKey, 1, 0},  {"version", Verb::kVersion, Form::kNoKey, 1, 0},
    {"verbosity", Verb::kVerbosity, Form::kNoKey, 2, 0}, {"stats", Verb::kStats, Form::kNoKey, 1, 0},
    {"quit", Verb::kQuit, Form::kNoKey, 1, 0},           {"mg", Verb::kMetaGet, Form::kMeta, 2, 0},
    {"ms", Verb::kMetaSet, Form::kMetaData, 3, 0},       {"md", Verb::kMetaDelete, Form::kMeta, 2, 0},
    {"ma", Verb::kMetaArithmetic, Form::kMeta, 2, 0},    {"mn", Verb::kMetaNoop, Form::kMetaPlain, 1, 0},
    {"me", Verb::kMetaDebug, Form::kMeta, 2, 0},
};

const Row* find_row(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// The whole word as a decimal number; a plus sign is allowed, as memcached does.
template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, out);
  return r.ec == std::errc() && r.ptr == end;
}

}  // namespace

std::string_view verb_name(Verb verb) {
  for (const Row& row : kRows) {
    if (row.verb == verb) return row.name;
  }
  return "";
}

std::string_view problem_reply(Problem problem) {
  switch (problem) {
    case Problem::kNone:
      return "";
    case Problem::kUnknownCommand:
      return "ERROR\r\n";
    case Problem::kBadDelete:
      return "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
    case Problem::kBadFormat:
    case Problem::kBadKey:
      return "CLIENT_ERROR bad command line format\r\n";
    case Problem::kBadDataChunk:
      return "CLIENT_ERROR bad data chunk\r\n";
    case Problem::kTooLarge:
      return "SERVER_ERROR object too large for cache\r\n";
  }
  return "";
}

void RequestParser::start() {
  status_ = ParseStatus::kNeedMore;
  verb_ = Verb::kUnknown;
  problem_ = Problem::kNone;
  noreply_ = false;
  scanned_ = 0;
  line_bytes_ = 0;
  data_bytes_ = -1;
  swallow_bytes_ = 0;
  length_ = 0;
  first_key_ = 0;
  key_count_ = 0;
  words_.clear();
  if (words_.capacity() > kWordsKept) words_.shrink_to_fit();
}

ParseStatus RequestParser::parse(std::string_view buffer) {
  if (status_ == ParseStatus::kError) return status_;
  if (status_ == ParseStatus::kDone) start();
  if (line_bytes_ == 0) {
    if (const ParseStatus s = parse_line(buffer); s != ParseStatus::kDone) return s;
  }
  return status_ = parse_data(buffer);
}

ParseStatus RequestParser::parse_line(std::string_view buffer) {
  const size_t stop = std::min<size_t>(buffer.size(), limits_.line_bytes_max);
  const void* hit = scanned_ < stop ? std::memchr(buffer.data() + scanned_, '\n', stop - scanned_) : nullptr;
  if (hit == nullptr) {
    scanned_ = stop;
    if (buffer.size() < limits_.line_bytes_max) return status_;
    return status_ = ParseStatus::kError;
  }
  const auto end = static_cast<size_t>(static_cast<const char*>(hit) - buffer.data());
  line_bytes_ = end + 1;
  split(buffer.substr(0, end > 0 && buffer[end - 1] == '\r' ? end - 1 : end));
  understand(buffer);
  return ParseStatus::kDone;
}

void RequestParser::split(std::string_view line) {
  size_t i = 0;
  while (true) {
    while (i < line.size() && line[i] == ' ') ++i;
    if (i == line.size()) return;
    const size_t begin = i;
    while (i < line.size() && line[i] != ' ') ++i;
    words_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(i - begin)});
  }
}

void RequestParser::understand(std::string_view buffer) {
  const Row* row = words_.empty() ? nullptr : find_row(word(buffer, 0));
  if (row == nullptr) {
    problem_ = Problem::kUnknownCommand;
    return;
  }
  verb_ = row->verb;
  if (words_.size() < row->words_min || (row->words_max != 0 && words_.size() > row->words_max)) {
    problem_ = row->form == Form::kMetaData ? Problem::kBadFormat : Problem::kUnknownCommand;
    return;
  }
  switch (row->form) {
    case Form::kNoKey:
      take_noreply(buffer, 1);
      return;
    case Form::kOneKey:
      understand_keys(1, 1);
      take_noreply(buffer, row->words_min);
      if (verb_ == Verb::kDelete && words_.size() > 2 && !noreply_ && word(buffer, 2) != "0") {
        problem_ = Problem::kBadDelete;
        key_count_ = 0;
      }
      return;
    case Form::kAllKeys:
      understand_keys(1, words_.size() - 1);
      return;
    case Form::kKeysAfterTime:
      understand_keys(2, words_.size() - 2);
      return;
    case Form::kStorage:
      understand_storage(buffer);
      return;
    case Form::kMeta:
      understand_keys(1, 1);
      return;
    case Form::kMetaData:
      understand_meta(buffer);
      return;
    case Form::kMetaPlain:
      return;
  }
}

void RequestParser::understand_keys(size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    if (words_[i].size > kKeyBytesMax) problem_ = Problem::kBadKey;
  }
  if (problem_ != Problem::kNone) return;
  first_key_ = first;
  key_count_ = count;
}

// Only as the last word, and only behind what the command needs.
void RequestParser::take_noreply(std::string_view buffer, size_t at) {
  noreply_ = words_.size() > at && word(buffer, words_.size() - 1) == "noreply";
}

// <command> <key> <flags> <exptime> <bytes> [<cas>] [noreply]
void RequestParser::understand_storage(std::string_view buffer) {
  uint64_t flags = 0;
  int64_t exptime = 0;
  int32_t bytes = 0;
  uint64_t cas = 0;
  take_noreply(buffer, verb_ == Verb::kCas ? 6 : 5);
  const bool numbers = parse_number(word(buffer, 2), flags) && parse_number(word(buffer, 3), exptime) &&
                       parse_number(word(buffer, 4), bytes) && bytes >= 0 && bytes <= INT32_MAX - 2 &&
                       (verb_ != Verb::kCas || parse_number(word(buffer, 5), cas));
  if (!numbers) {
    problem_ = Problem::kBadFormat;
    return;
  }
  understand_keys(1, 1);
  if (problem_ == Problem::kNone) expect_data(bytes);
}

// ms <key> <bytes> <flags>*
void RequestParser::understand_meta(std::string_view buffer) {
  int32_t bytes = 0;
  if (!parse_number(word(buffer, 2), bytes) || bytes < 0 || bytes > INT32_MAX - 2) {
    problem_ = Problem::kBadFormat;
    return;
  }
  understand_keys(1, 1);
  if (problem_ == Problem::kNone) expect_data(bytes);
}

// A block that is too large is not waited for: its owner drops it as it comes.
void RequestParser::expect_data(int64_t bytes) {
  if (bytes <= limits_.value_bytes_max) {
    data_bytes_ = bytes;
  } else {
    problem_ = Problem::kTooLarge;
    swallow_bytes_ = static_cast<uint64_t>(bytes) + 2;
    key_count_ = 0;
  }
}

ParseStatus RequestParser::parse_data(std::string_view buffer) {
  length_ = line_bytes_;
  if (data_bytes_ < 0) return ParseStatus::kDone;
  const size_t end = line_bytes_ + static_cast<size_t>(data_bytes_);
  if (buffer.size() < end + 2) return ParseStatus::kNeedMore;
  length_ = end + 2;
  if (buffer.substr(end, 2) != "\r\n") {
    problem_ = Problem::kBadDataChunk;
    key_count_ = 0;
  }
  return ParseStatus::kDone;
}

bool RequestParser::has_flag(std::string_view buffer, char letter) const {
  const size_t first = verb_ == Verb::kMetaSet ? 3 : 2;
  for (size_t i = first; is_meta() && i < words_.size(); ++i) {
    if (buffer[words_[i].offset] == letter) return true;
  }
  return false;
}

}  // namespace slipring::memcache
