// The request parser finds the same command however the bytes arrive, and answers malformed ones as Redis does.
#include "slipring/protocol/resp/request.h"

#include <gtest/gtest.h>

#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

struct Parsed {
  ParseStatus status = ParseStatus::kNeedMore;
  size_t length = 0;
  std::vector<std::string> args;
  std::string wire;
  std::string error;
  bool operator==(const Parsed&) const = default;
};

Parsed result_of(const RequestParser& parser, ParseStatus status, std::string_view buffer) {
  Parsed p{status, 0, {}, "", parser.error()};
  if (status != ParseStatus::kDone) return p;
  p.length = parser.length();
  const Args args = parser.args(buffer);
  for (size_t i = 0; i < args.size(); ++i) p.args.emplace_back(args[i]);
  p.wire = args.wire();
  return p;
}

Parsed parse(std::string_view buffer, RequestLimits limits = {}) {
  RequestParser parser(limits);
  const ParseStatus status = parser.parse(buffer);
  return result_of(parser, status, buffer);
}

// Byte by byte, each time from a fresh copy, so that nothing can hang on old memory.
Parsed parse_slowly(std::string_view buffer) {
  RequestParser parser;
  for (size_t n = 1; n <= buffer.size(); ++n) {
    const std::string copy(buffer.substr(0, n));
    const ParseStatus status = parser.parse(copy);
    if (status != ParseStatus::kNeedMore) return result_of(parser, status, copy);
  }
  return result_of(parser, ParseStatus::kNeedMore, buffer);
}

using Words = std::vector<std::string>;

TEST(Request, AnArrayOfBulksIsSlicedInPlace) {
  const std::string buffer = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n";
  RequestParser parser;
  ASSERT_EQ(parser.parse(buffer), ParseStatus::kDone);
  const Args args = parser.args(buffer);
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(args[0], "SET");
  EXPECT_EQ(args[2], "a\r\nb");
  EXPECT_EQ(args[0].data(), buffer.data() + 8);
  EXPECT_EQ(args.wire(), buffer);
}

TEST(Request, OnePieceOrManyIsTheSame) {
  const char* inputs[] = {"*1\r\n$4\r\nPING\r\n",
                          "*2\r\n$3\r\nGET\r\n$0\r\n\r\n",
                          "*0\r\n",
                          "*-1\r\n",
                          "\r\n",
                          "\n",
                          "PING\r\n",
                          "set k \"a b\"\n",
                          "*x\r\n",
                          "*1\r\n$x\r\n",
                          "*1\r\nx\r\n",
                          "*1\r\n$2\r\nabcd",
                          "get \"a\r\n"};
  for (const std::string_view input : inputs) {
    EXPECT_EQ(parse(input), parse_slowly(input)) << input;
    EXPECT_NE(parse(input).status, ParseStatus::kNeedMore) << input;
  }
}

TEST(Request, WhatFollowsTheCommandIsLeftAlone) {
  const std::string one = "*1\r\n$4\r\nPING\r\n";
  const std::string buffer = one + "*1\r\n$4\r\nQUIT\r\n";
  RequestParser parser;
  ASSERT_EQ(parser.parse(buffer), ParseStatus::kDone);
  EXPECT_EQ(parser.length(), one.size());
  const std::string rest = buffer.substr(parser.length());
  ASSERT_EQ(parser.parse(rest), ParseStatus::kDone);
  EXPECT_EQ(parser.args(rest)[0], "QUIT");
}

TEST(Request, AnEmptyLineOrArrayIsACommandWithoutArguments) {
  for (const std::string_view input : {"\r\n", "\n", "   \r\n", "*0\r\n", "*-1\r\n", "*-7\r\n"}) {
    const Parsed p = parse(input);
    EXPECT_EQ(p.status, ParseStatus::kDone) << input;
    EXPECT_TRUE(p.args.empty()) << input;
    EXPECT_EQ(p.length, input.size());
  }
}

TEST(Request, InlineCommandsAreRewrittenAsTheArrayTheyStandFor) {
  const Parsed p = parse("set  key \"a\\x20b\\n\" 'it\\'s'\r\nGET x\r\n");
  EXPECT_EQ(p.args, (Words{"set", "key", "a b\n", "it's"}));
  EXPECT_EQ(p.wire, "*4\r\n$3\r\nset\r\n$3\r\nkey\r\n$4\r\na b\n\r\n$4\r\nit's\r\n");
  EXPECT_EQ(p.length, 29u);
}

