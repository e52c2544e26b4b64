// Whatever a client writes, and however the network cuts it: the parser finds exactly the commands that were written.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/protocol/resp/reply.h"
#include "slipring/protocol/resp/request.h"
#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

using Words = std::vector<std::string>;

// Feeds `stream` as a connection would: pieces of the given sizes, whole commands dropped from the front.
std::vector<Words> commands_of(const std::string& stream, const std::vector<uint8_t>& cuts) {
  RequestParser parser;
  std::vector<Words> out;
  std::string buffer;
  size_t at = 0;
  for (size_t i = 0; at < stream.size(); ++i) {
    const size_t n = std::min<size_t>(stream.size() - at, cuts.empty() ? stream.size() : 1 + cuts[i % cuts.size()] % 7);
    buffer.append(stream, at, n);
    at += n;
    while (!buffer.empty() && parser.parse(buffer) == ParseStatus::kDone) {
      Words words;
      const Args args = parser.args(buffer);
      for (size_t k = 0; k < args.size(); ++k) words.emplace_back(args[k]);
      out.push_back(words);
      buffer.erase(0, parser.length());
    }
  }
  return out;
}

TEST(RequestProperty, EveryCutGivesTheCommandsThatWereWritten) {
  EXPECT_TRUE(rc::check([](const std::vector<Words>& commands, const std::vector<uint8_t>& cuts) {
    std::string stream;
    for (const Words& words : commands) append_command(stream, words);
    RC_ASSERT(commands_of(stream, cuts) == commands);
  }));
}

TEST(RequestProperty, AnyInlineQuotingComesBackAsWritten) {
  EXPECT_TRUE(rc::check([](const Words& words) {
    std::string line;
    for (const std::string& word : words) {
      line += " \"";
      for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        line += {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      }
      line += '"';
    }
    Words out;
    RC_ASSERT(split_inline(line, out));
    RC_ASSERT(out == words);
  }));
}

// A random reply of bounded depth, written by hand so that the scanner is not tested against itself.
std::string random_reply(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 15 : 10);
  const std::string text = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
  const std::string bytes = *rc::gen::arbitrary<std::string>();
  const auto counted = [](char type, const std::string& s) {
    return type + std::to_string(s.size()) + "\r\n" + s + "\r\n";
  };
  switch (kind) {
    case 0:
      return "+" + text + "\r\n";
    case 1:
      return "-ERR " + text + "\r\n";
    case 2:
      return ":" + std::to_string(*rc::gen::arbitrary<int64_t>()) + "\r\n";
    case 3:
      return counted('$', bytes);
    case 4:
      return "$-1\r\n";
    case 5:
      return "_\r\n";
    case 6:
      return "#t\r\n";
    case 7:
      return ",1.5e-7\r\n";
    case 8:
      return "(-3492890328409238509324850943850943825024385\r\n";
    case 9:
      return counted('=', "txt:" + bytes);
    default:
      break;
  }
  const char type = "*~%|!"[kind - 10];
  if (type == '!') return counted('!', bytes);
  const int n = *rc::gen::inRange(0, 4);
  std::string out = type + std::to_string(n) + "\r\n";
  for (int i = 0; i < (type == '%' || type == '|' ? 2 * n : n); ++i) out += random_reply(depth - 1);
  return type == '|' ? out + random_reply(depth - 1) : out;
}

TEST(ReplyProperty, EveryCutFindsTheEndOfEachReply) {
  EXPECT_TRUE(rc::check([](const std::vector<uint8_t>& cuts) {
    const std::vector<std::string> replies = {random_reply(4), random_reply(3), random_reply(2)};
    const std::string stream = replies[0] + replies[1] + replies[2];
    ReplyScanner scanner;
    std::vector<uint64_t> lengths;
    size_t at = 0;
    for (size_t i = 0; at < stream.size(); ++i) {
      const size_t n = cuts.empty() ? stream.size() : 1 + cuts[i % cuts.size()] % 5;
      const ParseStatus status = scanner.scan(std::string_view(stream).substr(at, n));
      RC_ASSERT(status != ParseStatus::kError);
      RC_ASSERT(scanner.used() > 0u);
      at += scanner.used();
      if (status == ParseStatus::kDone) lengths.push_back(scanner.length());
    }
    RC_ASSERT(lengths == (std::vector<uint64_t>{replies[0].size(), replies[1].size(), replies[2].size()}));
    ReplyReader reader(stream);
    RC_ASSERT(reader.skip() && reader.skip() && reader.skip() && reader.at_end());
  }));
}

}  // namespace
}  // namespace slipring::resp
