// What is queued comes out as it went in, with its keys, and is counted.
#include "slipring/router/transaction.h"

#include <gtest/gtest.h>

#include "slipring/protocol/resp/write.h"

namespace slipring::router {
namespace {

void queue(Transaction& transaction, std::initializer_list<std::string_view> words, std::vector<size_t> keys) {
  std::string bytes = "xx";  // commands stand anywhere in a buffer
  resp::append_command(bytes, words);
  resp::RequestParser parser;
  const std::string_view at = std::string_view(bytes).substr(2);
  ASSERT_EQ(parser.parse(at), resp::ParseStatus::kDone);
  const resp::Args args = parser.args(at);
  std::vector<std::string_view> key_texts;
  for (const size_t i : keys) key_texts.push_back(args[i]);
  transaction.queue(args, key_texts);
}

TEST(Transaction, KeepsTheCommandsAndTheirKeysInOrder) {
  Transaction transaction;
  queue(transaction, {"SET", "a", "1"}, {1});
  queue(transaction, {"PING"}, {});
  queue(transaction, {"MSET", "b", "2", "cc", "3"}, {1, 3});
  EXPECT_EQ(transaction.commands(), 3u);
  std::string expected;
  resp::append_command(expected, {"SET", "a", "1"});
  resp::append_command(expected, {"PING"});
  resp::append_command(expected, {"MSET", "b", "2", "cc", "3"});
  EXPECT_EQ(transaction.wire(), expected);
  ASSERT_EQ(transaction.key_count(), 3u);
  EXPECT_EQ(transaction.key(0), "a");
  EXPECT_EQ(transaction.key(1), "b");
  EXPECT_EQ(transaction.key(2), "cc");
}

TEST(Transaction, CountsWhatItHolds) {
  Transaction transaction;
  EXPECT_EQ(transaction.bytes(), 0u);
  queue(transaction, {"SET", "a", std::string(1000, 'x')}, {1});
  EXPECT_GE(transaction.bytes(), 1000u + sizeof(resp::Slice));
}

TEST(Transaction, RemembersThatACommandWasRefused) {
  Transaction transaction;
  EXPECT_FALSE(transaction.refused());
  transaction.mark_refused();
  EXPECT_TRUE(transaction.refused());
}

}  // namespace
}  // namespace slipring::router
