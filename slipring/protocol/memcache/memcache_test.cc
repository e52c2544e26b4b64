// memcached's requests and replies are found whole however the bytes are cut, and what is wrong with a request is told
// as memcached 1.6 tells it (the answers here were seen on a server).
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/protocol/memcache/reply.h"
#include "slipring/protocol/memcache/request.h"

namespace slipring::memcache {
namespace {

struct Parsed {
  ParseStatus status = ParseStatus::kNeedMore;
  Verb verb = Verb::kUnknown;
  Problem problem = Problem::kNone;
  size_t length = 0;
  uint64_t swallow = 0;
  bool noreply = false;
  std::vector<std::string> keys;
  std::string data = "<none>";
  bool operator==(const Parsed&) const = default;
};

Parsed result_of(const RequestParser& parser, ParseStatus status, std::string_view buffer) {
  Parsed p;
  p.status = status;
  if (status != ParseStatus::kDone) return p;
  p.verb = parser.verb();
  p.problem = parser.problem();
  p.length = parser.length();
  p.swallow = parser.swallow_bytes();
  p.noreply = parser.noreply();
  for (const Slice& key : parser.keys()) p.keys.emplace_back(buffer.substr(key.offset, key.size));
  if (parser.has_data()) p.data = buffer.substr(parser.data().offset, parser.data().size);
  return p;
}

Parsed parse(std::string_view buffer) {
  RequestParser parser;
  const ParseStatus status = parser.parse(buffer);
  return result_of(parser, status, buffer);
}

Parsed parse_slowly(std::string_view buffer) {
  RequestParser parser;
  for (size_t n = 1; n <= buffer.size(); ++n) {
    const std::string copy(buffer.substr(0, n));
    const ParseStatus status = parser.parse(copy);
    if (status != ParseStatus::kNeedMore) return result_of(parser, status, copy);
  }
  return {};
}

using Keys = std::vector<std::string>;

TEST(MemcacheRequest, FindsKeysDataAndNoreply) {
  EXPECT_EQ(parse("get a bb c\r\n").keys, (Keys{"a", "bb", "c"}));
  EXPECT_EQ(parse("gats 60 a b\r\n").keys, (Keys{"a", "b"}));
  const Parsed set = parse("set k 5 0 4 noreply\r\na\r\nb\r\nget x\r\n");
  EXPECT_EQ(set.keys, Keys{"k"});
  EXPECT_EQ(set.data, "a\r\nb");
  EXPECT_TRUE(set.noreply);
  EXPECT_EQ(set.length, 27u);
  EXPECT_EQ(parse("cas k 0 0 1 77 noreply\r\nx\r\n").noreply, true);
  EXPECT_EQ(parse("cas k 0 0 1 77\r\nx\r\n").noreply, false);
  EXPECT_EQ(parse("delete k noreply\r\n").noreply, true);
  EXPECT_EQ(parse("delete k 0\r\n").problem, Problem::kNone);
  EXPECT_EQ(parse("incr k 5\r\n").keys, Keys{"k"});
  EXPECT_EQ(parse("flush_all noreply\r\n").noreply, true);
  EXPECT_EQ(parse("get k\n").keys, Keys{"k"});
}

TEST(MemcacheRequest, MetaCommandsKeepTheirFlags) {
  const std::string line = "ms k 2 T60 q Oabc\r\nhi\r\n";
  RequestParser parser;
  ASSERT_EQ(parser.parse(line), ParseStatus::kDone);
  EXPECT_TRUE(parser.is_meta());
  EXPECT_TRUE(parser.has_flag(line, 'q'));
  EXPECT_TRUE(parser.has_flag(line, 'O'));
  EXPECT_FALSE(parser.has_flag(line, 'k'));
  EXPECT_EQ(parser.words().size(), 6u);
  EXPECT_EQ(parse("mg Zm9v b k v\r\n").keys, Keys{"Zm9v"});
  EXPECT_EQ(parse("mn\r\n").verb, Verb::kMetaNoop);
  EXPECT_EQ(parse("mg k\r\n").verb, Verb::kMetaGet);
}

TEST(MemcacheRequest, ProblemsAreThoseOfMemcached) {
  const std::string long_key(251, 'k');
  const std::pair<std::string, Problem> cases[] = {
      {"\r\n", Problem::kUnknownCommand},
      {"GET k\r\n", Problem::kUnknownCommand},
      {"get\r\n", Problem::kUnknownCommand},
      {"incr k\r\n", Problem::kUnknownCommand},
      {"cas k 0 0 2\r\n", Problem::kUnknownCommand},
      {"get " + long_key + "\r\n", Problem::kBadKey},
      {"mg " + long_key + "\r\n", Problem::kBadKey},
      {"set " + long_key + " 0 0 2\r\nab\r\n", Problem::kBadKey},
      {"set k x 0 2\r\nab\r\n", Problem::kBadFormat},
      {"set k 0 0 -1\r\n", Problem::kBadFormat},
      {"ms k\r\n", Problem::kBadFormat},
      {"ms k a\r\n", Problem::kBadFormat},
      {"delete k 1\r\n", Problem::kBadDelete},
      {"set k 0 0 2\r\nabXY", Problem::kBadDataChunk},
      {"set k 0 0 2000000\r\n", Problem::kTooLarge},
  };
  for (const auto& [input, problem] : cases) {
    const Parsed p = parse(input);
    EXPECT_EQ(p.status, ParseStatus::kDone) << input;
    EXPECT_EQ(p.problem, problem) << input;
    EXPECT_TRUE(p.keys.empty()) << input;
    EXPECT_TRUE(problem_reply(p.problem).ends_with("\r\n"));
    EXPECT_EQ(p, parse_slowly(input)) << input;
  }
}

TEST(MemcacheRequest, ABlockTooLargeIsNeverWaitedFor) {
  const Parsed p = parse("set k 0 0 2147483645\r\nabc");
  EXPECT_EQ(p.length, 22u);
  EXPECT_EQ(p.swallow, 2147483647u);
  EXPECT_EQ(parse("set k 0 0 99999999999\r\n").problem, Problem::kBadFormat);
}

TEST(MemcacheRequest, AnEndlessLineLosesTheFraming) {
  RequestParser parser;
  EXPECT_EQ(parser.parse(std::string(100'000, 'x')), ParseStatus::kError);
  EXPECT_EQ(parser.parse("get k\r\n"), ParseStatus::kError);
  EXPECT_EQ(parse(std::string(60'000, 'x')).status, ParseStatus::kNeedMore);
}

TEST(MemcacheRequest, NamesEveryVerb) {
  for (int v = 1; v <= static_cast<int>(Verb::kMetaDebug); ++v) {
    const auto verb = static_cast<Verb>(v);
    EXPECT_EQ(parse(std::string(verb_name(verb)) + " a b c d e\r\n").verb, verb) << v;
  }
  EXPECT_EQ(verb_name(Verb::kUnknown), "");
}

TEST(MemcacheRequest, OnePieceOrManyIsTheSame) {
  EXPECT_TRUE(rc::check([] {
    const auto words = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("get", "set", "ms", "cas", "k", "0", "3", "noreply", "-1", "x", "", "delete"));
    std::string input;
    for (const std::string& word : words) input += word + " ";
    input += "\r\n" + *rc::gen::element<std::string>("", "abc\r\n", "abcXY", "\r\n");
    const Parsed whole = parse(input);
    if (whole.status == ParseStatus::kDone) RC_ASSERT(whole == parse_slowly(input));
    RC_ASSERT(whole.length <= input.size());
  }));
}

void expect_one_reply(ReplyShape shape, const std::string& reply, const std::string& last) {
  ReplyScanner whole;
  whole.expect(shape);
  ASSERT_EQ(whole.scan(reply + "END\r\n"), ParseStatus::kDone) << reply;
  EXPECT_EQ(whole.used(), reply.size());
  EXPECT_EQ(whole.last_line(), last);
  ReplyScanner slow;
  slow.expect(shape);
  for (size_t i = 0; i < reply.size(); ++i) {
    const ParseStatus status = slow.scan(std::string_view(reply).substr(i, 1));
    EXPECT_EQ(status, i + 1 == reply.size() ? ParseStatus::kDone : ParseStatus::kNeedMore) << reply << " at " << i;
  }
  EXPECT_EQ(slow.length(), reply.size());
  EXPECT_EQ(slow.last_line(), last);
}

TEST(MemcacheReply, EndsWhereItsShapeSays) {
  expect_one_reply(ReplyShape::kLine, "STORED\r\n", "STORED");
  expect_one_reply(ReplyShape::kItems, "END\r\n", "END");
  expect_one_reply(ReplyShape::kItems, "VALUE k 0 5\r\nEND\r\n\r\nVALUE l 1 0 77\r\n\r\nEND\r\n", "END");
  expect_one_reply(ReplyShape::kItems, "VALUE k 0 1\r\nx\r\nSERVER_ERROR out of memory\r\n",
                   "SERVER_ERROR out of memory");
  expect_one_reply(ReplyShape::kStats, "STAT pid 1\r\nSTAT uptime 2\r\nEND\r\n", "END");
  expect_one_reply(ReplyShape::kStats, "RESET\r\n", "RESET");
  expect_one_reply(ReplyShape::kMeta, "VA 4 f0 c7\r\na\r\nb\r\n", "VA 4 f0 c7");
  expect_one_reply(ReplyShape::kMeta, "HD\r\n", "HD");
  expect_one_reply(ReplyShape::kMeta, "EN\r\n", "EN");
  EXPECT_EQ(shape_of(Verb::kGats), ReplyShape::kItems);
  EXPECT_EQ(shape_of(Verb::kMetaArithmetic), ReplyShape::kMeta);
  EXPECT_EQ(shape_of(Verb::kMetaNoop), ReplyShape::kLine);
}

TEST(MemcacheReply, TellsErrors) {
  for (const char* text : {"ERROR", "CLIENT_ERROR bad data chunk", "SERVER_ERROR x"}) {
    ReplyScanner scanner;
    scanner.expect(ReplyShape::kItems);
    ASSERT_EQ(scanner.scan(std::string(text) + "\r\n"), ParseStatus::kDone);
    EXPECT_TRUE(scanner.is_error());
  }
}

TEST(MemcacheReply, RefusesWhatNoServerMaySend) {
  for (const std::string& reply :
       {std::string("VALUE k 0 x\r\n"), std::string("VALUE k 0\r\n"), std::string("STORED\n"),
        std::string("VALUE k 0 1\r\nabc"), std::string("VALUE k 0 99999999999\r\n"), std::string(10'000, 'x')}) {
    ReplyScanner scanner;
    scanner.expect(ReplyShape::kItems);
    EXPECT_EQ(scanner.scan(reply), ParseStatus::kError) << reply.substr(0, 40);
    scanner.expect(ReplyShape::kItems);
    EXPECT_EQ(scanner.scan("END\r\n"), ParseStatus::kError) << "an error is final";
  }
}

TEST(MemcacheReply, ItemsCanBeTakenApart) {
  const std::string reply = "VALUE k 5 3\r\na\r\n\r\nVALUE l 0 1 42\r\nx\r\nEND\r\n";
  ItemReader reader(reply);
  Item item;
  ASSERT_TRUE(reader.next(item));
  EXPECT_EQ(item.key, "k");
  EXPECT_EQ(item.flags, "5");
  EXPECT_EQ(item.data, "a\r\n");
  EXPECT_EQ(item.cas, "");
  ASSERT_TRUE(reader.next(item));
  EXPECT_EQ(item.cas, "42");
  EXPECT_EQ(item.whole, "VALUE l 0 1 42\r\nx\r\n");
  EXPECT_FALSE(reader.next(item));
  EXPECT_TRUE(reader.ok());
  for (size_t n = 0; n < reply.size(); ++n) {
    const std::string torn = reply.substr(0, n);
    ItemReader cut(torn);
    while (cut.next(item)) EXPECT_LE(item.whole.size(), n);
    EXPECT_FALSE(cut.ok()) << n;
  }
}

}  // namespace
}  // namespace slipring::memcache
