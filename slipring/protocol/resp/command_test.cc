// The command table answers for every name in any case, and keys are found where the server finds them
// (tests/integration/command_table_test.cc compares with a live one).
#include "slipring/protocol/resp/command.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

// A command line with its parsed arguments.
class Line {
 public:
  explicit Line(std::string_view text) {
    std::vector<std::string> words;
    EXPECT_TRUE(split_inline(text, words));
    append_command(wire_, words);
    EXPECT_EQ(parser_.parse(wire_), ParseStatus::kDone);
  }
  Args args() const { return parser_.args(wire_); }

 private:
  std::string wire_;
  RequestParser parser_;
};

std::string access_of(uint16_t flags) {
  return flags & kKeyRo ? "RO" : flags & kKeyRw ? "RW" : flags & kKeyOw ? "OW" : flags & kKeyRm ? "RM" : "-";
}

// "OW d, RO a", or "invalid".
std::string keys_of(std::string_view text) {
  const Line line(text);
  const CommandInfo* info = nullptr;
  if (resolve_command(line.args(), info) != CommandCheck::kOk) return "refused";
  std::vector<KeyRef> keys;
  if (!extract_keys(*info, line.args(), keys)) return "invalid";
  std::string out;
  for (const KeyRef& key : keys) {
    out += (out.empty() ? "" : ", ") + access_of(key.flags) + " " + std::string(line.args()[key.index]);
  }
  return out;
}

std::string error_of(std::string_view text) {
  const Line line(text);
  const CommandInfo* info = nullptr;
  const CommandCheck check = resolve_command(line.args(), info);
  std::string out;
  append_check_error(out, check, info, line.args());
  return out;
}

TEST(CommandTable, EveryNameIsFoundInAnyCase) {
  size_t containers = 0;
  for (const CommandInfo& info : command_table()) {
    EXPECT_EQ(&command(info.id), &info);
    const size_t bar = info.name.find('|');
    std::string name(info.name.substr(0, bar));
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    const CommandInfo* found = find_command(name);
    ASSERT_NE(found, nullptr) << name;
    if (bar == std::string_view::npos) {
      EXPECT_EQ(found, &info);
    } else {
      EXPECT_EQ(find_subcommand(*found, info.name.substr(bar + 1)), &info);
    }
    containers += info.is_container() ? 1 : 0;
  }
  EXPECT_GE(containers, 15u);
  EXPECT_GE(command_table().size(), 500u);
}

TEST(CommandTable, UnknownNamesAreNotFound) {
  for (const char* name : {"", "ge", "gett", "g\x05t", "xgroup|create", "\xff", "get ", "json", "json.gett"}) {
    EXPECT_EQ(find_command(name), nullptr) << name;
  }
  EXPECT_EQ(find_subcommand(*find_command("xgroup"), ""), nullptr);
  EXPECT_EQ(find_subcommand(*find_command("get"), "create"), nullptr);
}

TEST(CommandTable, RandomNamesAreFoundOnlyIfListed) {
  EXPECT_TRUE(rc::check([](const std::string& name) {
    const CommandInfo* info = find_command(name);
    RC_ASSERT((info == nullptr || equals_lower(name, info->name)));
  }));
}

TEST(CommandTable, KnowsArityAndFlags) {
  const CommandInfo& get = *find_command("get");
  EXPECT_EQ(get.arity, 2);
  EXPECT_TRUE(get.has(kCommandReadonly));
  EXPECT_TRUE(get.is_single_key());
  EXPECT_TRUE(find_command("set")->is_single_key());
  EXPECT_FALSE(find_command("mget")->is_single_key());
  EXPECT_FALSE(find_command("sort")->is_single_key());
  EXPECT_FALSE(find_command("spublish")->is_single_key());
  EXPECT_FALSE(find_command("georadius")->is_single_key());
  EXPECT_TRUE(find_command("blpop")->has(kCommandBlocking));
  EXPECT_TRUE(command(CommandId::kXgroupCreate).has(kCommandWrite));
  EXPECT_EQ(find_command("hgetex")->since, "8.0");
  EXPECT_EQ(find_command("lpush")->group, "list");
}

