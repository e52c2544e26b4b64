// What the router answers itself, it answers as a Redis without users, databases or cluster would.
#include "slipring/router/local_commands.h"

#include <gtest/gtest.h>

#include "slipring/protocol/resp/reply.h"
#include "slipring/protocol/resp/write.h"
#include "slipring/router/handling.h"

namespace slipring::router {
namespace {

struct Local : ::testing::Test {
  Local() {
    session.id = 7;
    session.authenticated = true;
    facts.run_id = "0123456789012345678901234567890123456789";
    facts.router_id = "r1";
    facts.listen = "127.0.0.1:6400";
    facts.epoch = 5;
    facts.unix_us = 1'700'000'000'123'456;
  }

  std::string ask(std::vector<std::string> words) {
    std::string bytes;
    resp::append_command(bytes, std::span<const std::string>(words));
    resp::RequestParser parser;
    EXPECT_EQ(parser.parse(bytes), resp::ParseStatus::kDone);
    const resp::Args args = parser.args(bytes);
    const resp::CommandInfo* info = nullptr;
    EXPECT_EQ(resp::resolve_command(args, info), resp::CommandCheck::kOk) << words[0];
    EXPECT_EQ(handling_of(*info), Handling::kAnswered) << info->name;
    std::string out;
    effect = answer_locally(*info, args, facts, session, out);
    resp::ReplyScanner scanner;
    EXPECT_EQ(scanner.scan(out), resp::ParseStatus::kDone) << out;
    EXPECT_EQ(scanner.used(), out.size()) << "exactly one reply";
    return out;
  }

