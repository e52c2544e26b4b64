// The short way to a reply's length never differs from the scanner's.
#include "slipring/router/quick_reply.h"

#include <gtest/gtest.h>

#include <string>

#include "slipring/base/random.h"
#include "slipring/protocol/resp/reply.h"

namespace slipring::router {
namespace {

size_t scanned_length(std::string_view bytes) {
  resp::ReplyScanner scanner;
  return scanner.scan(bytes) == resp::ParseStatus::kDone ? scanner.used() : 0;
}

TEST(QuickReply, TakesOneLineAndOneString) {
  EXPECT_EQ(quick_reply_length("+OK\r\n+OK\r\n"), 5u);
  EXPECT_EQ(quick_reply_length(":-12\r\n"), 6u);
  EXPECT_EQ(quick_reply_length("$3\r\na\rb\r\nrest"), 9u);
  EXPECT_EQ(quick_reply_length("-ERR no\r\n"), 9u);
}

TEST(QuickReply, LeavesEverythingElseToTheScanner) {
  for (const char* text :
       {"", "$", "$3", "$3\r", "$3\r\nab", "$3\r\nabc\r", "$-1\r\n", "*1\r\n", "%1\r\n", "+OK", "+OK\r", ":\r\n",
        ":-\r\n", ":1x\r\n", "$03\r\nabc\r\n", "$3\r\nabcd\r\n", "$9999999999\r\n", "_\r\n"}) {
    EXPECT_EQ(quick_reply_length(text), 0u) << text;
  }
}

TEST(QuickReply, WhateverItTakesTheScannerTakesAlike) {
  Random random(11);
  const std::string alphabet = "$+-:*\r\n0129aE";
  int taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes;
    if (random.chance(0.5)) bytes = random.chance(0.5) ? "$1\r\n" : ":1";
    for (size_t n = random.below(12); n > 0; --n) bytes += alphabet[random.below(alphabet.size())];
    if (random.chance(0.5)) bytes += "\r\n";
    const size_t quick = quick_reply_length(bytes);
    if (quick == 0) continue;
    ++taken;
    ASSERT_EQ(quick, scanned_length(bytes)) << bytes;
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace slipring::router
