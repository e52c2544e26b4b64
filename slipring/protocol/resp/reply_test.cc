// The scanner finds the end of every kind of reply and refuses what no server may send; the reader walks over one.
#include "slipring/protocol/resp/reply.h"

#include <gtest/gtest.h>

#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

// kDone exactly at the last byte when fed byte by byte, and at once when fed whole with rubbish behind.
void expect_one_reply(const std::string& reply, char type) {
  ReplyScanner whole;
  ASSERT_EQ(whole.scan(reply + "rubbish"), ParseStatus::kDone) << reply;
  EXPECT_EQ(whole.used(), reply.size()) << reply;
  EXPECT_EQ(whole.type(), type) << reply;
  ReplyScanner slow;
  for (size_t i = 0; i < reply.size(); ++i) {
    const ParseStatus status = slow.scan(std::string_view(reply).substr(i, 1));
    EXPECT_EQ(status, i + 1 == reply.size() ? ParseStatus::kDone : ParseStatus::kNeedMore) << reply << " at " << i;
  }
  EXPECT_EQ(slow.length(), reply.size());
}

TEST(ReplyScanner, KnowsEveryTypeOfResp2AndResp3) {
  for (const std::string reply : {"+OK\r\n",
                                  "+\r\n",
                                  "-ERR no\r\n",
                                  ":0\r\n",
                                  ":-12\r\n",
                                  ":+12\r\n",
                                  "$0\r\n\r\n",
                                  "$-1\r\n",
                                  "$3\r\na\r\n\r\n",
                                  "*0\r\n",
                                  "*-1\r\n",
                                  "*2\r\n:1\r\n*1\r\n$1\r\nx\r\n",
                                  "_\r\n",
                                  "#t\r\n",
                                  "#f\r\n",
                                  ",1.25\r\n",
                                  ",inf\r\n",
                                  ",-inf\r\n",
                                  ",nan\r\n",
                                  "(12345678901234567890123\r\n",
                                  "!5\r\nERR x\r\n",
                                  "=7\r\ntxt:abc\r\n",
                                  "%1\r\n+k\r\n:1\r\n",
                                  "%0\r\n",
                                  "~2\r\n+a\r\n+b\r\n",
                                  ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n"}) {
    expect_one_reply(reply, reply[0]);
  }
}

TEST(ReplyScanner, AttributesBelongToTheReplyThatFollows) {
  expect_one_reply("|1\r\n+ttl\r\n:3600\r\n$1\r\nx\r\n", '$');
  expect_one_reply("|0\r\n+OK\r\n", '+');
  expect_one_reply("*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n:7\r\n:8\r\n", '*');
}

TEST(ReplyScanner, RefusesWhatNoServerMaySend) {
  const std::string deep = [] {
    std::string s;
    for (int i = 0; i < 129; ++i) s += "*1\r\n";
    return s;
  }();
  for (const std::string& reply : {std::string("x"),
                                   std::string("\r\n"),
                                   std::string("$-2\r\n"),
                                   std::string("$1x\r\n"),
                                   std::string("$\r\n"),
                                   std::string("$1\n"),
                                   std::string("$1\rx"),
                                   std::string("$1\r\nabc"),
                                   std::string("*-2\r\n"),
                                   std::string("%-1\r\n"),
                                   std::string("*99999999999999\r\n"),
                                   std::string("$9999999999999\r\n"),
                                   std::string(":1x\r\n"),
                                   std::string(":\r\n"),
                                   std::string("#x\r\n"),
                                   std::string("#tt\r\n"),
                                   std::string("_x\r\n"),
                                   std::string(",1,2\r\n"),
                                   std::string("=3\r\ntxt\r\n"),
                                   std::string("+a\nb\r\n"),
                                   std::string("*1\r\n>1\r\n:1\r\n"),
                                   std::string("$?\r\n"),
                                   std::string("$--1\r\n"),
                                   deep}) {
    ReplyScanner scanner;
    EXPECT_EQ(scanner.scan(reply), ParseStatus::kError) << reply;
    EXPECT_STRNE(scanner.error(), "");
    EXPECT_EQ(scanner.scan("+OK\r\n"), ParseStatus::kError) << "an error is final";
  }
}

TEST(ReplyScanner, NestingUpToTheBoundIsFine) {
  std::string s;
  for (size_t i = 0; i < kReplyDepthMax; ++i) s += "*1\r\n";
  expect_one_reply(s + ":1\r\n", '*');
}

TEST(ReplyScanner, LinesAndBulksAreBounded) {
  ReplyScanner lines({.line_bytes_max = 10});
  EXPECT_EQ(lines.scan("+1234567890\r\n"), ParseStatus::kDone);
  EXPECT_EQ(lines.scan("+12345678901\r\n"), ParseStatus::kError);
  ReplyScanner bulks({.bulk_bytes_max = 10});
  EXPECT_EQ(bulks.scan("$11\r\n"), ParseStatus::kError);
  ReplyScanner counts({.count_max = 10});
  EXPECT_EQ(counts.scan("*11\r\n"), ParseStatus::kError);
}

TEST(ReplyScanner, ReadsOneReplyAfterTheOther) {
  const std::string stream = "+OK\r\n$1\r\nx\r\n:5\r\n";
  ReplyScanner scanner;
  std::string types;
  for (size_t at = 0; at < stream.size(); at += scanner.used()) {
    ASSERT_EQ(scanner.scan(std::string_view(stream).substr(at)), ParseStatus::kDone);
    types += scanner.type();
  }
  EXPECT_EQ(types, "+$:");
}

TEST(ReplyReader, WalksOverASimpleReply) {
  ReplyReader r("*3\r\n$2\r\n17\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n:-4\r\n");
  int64_t n = 0;
  std::string_view s;
  ASSERT_TRUE(r.next_array(n));
  EXPECT_EQ(n, 3);
  ASSERT_TRUE(r.next_string(s));
  EXPECT_EQ(s, "17");
  ASSERT_TRUE(r.next_array(n));
  EXPECT_EQ(n, 2);
  ASSERT_TRUE(r.next_string(s));
  ASSERT_TRUE(r.next_string(s));
  EXPECT_EQ(s, "b");
  ASSERT_TRUE(r.next_int(n));
  EXPECT_EQ(n, -4);
  EXPECT_TRUE(r.at_end());
}

TEST(ReplyReader, TellsNullsErrorsAndMaps) {
  ReplyReader r(
      "$-1\r\n_\r\n*-1\r\n-ERR x\r\n!5\r\nERR y\r\n%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n=5\r\ntxt:z\r\n,1.5\r\n#t\r\n");
  ReplyItem item;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(r.next(item));
    EXPECT_TRUE(item.null);
    EXPECT_FALSE(item.is_aggregate());
    EXPECT_FALSE(item.is_string());
  }
  for (const std::string_view text : {"ERR x", "ERR y"}) {
    ASSERT_TRUE(r.next(item));
    EXPECT_TRUE(item.is_error());
    EXPECT_EQ(item.text, text);
  }
  ASSERT_TRUE(r.next(item));
  EXPECT_EQ(item.number, 4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(r.skip());
  ASSERT_TRUE(r.next(item));
  EXPECT_EQ(item.text, "z");
  ASSERT_TRUE(r.next(item));
  EXPECT_EQ(item.text, "1.5");
  ASSERT_TRUE(r.next(item));
  EXPECT_EQ(item.number, 1);
  EXPECT_FALSE(r.next(item));
  EXPECT_TRUE(r.ok());
}

TEST(ReplyReader, PassesOverAttributes) {
  ReplyReader r("|1\r\n+ttl\r\n*2\r\n:1\r\n:2\r\n$1\r\nx\r\n*1\r\n|1\r\n+a\r\n+b\r\n:9\r\n:10\r\n");
  std::string_view s;
  ASSERT_TRUE(r.next_string(s));
  EXPECT_EQ(s, "x");
  ASSERT_TRUE(r.skip());
  int64_t n = 0;
  ASSERT_TRUE(r.next_int(n));
  EXPECT_EQ(n, 10);
}

TEST(ReplyReader, NeverLeavesATornReply) {
  const std::string whole = "*2\r\n$3\r\nabc\r\n%1\r\n+a\r\n:1\r\n";
  for (size_t n = 0; n < whole.size(); ++n) {
    const std::string torn = whole.substr(0, n);
    EXPECT_FALSE(ReplyReader(torn).skip()) << n;
  }
  ReplyItem item;
  EXPECT_FALSE(ReplyReader(std::string_view("\0"
                                            "123\r\n",
                                            6))
                   .next(item));
  EXPECT_FALSE(ReplyReader("?1\r\n").next(item));
  int64_t n = 0;
  ReplyReader wrong("+OK\r\n");
  EXPECT_FALSE(wrong.next_int(n));
  EXPECT_FALSE(wrong.ok());
}

TEST(Writer, WritesResp3AndWhatStandsForItInResp2) {
  const auto both = [](auto write) {
    std::string two, three;
    write(two, Version::kResp2);
    write(three, Version::kResp3);
    return two + "|" + three;
  };
  EXPECT_EQ(both([](auto& o, Version v) { append_map_header(o, 2, v); }), "*4\r\n|%2\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_set_header(o, 2, v); }), "*2\r\n|~2\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_push_header(o, 2, v); }), "*2\r\n|>2\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_null(o, v); }), "$-1\r\n|_\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_null_array(o, v); }), "*-1\r\n|_\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_double(o, 0.1, v); }), "$3\r\n0.1\r\n|,0.1\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_double(o, -1.0 / 0.0, v); }), "$4\r\n-inf\r\n|,-inf\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_bool(o, true, v); }), ":1\r\n|#t\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_verbatim(o, "txt", "ab", v); }), "$2\r\nab\r\n|=6\r\ntxt:ab\r\n");
  EXPECT_EQ(both([](auto& o, Version v) { append_big_number(o, "123", v); }), "$3\r\n123\r\n|(123\r\n");
}

TEST(Writer, ATextCannotEndItsLine) {
  std::string out;
  append_error(out, "ERR a\r\n+OK");
  append_simple(out, "x\ny");
  append_int(out, -9223372036854775807 - 1);
  EXPECT_EQ(out, "-ERR a  +OK\r\n+x y\r\n:-9223372036854775808\r\n");
}

}  // namespace
}  // namespace slipring::resp