TEST(Request, QuotingFollowsRedis) {
  const auto words = [](std::string_view line) {
    Words out;
    return split_inline(line, out) ? out : Words{"<unbalanced>"};
  };
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words("a\tb\v c"), (Words{"a", "b", "c"}));
  EXPECT_EQ(words("\"\" ''"), (Words{"", ""}));
  EXPECT_EQ(words("foo\"bar\""), (Words{"foobar"}));
  EXPECT_EQ(words("\"\\r\\t\\b\\a\\q\\\\\""), (Words{"\r\t\b\aq\\"}));
  EXPECT_EQ(words("\"\\xZZ\\x4\""), (Words{"xZZx4"}));
  EXPECT_EQ(words("'a\\nb'"), (Words{"a\\nb"}));
  EXPECT_EQ(words("\"\\xfF\""), (Words{"\xff"}));
  for (const char* bad : {"\"a", "'a", "\"a\"b", "'a'b", "\"a\\", "x \"", "\"a\\\""}) {
    EXPECT_EQ(words(bad), Words{"<unbalanced>"}) << bad;
  }
}

TEST(Request, MalformedFramingIsAnsweredWithTheTextsOfRedis) {
  const std::pair<std::string, std::string> cases[] = {
      {"*a\r\n", "invalid multibulk length"},
      {"*\r\n", "invalid multibulk length"},
      {"*01\r\n", "invalid multibulk length"},
      {"*+1\r\n", "invalid multibulk length"},
      {"*20000000\r\n", "invalid multibulk length"},
      {"*99999999999999999999\r\n", "invalid multibulk length"},
      {"*1\rX", "invalid multibulk length"},
      {"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "expected '$', got 'f'"},
      {"*1\r\n\r\n", "expected '$', got ' '"},
      {"*1\r\n$-10\r\n", "invalid bulk length"},
      {"*1\r\n$2000000000\r\n", "invalid bulk length"},
      {"*1\r\n$blabla\r\n", "invalid bulk length"},
      {"*1\r\n$-0\r\n", "invalid bulk length"},
      {"*1\r\n$2\r\nabXX", "bulk not followed by CRLF"},
      {"set \"a\r\n", "unbalanced quotes in request"},
  };
  for (const auto& [input, text] : cases) {
    EXPECT_EQ(parse(input).error, "ERR Protocol error: " + text) << input;
    EXPECT_EQ(parse_slowly(input).error, "ERR Protocol error: " + text) << input;
  }
}

TEST(Request, EndlessLinesAreCutAtTheBound) {
  const std::string flood(100'000, 'A');
  EXPECT_EQ(parse(flood).error, "ERR Protocol error: too big inline request");
  EXPECT_EQ(parse("*" + flood).error, "ERR Protocol error: too big mbulk count string");
  EXPECT_EQ(parse("*1\r\n$" + flood).error, "ERR Protocol error: too big bulk count string");
  EXPECT_EQ(parse(flood + "\r\n").error, "ERR Protocol error: too big inline request");
  EXPECT_EQ(parse(std::string(60'000, 'A') + "\r\n").status, ParseStatus::kDone);
}

TEST(Request, AnErrorIsFinal) {
  RequestParser parser;
  EXPECT_EQ(parser.parse("*x\r\n"), ParseStatus::kError);
  EXPECT_EQ(parser.parse("*1\r\n$4\r\nPING\r\n"), ParseStatus::kError);
}

TEST(Request, LimitsAreCheckedBeforeTheBytesCome) {
  EXPECT_EQ(parse("*4\r\n", {.args_max = 3}).error, "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(parse("*1\r\n$11\r\n", {.bulk_bytes_max = 10}).error, "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(parse("*2\r\n$5\r\nabcde\r\n$9\r\n", {.request_bytes_max = 25}).error,
            "ERR Protocol error: too big request");
  EXPECT_EQ(parse("*1048576\r\n").status, ParseStatus::kNeedMore);
  EXPECT_EQ(parse("*1\r\n$536870912\r\n").status, ParseStatus::kNeedMore);
}

TEST(Request, BeforeThePasswordLittleIsAccepted) {
  RequestParser parser;
  parser.set_authenticated(false);
  EXPECT_EQ(parser.parse("*11\r\n"), ParseStatus::kError);
  EXPECT_EQ(parser.error(), "ERR Protocol error: unauthenticated multibulk length");
  RequestParser other;
  other.set_authenticated(false);
  EXPECT_EQ(other.parse("*2\r\n$16385\r\n"), ParseStatus::kError);
  EXPECT_EQ(other.error(), "ERR Protocol error: unauthenticated bulk length");
}

TEST(Request, TellsHowMuchALargeValueStillWants) {
  RequestParser parser;
  EXPECT_EQ(parser.wants(), 0u);
  ASSERT_EQ(parser.parse("*1\r\n$1000\r\nabc"), ParseStatus::kNeedMore);
  EXPECT_EQ(parser.wants(), 4u + 7u + 1000u + 2u);
}

TEST(Request, ManyArgumentsAreTaken) {
  std::vector<std::string> words(5000, "abc");
  std::string wire;
  append_command(wire, words);
  const Parsed p = parse(wire);
  EXPECT_EQ(p.args, words);
  EXPECT_EQ(p.length, wire.size());
}

}  // namespace
}  // namespace slipring::resp