  LocalFacts facts;
  Session session;
  LocalEffect effect = LocalEffect::kNone;
};

TEST_F(Local, PingAndEcho) {
  EXPECT_EQ(ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(ask({"PING", "x"}), "$1\r\nx\r\n");
  EXPECT_EQ(ask({"PING", "x", "y"}), "-ERR wrong number of arguments for 'ping' command\r\n");
  EXPECT_EQ(ask({"ECHO", "x"}), "$1\r\nx\r\n");
}

TEST_F(Local, SelectKnowsDatabaseZeroOnly) {
  EXPECT_EQ(ask({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(ask({"SELECT", "1"}), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(ask({"SELECT", "x"}), "-ERR value is not an integer or out of range\r\n");
}

TEST_F(Local, WithoutAPasswordAuthIsAnErrorAsInRedis) {
  EXPECT_TRUE(ask({"AUTH", "x"}).starts_with("-ERR AUTH <password> called without any password"));
  EXPECT_EQ(ask({"AUTH", "default", "x"}), "+OK\r\n");
  EXPECT_TRUE(ask({"AUTH", "other", "x"}).starts_with("-WRONGPASS"));
}

TEST_F(Local, WithAPasswordOnlyTheRightOneOpens) {
  facts.client_password = "s3cret";
  session.authenticated = false;
  for (const char* wrong : {"", "s", "s3cre", "s3cret ", "s3cretx", "S3CRET"}) {
    EXPECT_TRUE(ask({"AUTH", wrong}).starts_with("-WRONGPASS")) << wrong;
    EXPECT_FALSE(session.authenticated);
  }
  EXPECT_TRUE(ask({"HELLO", "3"}).starts_with("-NOAUTH"));
  EXPECT_TRUE(ask({"HELLO", "3", "AUTH", "default", "no"}).starts_with("-WRONGPASS"));
  EXPECT_EQ(session.version, resp::Version::kResp2);
  EXPECT_TRUE(ask({"HELLO", "3", "AUTH", "default", "s3cret", "SETNAME", "me"}).starts_with("%7\r\n"));
  EXPECT_TRUE(session.authenticated);
  EXPECT_EQ(session.names->name, "me");
}

TEST_F(Local, HelloChangesTheVersionAndSaysWhoAnswers) {
  EXPECT_TRUE(ask({"HELLO"}).starts_with("*14\r\n"));
  EXPECT_TRUE(ask({"HELLO", "3"}).starts_with("%7\r\n"));
  EXPECT_EQ(session.version, resp::Version::kResp3);
  EXPECT_TRUE(ask({"HELLO", "2"}).starts_with("*14\r\n"));
  EXPECT_EQ(ask({"HELLO", "4"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(ask({"HELLO", "x"}), "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(ask({"HELLO", "3", "FOO"}), "-ERR Syntax error in HELLO option 'FOO'\r\n");
  EXPECT_EQ(ask({"HELLO", "3", "SETNAME"}), "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
  EXPECT_TRUE(ask({"HELLO", "3", "SETNAME", "a b"}).starts_with("-ERR Client names cannot contain"));
  EXPECT_EQ(session.version, resp::Version::kResp2);
}

TEST_F(Local, ClientNamesAreKeptAndChecked) {
  EXPECT_EQ(ask({"CLIENT", "GETNAME"}), "$-1\r\n");
  EXPECT_EQ(ask({"CLIENT", "SETNAME", "worker-1"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "GETNAME"}), "$8\r\nworker-1\r\n");
  EXPECT_TRUE(ask({"CLIENT", "SETNAME", "a\nb"}).starts_with("-ERR Client names"));
  EXPECT_EQ(ask({"CLIENT", "ID"}), ":7\r\n");
  EXPECT_EQ(ask({"client", "setinfo", "LIB-NAME", "redis-py"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "lib-ver", "5.0"}), "+OK\r\n");
  EXPECT_TRUE(ask({"CLIENT", "SETINFO", "lib-foo", "5.0"}).starts_with("-ERR Unrecognized option"));
  EXPECT_NE(ask({"CLIENT", "INFO"}).find("id=7 laddr=127.0.0.1:6400 name=worker-1"), std::string::npos);
  EXPECT_EQ(ask({"CLIENT", "NO-EVICT", "on"}), "+OK\r\n");
}

TEST_F(Local, InfoShowsTheSectionsThatWereAskedFor) {
  const std::string all = ask({"INFO"});
  for (const char* part : {"# Server\r\n", "redis_version:7", "# Clients", "# Stats", "role:master",
                           "slipring_epoch:5\r\n", "redis_mode:standalone"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part;
  }
  const std::string server = ask({"INFO", "SERVER"});
  EXPECT_NE(server.find("# Server"), std::string::npos);
  EXPECT_EQ(server.find("# Stats"), std::string::npos);
  EXPECT_EQ(ask({"INFO", "nothing"}), "$0\r\n\r\n");
  session.version = resp::Version::kResp3;
  EXPECT_TRUE(ask({"INFO"}).starts_with("="));
}

TEST_F(Local, TimeIsSecondsAndMicroseconds) {
  EXPECT_EQ(ask({"TIME"}), "*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n");
}

TEST_F(Local, ResetAndQuit) {
  session.version = resp::Version::kResp3;
  session.named().name = "x";
  facts.client_password = "p";
  EXPECT_EQ(ask({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(session.version, resp::Version::kResp2);
  EXPECT_FALSE(session.authenticated);
  EXPECT_EQ(session.names, nullptr);
  EXPECT_EQ(effect, LocalEffect::kNone);
  EXPECT_EQ(ask({"QUIT"}), "+OK\r\n");
  EXPECT_EQ(effect, LocalEffect::kClose);
}

TEST_F(Local, CommandTellsWhatIsServed) {
  EXPECT_EQ(ask({"COMMAND", "INFO", "get", "nope"}).substr(0, 35), "*2\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly");
  EXPECT_NE(ask({"COMMAND", "DOCS", "get"}).find("group\r\n$6\r\nstring"), std::string::npos);
  EXPECT_EQ(ask({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_EQ(ask({"COMMAND", "GETKEYS", "NOPE", "x"}), "-ERR Invalid command specified\r\n");
  EXPECT_EQ(ask({"COMMAND", "GETKEYS", "PING", "x"}), "-ERR The command has no key arguments\r\n");
  EXPECT_EQ(ask({"COMMAND", "GETKEYS", "GET", "a", "b"}), "-ERR Invalid number of arguments specified for command\r\n");
  const std::string count = ask({"COMMAND", "COUNT"});
  const std::string all = ask({"COMMAND"});
  EXPECT_TRUE(all.starts_with("*" + count.substr(1)));
  EXPECT_EQ(ask({"COMMAND", "LIST"}).find("\r\nscan\r\n"), std::string::npos) << "SCAN is not served yet";
  EXPECT_NE(ask({"COMMAND", "LIST"}).find("\r\nget\r\n"), std::string::npos);
}

TEST_F(Local, ConfigGetAnswersWhatClientsAskForAndNothingElse) {
  EXPECT_EQ(ask({"CONFIG", "GET", "save"}), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(ask({"CONFIG", "GET", "SAVE", "s*"}), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(ask({"CONFIG", "GET", "requirepass"}), "*0\r\n");
  EXPECT_TRUE(ask({"CONFIG", "GET", "*"}).starts_with("*12\r\n$10\r\nappendonly\r\n$2\r\nno\r\n"));
  session.version = resp::Version::kResp3;
  EXPECT_EQ(ask({"CONFIG", "GET", "database?"}), "%1\r\n$9\r\ndatabases\r\n$1\r\n1\r\n");
}

TEST(Glob, StarsAndQuestionMarksStandForOthers) {
  for (const char* pattern : {"*", "a*", "*c", "a?c", "*b*", "abc", "ABC", "**a**c**", "???"}) {
    EXPECT_TRUE(matches_glob("abc", pattern)) << pattern;
  }
  for (const char* pattern : {"", "ab", "abcd", "?", "b*", "*a", "a*b", "????"}) {
    EXPECT_FALSE(matches_glob("abc", pattern)) << pattern;
  }
  EXPECT_TRUE(matches_glob("", "*"));
  EXPECT_FALSE(matches_glob(std::string(60, 'a'), "*a*a*a*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace slipring::router