TEST(CommandTable, RefusesWithTheTextsOfRedis) {
  EXPECT_EQ(error_of("foo a b"), "-ERR unknown command 'foo', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(error_of("foo"), "-ERR unknown command 'foo', with args beginning with: \r\n");
  EXPECT_EQ(error_of("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(error_of("set k"), "-ERR wrong number of arguments for 'set' command\r\n");
  EXPECT_EQ(error_of("xgroup create k"), "-ERR wrong number of arguments for 'xgroup|create' command\r\n");
  EXPECT_EQ(error_of("config"), "-ERR wrong number of arguments for 'config' command\r\n");
  EXPECT_EQ(error_of("object nosuch k"), "-ERR unknown subcommand 'nosuch'. Try OBJECT HELP.\r\n");
  EXPECT_EQ(error_of("get k"), "");
}

TEST(CommandTable, AHostileNameCannotForgeAReply) {
  EXPECT_EQ(error_of("\"a\\r\\n+OK\""), "-ERR unknown command 'a  +OK', with args beginning with: \r\n");
  const std::string long_name(100'000, 'x');
  EXPECT_LT(error_of(long_name.substr(0, 60'000) + " " + long_name.substr(0, 1000)).size(), 400u);
}

TEST(CommandKeys, OrdinaryCommands) {
  EXPECT_EQ(keys_of("get k"), "RO k");
  EXPECT_EQ(keys_of("set k v"), "OW k");
  EXPECT_EQ(keys_of("set k v get"), "RW k");
  EXPECT_EQ(keys_of("set k v ifeq old"), "RW k");
  EXPECT_EQ(keys_of("mset a 1 b 2"), "OW a, OW b");
  EXPECT_EQ(keys_of("mget a b c"), "RO a, RO b, RO c");
  EXPECT_EQ(keys_of("del a a"), "RM a, RM a");
  EXPECT_EQ(keys_of("rename a b"), "RW a, OW b");
  EXPECT_EQ(keys_of("blpop a b 0"), "RW a, RW b");
  EXPECT_EQ(keys_of("bitop and d a b"), "OW d, RO a, RO b");
  EXPECT_EQ(keys_of("object encoding k"), "RO k");
  EXPECT_EQ(keys_of("xgroup create k g 0"), "RW k");
  EXPECT_EQ(keys_of("ping"), "");
  EXPECT_EQ(keys_of("bitfield k get u8 0"), "RO k");
  EXPECT_EQ(keys_of("bitfield k overflow sat get u8 0"), "RO k");
  EXPECT_EQ(keys_of("bitfield k get u8 0 set u8 0 1"), "RW k");
}

TEST(CommandKeys, MovableKeys) {
  EXPECT_EQ(keys_of("sort k by w_* limit 0 store get x get y store d"), "RO k, OW d");
  EXPECT_EQ(keys_of("sort k store a store b"), "RO k, OW b");
  EXPECT_EQ(keys_of("sort k"), "RO k");
  EXPECT_EQ(keys_of("georadius k 1 2 3 m STORE d"), "RO k, OW d");
  EXPECT_EQ(keys_of("georadius k 1 2 3 m store a storedist b"), "RO k, OW b");
  EXPECT_EQ(keys_of("georadiusbymember k m 3 m count 3 storedist d"), "RO k, OW d");
  EXPECT_EQ(keys_of("xread count 2 streams a b 0 0"), "RO a, RO b");
  EXPECT_EQ(keys_of("xread count 2 block 3"), "invalid");
  EXPECT_EQ(keys_of("xreadgroup group g streams streams a b > >"), "RW a, RW b");
  EXPECT_EQ(keys_of("eval s 2 a b c"), "RW a, RW b");
  EXPECT_EQ(keys_of("eval s 0 c"), "");
  EXPECT_EQ(keys_of("eval s 3 a b"), "invalid");
  EXPECT_EQ(keys_of("eval s -1 a b"), "invalid");
  EXPECT_EQ(keys_of("eval s x a b"), "invalid");
  EXPECT_EQ(keys_of("eval s 9223372036854775807 a b"), "invalid");
  EXPECT_EQ(keys_of("fcall_ro f 1 a"), "RO a");
  EXPECT_EQ(keys_of("zunionstore d 2 a b weights 1 2"), "OW d, RO a, RO b");
  EXPECT_EQ(keys_of("lmpop 2 a b left"), "RW a, RW b");
  EXPECT_EQ(keys_of("bzmpop 0 1 a min"), "RW a");
  EXPECT_EQ(keys_of("migrate h 1 k 0 10 copy"), "RW k");
  EXPECT_EQ(keys_of("migrate h 1 '' 0 10 auth keys keys a b"), "RW a, RW b");
  EXPECT_EQ(keys_of("migrate h 1 '' 0 10 auth2 keys keys keys a"), "RW a");
}

TEST(CommandKeys, NewerCommands) {
  EXPECT_EQ(keys_of("hexpire k 10 fields 1 f"), "RW k");
  EXPECT_EQ(keys_of("hgetdel k fields 1 f"), "RW k");
  EXPECT_EQ(keys_of("httl k fields 1 f"), "RO k");
  EXPECT_EQ(keys_of("msetex 2 a 1 b 2 ex 10"), "OW a, OW b");
  EXPECT_EQ(keys_of("delifeq k v"), "RW k");
  EXPECT_EQ(keys_of("json.mget a b ."), "RO a, RO b");
  EXPECT_EQ(keys_of("ts.madd a 1 2 b 1 2"), "RW a, RW b");
  EXPECT_EQ(keys_of("cms.merge d 2 a b weights 1 2"), "RW d, RO a, RO b");
}

TEST(CommandKeys, ChannelsAreNoKeys) {
  EXPECT_EQ(keys_of("spublish ch m"), "");
  const Line line("ssubscribe a b");
  std::vector<KeyRef> channels;
  ASSERT_TRUE(extract_channels(*find_command("ssubscribe"), line.args(), channels));
  ASSERT_EQ(channels.size(), 2u);
  EXPECT_EQ(channels[1].index, 2u);
  const Line get("get k");
  ASSERT_TRUE(extract_channels(*find_command("get"), get.args(), channels));
  EXPECT_TRUE(channels.empty());
}

TEST(CommandKeys, WrongArityGivesNoKeys) {
  const Line line("get a b");
  std::vector<KeyRef> keys = {{7, 0}};
  EXPECT_FALSE(extract_keys(*find_command("get"), line.args(), keys));
  EXPECT_TRUE(keys.empty());
}

// Whatever stands in the arguments, a key is one of them, and never the command's name.
TEST(CommandKeys, KeysAreArgumentsWhateverIsSent) {
  EXPECT_TRUE(rc::check([] {
    const CommandInfo& info = command_table()[*rc::gen::inRange<size_t>(0, command_table().size())];
    const auto words = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("0", "1", "2", "-1", "99", "", "KEYS", "store", "streams", "get", "limit", "k"));
    std::vector<std::string> all = {std::string(info.name)};
    all.insert(all.end(), words.begin(), words.end());
    std::string wire;
    append_command(wire, all);
    RequestParser parser;
    RC_ASSERT(parser.parse(wire) == ParseStatus::kDone);
    std::vector<KeyRef> keys;
    if (!extract_keys(info, parser.args(wire), keys)) RC_ASSERT(keys.empty());
    for (const KeyRef& key : keys) RC_ASSERT(key.index >= 1u && key.index < all.size());
  }));
}

}  // namespace
}  // namespace slipring::resp
