// Every effect of the replication stream is a named change, a flush, unclear or unusable; nothing is passed over.
#include "slipring/store/redis/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/protocol/resp/write.h"

namespace slipring::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Recorder : public FeedSink {
 public:
  void on_change(FeedKind kind, std::string_view key) override {
    static constexpr const char* kNames[] = {"write ", "restore ", "remove "};
    seen.push_back(kNames[static_cast<int>(kind)] + std::string(key));
  }
  void on_flush() override { seen.push_back("flush"); }
  void on_unclear(std::string_view) override { seen.push_back("unclear"); }
  void on_unusable(std::string_view) override { seen.push_back("unusable"); }
  std::vector<std::string> seen;
};

std::vector<std::string> changes(std::initializer_list<std::string_view> command, uint32_t database = 0) {
  std::string wire = "*" + std::to_string(command.size()) + "\r\n";
  for (std::string_view arg : command) wire += "$" + std::to_string(arg.size()) + "\r\n" + std::string(arg) + "\r\n";
  resp::RequestParser parser;
  EXPECT_EQ(parser.parse(wire), resp::ParseStatus::kDone);
  std::vector<resp::KeyRef> scratch;
  Recorder recorder;
  classify_change(parser.args(wire), database, scratch, recorder);
  return recorder.seen;
}

TEST(Change, WritesNameTheirKeys) {
  EXPECT_THAT(changes({"SET", "k", "v"}), ElementsAre("write k"));
  EXPECT_THAT(changes({"set", "k", "v", "PXAT", "1"}), ElementsAre("write k"));
  EXPECT_THAT(changes({"MSET", "a", "1", "b", "2"}), ElementsAre("write a", "write b"));
  EXPECT_THAT(changes({"RENAME", "a", "b"}), ElementsAre("write a", "write b"));
  EXPECT_THAT(changes({"SUNIONSTORE", "d", "a", "b"}), ElementsAre("write d"));
  EXPECT_THAT(changes({"ZUNIONSTORE", "d", "2", "a", "b"}), ElementsAre("write d"));
  EXPECT_THAT(changes({"XCLAIM", "s", "g", "c", "0", "1-1", "JUSTID"}), ElementsAre("write s"));
  EXPECT_THAT(changes({"XGROUP", "CREATE", "s", "g", "0"}), ElementsAre("write s"));
  EXPECT_THAT(changes({"PEXPIREAT", "k", "1"}), ElementsAre("write k"));
  EXPECT_THAT(changes({"COPY", "a", "b"}), ElementsAre("write b"));
  EXPECT_THAT(changes({"LMOVE", "a", "b", "LEFT", "RIGHT"}), ElementsAre("write a", "write b"));
}

TEST(Change, RemovalsAndRestoresAreToldApart) {
  EXPECT_THAT(changes({"DEL", "a", "b"}), ElementsAre("remove a", "remove b"));
  EXPECT_THAT(changes({"UNLINK", "a"}), ElementsAre("remove a"));
  EXPECT_THAT(changes({"RESTORE", "a", "0", "x", "ABSTTL"}), ElementsAre("restore a"));
}

TEST(Change, TransportAndCodeChangeNothing) {
  for (const auto& seen : {changes({"PING"}), changes({"REPLCONF", "GETACK", "*"}), changes({"MULTI"}),
                           changes({"EXEC"}), changes({"PUBLISH", "c", "m"}), changes({"SPUBLISH", "c", "m"}),
                           changes({"FUNCTION", "LOAD", "x"}), changes({"SCRIPT", "LOAD", "x"})}) {
    EXPECT_THAT(seen, IsEmpty());
  }
}

TEST(Change, FlushesAreFlushesInTheDatabaseThatCounts) {
  EXPECT_THAT(changes({"FLUSHALL"}), ElementsAre("flush"));
  EXPECT_THAT(changes({"FLUSHALL", "ASYNC"}, 5), ElementsAre("flush"));
  EXPECT_THAT(changes({"FLUSHDB"}), ElementsAre("flush"));
  EXPECT_THAT(changes({"FLUSHDB"}, 5), ElementsAre("unusable"));
}

TEST(Change, WhatAMoveCannotFollowIsUnusable) {
  EXPECT_THAT(changes({"SWAPDB", "0", "1"}), ElementsAre("unusable"));
  EXPECT_THAT(changes({"SET", "k", "v"}, 1), ElementsAre("unusable"));
}

TEST(Change, WhatIsNotKnownIsUnclear) {
  EXPECT_THAT(changes({"JSON.FROB", "k"}), ElementsAre("unclear"));
  EXPECT_THAT(changes({"SET", "k"}), ElementsAre("unclear"));
  EXPECT_THAT(changes({"EVAL", "return 1", "0"}), ElementsAre("unclear"));
}

}  // namespace
}  // namespace slipring::redis
