// Every command of the table has one handling; what would block or leave the shared connection is not passed on.
#include "slipring/router/handling.h"

#include <gtest/gtest.h>

#include <string>

#include "slipring/protocol/resp/write.h"

namespace slipring::router {
namespace {

using resp::CommandId;

Handling of(CommandId id) {
  return handling_of(resp::command(id));
}

// A parsed command that owns its bytes.
struct Parsed {
  explicit Parsed(std::vector<std::string> args) {
    resp::append_command(bytes, std::span<const std::string>(args));
    EXPECT_EQ(parser.parse(bytes), resp::ParseStatus::kDone);
  }
  resp::Args args() const { return parser.args(bytes); }
  std::string bytes;
  resp::RequestParser parser;
};

bool out_of_reach(std::vector<std::string> words, bool inside_transaction = false) {
  const Parsed parsed(std::move(words));
  const resp::CommandInfo* info = nullptr;
  EXPECT_EQ(resp::resolve_command(parsed.args(), info), resp::CommandCheck::kOk);
  std::string_view why;
  return is_out_of_reach(*info, parsed.args(), inside_transaction, why);
}

TEST(Handling, PassesOnEveryCommandWithOneKeyUnlessItLeavesTheDatabase) {
  int passed = 0;
  for (const resp::CommandInfo& info : resp::command_table()) {
    if (!info.is_single_key()) continue;
    const Handling handling = handling_of(info);
    if (info.id == CommandId::kMove || info.id == CommandId::kRestoreAsking) {
      EXPECT_EQ(handling, Handling::kLater) << info.name;
      continue;
    }
    if (info.has(resp::kCommandBlocking) || info.has(resp::kCommandAdmin)) continue;
    EXPECT_EQ(handling, Handling::kForward) << info.name;
    ++passed;
  }
  EXPECT_GT(passed, 100);
}

TEST(Handling, SplitsTheSixCommandsThatCanBe) {
  EXPECT_EQ(of(CommandId::kMget), Handling::kSplitValues);
  EXPECT_EQ(of(CommandId::kMset), Handling::kSplitPairs);
  for (const CommandId id : {CommandId::kDel, CommandId::kUnlink, CommandId::kExists, CommandId::kTouch}) {
    EXPECT_EQ(of(id), Handling::kSplitSum);
  }
  EXPECT_EQ(of(CommandId::kMsetnx), Handling::kForward);
}

TEST(Handling, RefusesWhatBlocksOrSubscribesOrAdministers) {
  for (const CommandId id :
       {CommandId::kBlpop,          CommandId::kBlmove,    CommandId::kBzpopmin, CommandId::kSubscribe,
        CommandId::kPublish,        CommandId::kSpublish,  CommandId::kScan,     CommandId::kKeys,
        CommandId::kFlushall,       CommandId::kFlushdb,   CommandId::kWatch,    CommandId::kMigrate,
        CommandId::kSwapdb,         CommandId::kDebug,     CommandId::kShutdown, CommandId::kReplicaof,
        CommandId::kConfigSet,      CommandId::kMonitor,   CommandId::kWait,     CommandId::kClientReply,
        CommandId::kClientTracking, CommandId::kClientKill}) {
    EXPECT_EQ(of(id), Handling::kLater) << resp::command(id).name;
  }
}

TEST(Handling, NoCommandThatIsPassedOnMayBlockOrNeedItsOwnConnection) {
  for (const resp::CommandInfo& info : resp::command_table()) {
    const Handling handling = handling_of(info);
    if (handling != Handling::kForward && handling != Handling::kAnyNode) continue;
    EXPECT_FALSE(info.has(resp::kCommandPubsub)) << info.name;
    EXPECT_FALSE(info.has(resp::kCommandAdmin)) << info.name;
    if (info.id == CommandId::kXread || info.id == CommandId::kXreadgroup) continue;
    EXPECT_FALSE(info.has(resp::kCommandBlocking)) << info.name;
  }
}

TEST(OutOfReach, StreamsAreReadWithoutBlockOnly) {
  EXPECT_FALSE(out_of_reach({"XREAD", "COUNT", "5", "STREAMS", "s", "0"}));
  EXPECT_TRUE(out_of_reach({"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}));
  EXPECT_TRUE(out_of_reach({"xread", "count", "5", "bLoCk", "10", "streams", "s", "$"}));
  EXPECT_FALSE(out_of_reach({"XREAD", "STREAMS", "block", "0"}));
  EXPECT_FALSE(out_of_reach({"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}, true));
}

TEST(OutOfReach, AGroupMayBeNamedLikeAnOption) {
  EXPECT_FALSE(out_of_reach({"XREADGROUP", "GROUP", "block", "block", "STREAMS", "s", ">"}));
  EXPECT_FALSE(out_of_reach({"XREADGROUP", "GROUP", "streams", "streams", "COUNT", "1", "STREAMS", "s", ">"}));
  EXPECT_TRUE(out_of_reach({"XREADGROUP", "GROUP", "streams", "c", "BLOCK", "1", "STREAMS", "s", ">"}));
}

TEST(OutOfReach, SortMayNotLookAtOtherKeys) {
  EXPECT_FALSE(out_of_reach({"SORT", "l", "ALPHA", "LIMIT", "0", "5", "DESC"}));
  EXPECT_FALSE(out_of_reach({"SORT", "l", "BY", "nosort", "GET", "#"}));
  EXPECT_TRUE(out_of_reach({"SORT", "l", "BY", "w_*"}));
  EXPECT_TRUE(out_of_reach({"SORT_RO", "l", "GET", "name"}));
}

TEST(OutOfReach, CopiesStayInDatabaseZero) {
  EXPECT_FALSE(out_of_reach({"COPY", "a", "b"}));
  EXPECT_FALSE(out_of_reach({"COPY", "a", "b", "DB", "0", "REPLACE"}));
  EXPECT_TRUE(out_of_reach({"COPY", "a", "b", "REPLACE", "db", "1"}));
}

}  // namespace
}  // namespace slipring::router
