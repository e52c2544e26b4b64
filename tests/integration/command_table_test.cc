// The command table against a live redis-server: the committed table is what the server says today, and the keys that
// we extract are the keys that COMMAND GETKEYSANDFLAGS extracts, over generated arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "slipring/protocol/resp/command.h"
#include "slipring/protocol/resp/write.h"
#include "slipring/store/redis/client.h"
#include "tests/support/redis_server.h"

namespace slipring::resp {
namespace {

using slipring::testing::RedisServer;
using Words = std::vector<std::string>;
// (argument, flags as COMMAND names them), sorted.
using Found = std::vector<std::pair<std::string, std::vector<std::string>>>;

constexpr int kRoundsPerCommand = 60;

const std::pair<uint16_t, const char*> kFlagNames[] = {
    {kKeyRo, "RO"},         {kKeyRw, "RW"},         {kKeyOw, "OW"},         {kKeyRm, "RM"},
    {kKeyAccess, "access"}, {kKeyUpdate, "update"}, {kKeyInsert, "insert"}, {kKeyDelete, "delete"}};

// Arguments that look like the words key extraction turns on, of every length around the arity.
Words random_command(const CommandInfo& info, std::mt19937_64& random) {
  static const char* const kPool[] = {"0",    "1",    "2",   "3",     "-1",    "07",       "x",       "k1",
                                      "k2",   "KEYS", "Get", "by",    "limit", "STORE",    "streams", "StoreDist",
                                      "auth", "",     "set", "count", "auth2", "overflow", "incrby",  "weights"};
  const size_t bar = info.name.find('|');
  Words words = {std::string(info.name.substr(0, bar))};
  if (bar != std::string_view::npos) words.emplace_back(info.name.substr(bar + 1));
  size_t size = static_cast<size_t>(std::abs(info.arity));
  if (info.arity < 0) size += random() % 9;
  while (words.size() < size) {
    words.emplace_back(kPool[random() % std::size(kPool)]);
    // Every place gets its own name now and then, so that a wrong place shows.
    if (random() % 3 == 0) words.back() = "arg" + std::to_string(words.size());
  }
  return words;
}

Found ours(const CommandInfo& info, const Words& words) {
  std::string wire;
  append_command(wire, words);
  RequestParser parser;
  EXPECT_EQ(parser.parse(wire), ParseStatus::kDone);
  std::vector<KeyRef> keys;
  extract_keys(info, parser.args(wire), keys);
  Found found;
  for (const KeyRef& key : keys) {
    std::vector<std::string> flags;
    for (const auto& [bit, name] : kFlagNames) {
      if (key.flags & bit) flags.emplace_back(name);
    }
    std::sort(flags.begin(), flags.end());
    found.emplace_back(words[key.index], flags);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Found theirs(redis::Client& client, const Words& words) {
  std::vector<std::string_view> request = {"COMMAND", "GETKEYSANDFLAGS"};
  request.insert(request.end(), words.begin(), words.end());
  const auto reply = client.command(request);
  EXPECT_TRUE(reply) << reply.error().message;
  Found found;
  for (const redis::Reply& item : reply->items) {
    std::vector<std::string> flags;
    for (const redis::Reply& flag : item.items.at(1).items) flags.push_back(flag.text);
    std::sort(flags.begin(), flags.end());
    found.emplace_back(item.items.at(0).text, flags);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Where we differ from what COMMAND says on purpose: XREADGROUP changes the group; of several STORE and STOREDIST the
// command takes the last (seen on the server), COMMAND says the first of each; MIGRATE with KEYS and nothing behind it
// is an error, COMMAND still names the key in front.
bool compared(const CommandInfo& info, const Words& words) {
  if (info.id == CommandId::kXreadgroup) return false;
  if (info.id == CommandId::kMigrate && equals_lower(words.back(), "keys")) return false;
  const auto stores = std::count_if(words.begin(), words.end(), [](const std::string& w) {
    return equals_lower(w, "store") || equals_lower(w, "storedist");
  });
  return info.rule != KeyRule::kGeoradius || stores <= 1;
}

// Keys without flags come from the server's older way, taken where its key specs fail: for GEORADIUS without STORE the
// places are right; for a count that is no number ("07") they are a guess at a command that the server then refuses.
void expect_same(const CommandInfo& info, const Found& mine, const Found& server, const std::string& line) {
  const bool older_way = !server.empty() && server[0].second.empty();
  if (!older_way) {
    ASSERT_EQ(mine, server) << line;
  } else if (info.rule != KeyRule::kGeoradius) {
    ASSERT_EQ(mine, Found{}) << line;
  } else {
    ASSERT_EQ(mine.size(), server.size()) << line;
    for (size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(mine[i].first, server[i].first) << line;
  }
}

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += "'" + word + "' ";
  return out;
}

class LiveTable : public ::testing::Test {
 protected:
  LiveTable() : server_({.acl = false, .appendfsync = "no", .config = {}}) { server_.start(); }
  RedisServer server_;
};

TEST_F(LiveTable, TheCommittedTableIsWhatTheServerSays) {
  const std::string tool =
      std::string("python3 ") + SLIPRING_SOURCE_DIR + "/tools/gen-command-table " + server_.address() + " --check";
  EXPECT_EQ(std::system(tool.c_str()), 0) << tool;
}

TEST_F(LiveTable, KeysAndTheirFlagsAreThoseOfTheServer) {
  auto client = redis::Client::connect({server_.address(), "", "", ""});
  ASSERT_TRUE(client) << client.error().message;
  std::mt19937_64 random(7);
  size_t commands = 0, with_keys = 0;
  for (const CommandInfo& info : command_table()) {
    if (info.since != "7.0" || info.is_container()) continue;
    ++commands;
    for (int round = 0; round < kRoundsPerCommand; ++round) {
      const Words words = random_command(info, random);
      if (!compared(info, words)) continue;
      const Found mine = ours(info, words);
      with_keys += mine.empty() ? 0 : 1;
      expect_same(info, mine, theirs(*client, words), joined(words));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(commands, 350u);
  EXPECT_GT(with_keys, 5000u);
}

}  // namespace
}  // namespace slipring::resp
