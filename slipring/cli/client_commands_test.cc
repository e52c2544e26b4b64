// The operator's commands against a controller in memory, over its real HTTP API.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "slipring/base/secret_file.h"
#include "slipring/cli/run_for_test.h"
#include "slipring/control/fake_service.h"
#include "slipring/control/http_api.h"

namespace slipring::cli {
namespace {

using namespace slipring::control;
using nlohmann::json;

class ClientCommands : public ::testing::Test {
 protected:
  ClientCommands() {
    char name[] = "/tmp/slipring-cli-XXXXXX";
    dir = mkdtemp(name);
    server = std::move(serve_api(service, {"127.0.0.1:0", "", {}}).value());
    NodeStatus n1{"n1", "127.0.0.1:7001", 1, "a", 1500, 0.6, 1200, 4096, NodeState::kUp, ""};
    NodeStatus n2{"n2", "127.0.0.1:7002", 1, "", 1000, 0.4, {}, {}, NodeState::kDown, "refused"};
    service.cluster.epoch = 42;
    service.cluster.cluster_id = "0123456789abcdef";
    service.cluster.pools = {{"main", "store", "ring", "", {n1, n2}, {}}};
    service.cluster.routers = {{"r1", "127.0.0.1:6400", 41, 1, RouterState::kBehind, 10, 3, 1000, 0, 0}};
    service.next_preview.pool = "main";
    service.next_preview.epoch = 42;
    service.next_preview.title = "add node n4";
    service.next_preview.share_moved = 0.251;
    service.next_preview.share_least = 0.25;
    service.next_preview.moves = {{"n1", "n4", 0.251, 50'000, 1 << 20}};
    service.next_started.plan = 7;
    service.detail.summary.id = 7;
    service.detail.summary.title = "add node n4";
    service.detail.summary.state = PlanState::kGrace;
    service.detail.summary.rollback.available = true;
    service.detail.moves = {{0, "n1", "n4", 0, MoveStage::kGrace, true, 100, 100}};
    service.detail.verification = {{"n1", "n4", 0, 100, 100, 5000, 5000, "00000000000000aa", "00000000000000aa", true}};
    service.detail.hold_longest_us = 12'300;
  }
  ~ClientCommands() override { std::filesystem::remove_all(dir); }

  Ran call(std::vector<std::string> arguments, const std::string& input = "", bool terminal = false) {
    arguments.insert(arguments.end(), {"--api", server->address()});
    return run(std::move(arguments), input, terminal);
  }
  // Plan states, one a look; the last one stays.
  void states(std::vector<PlanState> sequence) {
    service.on_plan = [sequence, at = size_t{0}](FakeService& s) mutable {
      s.detail.summary.state = sequence[std::min(at++, sequence.size() - 1)];
    };
  }

  FakeService service;
  std::unique_ptr<HttpServer> server;
  std::string dir;
};

TEST_F(ClientCommands, StatusShowsEpochNodesAndRouters) {
  const Ran ran = call({"status"});
  EXPECT_EQ(ran.exit, 0);
  for (const char* part : {"epoch 42", "n1", "60.00 %", "1,200", "4.0 KB", "down: refused", "r1", "behind", "41"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
}

TEST_F(ClientCommands, StatusAsJsonIsOneDocument) {
  const json body = json::parse(call({"status", "--json"}).out);
  EXPECT_EQ(body["epoch"], 42);
  EXPECT_EQ(body["pools"][0]["nodes"][0]["weight"], 1.5);
  EXPECT_FALSE(body["pools"][0]["nodes"][1].contains("keys")) << "a node that is down holds an unknown number of keys";
}

TEST_F(ClientCommands, StatusOfOnePool) {
  EXPECT_EQ(call({"status", "--pool", "main"}).exit, 0);
  const Ran ran = call({"status", "--pool", "mian"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("there are only main"), std::string::npos);
}

TEST_F(ClientCommands, WithoutAControllerTheExitIsFourAndTheCureIsNamed) {
  const std::string address = server->address();
  server.reset();
  const Ran ran = run({"status", "--api", address, "--json"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_NE(ran.err.find(address), std::string::npos);
  EXPECT_NE(ran.err.find("slipring up"), std::string::npos);
  EXPECT_EQ(json::parse(ran.out)["error"]["exit"], 4);
}

TEST_F(ClientCommands, AnAddressThatIsNoneIsAUsageError) {
  EXPECT_EQ(run({"status", "--api", "nowhere"}).exit, 2);
  EXPECT_EQ(run({"status", "--api", "127.0.0.1:99999"}).exit, 2);
}

TEST_F(ClientCommands, LocateTakesKeysFromTheCommandLineAndFromStandardInput) {
  service.locations = {{"a\n", "n1", "127.0.0.1:7001", {"n1", "n2"}, "00ff", "(00aa, 01bb]", 42, "n1", "n4", "stream"}};
  const Ran ran = call({"locate", "a", "-", "b"}, "x y\n\nlast");
  EXPECT_EQ(service.last_keys(), (std::vector<std::string>{"a", "x y", "", "last", "b"}));
  for (const char* part : {"a\\x0a -> n1", "n1 n2", "00ff in (00aa, 01bb]", "from n1 to n4: stream"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
  EXPECT_EQ(run({"locate", "--api", server->address()}).exit, 2) << "no key";
}

TEST_F(ClientCommands, LocateAsksInParts) {
  std::string input;
  for (int i = 0; i < 2500; ++i) input += "k" + std::to_string(i) + "\n";
  EXPECT_EQ(call({"locate", "-"}, input).exit, 0);
  EXPECT_EQ(service.calls().size(), 3u);
}

TEST_F(ClientCommands, ADryRunPrintsThePlanAndStartsNothing) {
  const Ran ran = call({"node", "add", "n4", "127.0.0.1:7004", "--dry-run"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_NE(ran.out.find("moves 25.10 % of the key space; no placement could move less than 25.00 %"),
            std::string::npos)
      << ran.out;
  EXPECT_EQ(service.calls(), (std::vector<std::string>{"preview add node n4 at 127.0.0.1:7004 (weight 1)"}));
}

TEST_F(ClientCommands, AChangeIsStartedOnTheEpochThatItWasComputedOnAndFollowed) {
  const Ran ran = call({"node", "add", "n4", "127.0.0.1:7004", "--weight", "0.5", "--zone", "b", "--grace", "0",
                        "--keys-per-second", "1000", "--bytes-per-second", "1mb", "--accept-weaker", "--yes"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(service.last_change(),
            (ChangeRequest{"", NodeAdd{"n4", "127.0.0.1:7004", 500, "b"}, {0, 1000, 1 << 20, true}}));
  EXPECT_EQ(service.calls()[1], "start add node n4 at 127.0.0.1:7004 (weight 0.5) if 42");
  for (const char* part : {"held for at most 12.3 ms", "00000000000000aa", "equal", "slipring plan rollback 7",
                           "slipring plan complete 7"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
}

TEST_F(ClientCommands, LimitsThatAreNotGivenAreLeftToTheController) {
  call({"node", "remove", "n1", "--dry-run"});
  EXPECT_EQ(service.last_change(), (ChangeRequest{"", NodeRemove{"n1"}, {}}));
  call({"node", "weight", "n1", "0", "--dry-run", "--pool", "main"});
  EXPECT_EQ(service.last_change(), (ChangeRequest{"main", NodeWeight{"n1", 0}, {}}));
}

TEST_F(ClientCommands, WrongNamesWeightsAddressesAndLimitsAreUsageErrorsBeforeAnythingIsAsked) {
  const std::vector<std::vector<std::string>> wrong = {
      {"node", "add", "n 4", "127.0.0.1:1"},
      {"node", "add", "", "127.0.0.1:1"},
      {"node", "add", std::string(65, 'n'), "127.0.0.1:1"},
      {"node", "add", "n4", "127.0.0.1"},
      {"node", "add", "n4", "127.0.0.1:0"},
      {"node", "add", "n4", "127.0.0.1:1", "--weight", "-1"},
      {"node", "add", "n4", "127.0.0.1:1", "--weight", "1e9"},
      {"node", "add", "n4", "127.0.0.1:1", "--weight", "nan"},
      {"node", "add", "n4", "127.0.0.1:1", "--weight", "1000.001"},
      {"node", "add", "n4", "127.0.0.1:1", "--grace", "ten"},
      {"node", "add", "n4", "127.0.0.1:1", "--keys-per-second", "-1"},
      {"node", "add", "n4", "127.0.0.1:1", "--bytes-per-second", "8xb"},
      {"node", "add", "n4", "--grace", "ten"},
      {"node", "weight", "n1"},
      {"node", "weight", "n1", "much"},
      {"node", "add"}};
  for (auto arguments : wrong) {
    arguments.push_back("--yes");
    EXPECT_EQ(call(arguments).exit, 2) << arguments.back() << arguments[2];
  }
  EXPECT_TRUE(service.calls().empty());
}

TEST_F(ClientCommands, ARefusalByPreflightIsThreeAndSaysWhatToDo) {
  service.next_preview.findings = {{Severity::kRefuse, "role", "node n4", "is a replica", "name its primary"}};
  const Ran ran = call({"node", "add", "n4", "127.0.0.1:7004", "--yes"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.out.find("name its primary"), std::string::npos);
  EXPECT_EQ(service.calls().size(), 1u) << "nothing was started";
  const json body = json::parse(call({"node", "add", "n4", "127.0.0.1:7004", "--yes", "--json"}).out);
  EXPECT_EQ(body["error"]["exit"], 3);
  EXPECT_EQ(body["preview"]["findings"][0]["check"], "role");
}

TEST_F(ClientCommands, ARefusalAtTheStartIsThreeToo) {
  service.next_started = {0, {{Severity::kRefuse, "memory", "node n4", "is full", "give it memory"}}};
  const Ran ran = call({"node", "remove", "n1", "--yes"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.out.find("give it memory"), std::string::npos);
}

TEST_F(ClientCommands, WithoutATerminalAndWithoutYesNothingIsStarted) {
  const Ran ran = call({"node", "remove", "n1"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("--yes"), std::string::npos);
  EXPECT_EQ(service.calls().size(), 1u);
}

TEST_F(ClientCommands, OnATerminalTheAnswerDecides) {
  EXPECT_EQ(call({"node", "remove", "n1"}, "no\n", true).exit, 6);
  EXPECT_EQ(service.calls().size(), 1u);
  EXPECT_EQ(call({"node", "remove", "n1"}, "y\n", true).exit, 0);
  EXPECT_EQ(service.calls()[2], "start remove node n1 if 42");
}

TEST_F(ClientCommands, WithoutAnAddressOneMoreServerIsStartedFirst) {
  EXPECT_EQ(call({"node", "add", "n4", "--yes"}).exit, 0);
  EXPECT_EQ(service.calls()[0], "spawn n4");
  EXPECT_EQ(service.calls()[1], "preview add node n4 at 127.0.0.1:7001 (weight 1)");
  for (const std::string& made : service.calls()) EXPECT_NE(made, "release n4");
}

TEST_F(ClientCommands, AServerOfAChangeThatDoesNotComeAboutIsEnded) {
  EXPECT_EQ(call({"node", "add", "n4", "--dry-run"}).exit, 0);
  EXPECT_EQ(service.calls().back(), "release n4");
  service.next_preview.findings = {{Severity::kRefuse, "role", "node n4", "", ""}};
  EXPECT_EQ(call({"node", "add", "n4", "--yes"}).exit, 3);
  EXPECT_EQ(service.calls().back(), "release n4");
}

TEST_F(ClientCommands, DetachedStartsReturnAtOnce) {
  const Ran ran = call({"node", "remove", "n1", "--yes", "--detach"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_NE(ran.out.find("slipring plan wait 7"), std::string::npos);
  EXPECT_EQ(service.calls().size(), 2u);
  EXPECT_EQ(json::parse(call({"node", "remove", "n1", "--yes", "--detach", "--json"}).out)["plan_id"], 7);
}

TEST_F(ClientCommands, AChangeAsJsonIsOneDocumentWithPreviewAndPlan) {
  states({PlanState::kRunning, PlanState::kGrace});
  const json body = json::parse(call({"node", "remove", "n1", "--yes", "--json"}).out);
  EXPECT_EQ(body["preview"]["share_moved"], 0.251);
  EXPECT_EQ(body["plan"]["summary"]["state"], "grace");
  EXPECT_EQ(body["plan"]["hold_longest_us"], 12'300);
}

TEST_F(ClientCommands, AStaleEpochIsSaidWithTheCure) {
  service.failure = Error{Code::kAborted, "epoch is 43, not 42"};
  const Ran ran = call({"node", "remove", "n1", "--yes"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("start the command again"), std::string::npos);
}

TEST_F(ClientCommands, WaitEndsWhereThePlanRestsAndTheExitSaysHow) {
  const std::pair<PlanState, int> ends[] = {{PlanState::kGrace, 0},      {PlanState::kCompleted, 0},
                                            {PlanState::kRolledBack, 6}, {PlanState::kStopped, 6},
                                            {PlanState::kCancelled, 6},  {PlanState::kNeedsDecision, 6}};
  for (const auto& [end, exit] : ends) {
    states({PlanState::kRunning, end});
    EXPECT_EQ(call({"plan", "wait", "7"}).exit, exit) << static_cast<int>(end);
  }
}

TEST_F(ClientCommands, WaitFinalWaitsOutTheGraceTime) {
  states({PlanState::kGrace, PlanState::kCompleting, PlanState::kCompleted});
  EXPECT_EQ(call({"plan", "wait", "7", "--final"}).exit, 0);
  EXPECT_EQ(service.detail.summary.state, PlanState::kCompleted);
}

TEST_F(ClientCommands, APlanThatStoppedBecauseSidesDifferIsFive) {
  states({PlanState::kStopped});
  service.detail.verification[0].equal = false;
  const Ran ran = call({"plan", "wait", "7"});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_NE(ran.out.find("DIFFERENT"), std::string::npos);
}

TEST_F(ClientCommands, ActionsWaitForTheEndThatTheyAskFor) {
  states({PlanState::kRollingBack, PlanState::kRolledBack});
  EXPECT_EQ(call({"plan", "rollback", "7"}).exit, 0);
  EXPECT_EQ(service.calls()[0], "act 7 rollback");
  states({PlanState::kCompleting, PlanState::kCompleted});
  EXPECT_EQ(call({"plan", "complete", "7"}).exit, 0);
  states({PlanState::kCancelling, PlanState::kCancelled});
  EXPECT_EQ(call({"plan", "cancel", "7"}).exit, 0);
  states({PlanState::kStopped});
  EXPECT_EQ(call({"plan", "rollback", "7"}).exit, 6);
}

TEST_F(ClientCommands, PauseAndResumeReturnAtOnce) {
  EXPECT_EQ(call({"plan", "pause", "7"}).exit, 0);
  EXPECT_EQ(call({"plan", "resume", "7"}).exit, 0);
  EXPECT_EQ(service.calls(), (std::vector<std::string>{"act 7 pause", "act 7 resume"}));
}

TEST_F(ClientCommands, OnlyRollbackKnowsForce) {
  states({PlanState::kRolledBack});
  EXPECT_EQ(call({"plan", "rollback", "7", "--force"}).exit, 0);
  EXPECT_EQ(service.calls()[0], "act 7 rollback force");
  EXPECT_EQ(call({"plan", "complete", "7", "--force"}).exit, 2);
}

TEST_F(ClientCommands, WithoutAnIdTheOpenPlanIsMeant) {
  EXPECT_EQ(call({"plan", "pause"}).exit, 0);
  EXPECT_EQ(service.calls().back(), "act 7 pause");
  service.detail.summary.state = PlanState::kCompleted;
  const Ran ran = call({"plan", "pause"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.err.find("no plan is open"), std::string::npos);
  EXPECT_EQ(call({"plan", "show"}).exit, 0) << "show and wait take the newest then";
  EXPECT_EQ(call({"plan", "wait"}).exit, 0);
}

TEST_F(ClientCommands, DecisionsAreChecked) {
  EXPECT_EQ(call({"plan", "decide", "7", "3", "merge"}).exit, 0);
  EXPECT_EQ(service.calls().back(), "decide 7 3 merge");
  EXPECT_EQ(call({"plan", "decide", "7", "3", "both"}).exit, 2);
  EXPECT_EQ(call({"plan", "decide", "7", "-3", "merge"}).exit, 2);
  EXPECT_EQ(call({"plan", "decide", "7", "merge"}).exit, 2);
}

TEST_F(ClientCommands, ShowNamesTheReasonAndTheKeyOfAMoveThatStopped) {
  service.detail.summary.state = PlanState::kStopped;
  service.detail.moves[0].stage = MoveStage::kStopped;
  service.detail.moves[0].reason = "still different after three rounds";
  service.detail.moves[0].key = "user:\x01";
  const Ran ran = call({"plan", "show", "7"});
  EXPECT_NE(ran.out.find("still different after three rounds (key user:\\x01)"), std::string::npos) << ran.out;
  EXPECT_EQ(json::parse(call({"plan", "show", "7", "--json"}).out)["moves"][0]["stage"], "stopped");
}

TEST_F(ClientCommands, EventsAreReadToTheEnd) {
  for (uint64_t i = 1; i <= 2001; ++i)
    service.events.push_back({i, 1'796'112'000'000, Severity::kNote, "event " + std::to_string(i)});
  const Ran ran = call({"plan", "show", "7", "--events"});
  EXPECT_NE(ran.out.find("event 2001"), std::string::npos);
  EXPECT_EQ(json::parse(call({"plan", "show", "7", "--events", "--json"}).out)["events"].size(), 2001u);
}

TEST_F(ClientCommands, PlanListShowsEveryPlan) {
  EXPECT_NE(call({"plan", "list"}).out.find("add node n4"), std::string::npos);
  EXPECT_EQ(json::parse(call({"plan", "list", "--json"}).out)["plans"][0]["id"], 7);
}

TEST_F(ClientCommands, RoutersAreListedAndForgotten) {
  EXPECT_NE(call({"router", "list"}).out.find("behind"), std::string::npos);
  EXPECT_EQ(json::parse(call({"router", "list", "--json"}).out)["routers"][0]["epoch"], 41);
  EXPECT_EQ(call({"router", "forget", "r1"}).exit, 0);
  EXPECT_EQ(service.calls().back(), "forget r1");
  EXPECT_EQ(call({"router", "forget", "../x"}).exit, 2);
}

TEST_F(ClientCommands, ABackupIsWrittenForItsOwnerOnlyAndComesBack) {
  service.backup = std::string("\x00\xff\n", 3);
  const std::string file = dir + "/backup";
  EXPECT_EQ(call({"topology", "export", file}).exit, 0);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(call({"topology", "export"}).out, service.backup);
  EXPECT_NE(call({"topology", "import", file, "--yes"}).out.find("epoch 43"), std::string::npos);
  EXPECT_EQ(service.last_backup(), service.backup);
  EXPECT_EQ(call({"topology", "import", file}).exit, 2) << "without --yes or a terminal";
  EXPECT_NE(call({"topology", "import", dir + "/none", "--yes"}).exit, 0);
}

TEST_F(ClientCommands, ConfigDiffReadsTheRunningTopology) {
  const std::string file = dir + "/c.toml";
  ASSERT_TRUE(write_secret_file(file,
                                "[[pool]]\nname=\"main\"\n[[pool.node]]\nname=\"n1\"\naddress=\"127.0.0.1:7001\"\n"
                                "zone=\"a\"\nweight=1\n")
                  .has_value());
  const Ran ran = call({"config", "diff", file});
  EXPECT_NE(ran.out.find("pool main node n1: weight: file 1, running 1.5"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("slipring node remove n2 --pool main"), std::string::npos);
  EXPECT_EQ(json::parse(call({"config", "diff", file, "--json"}).out)["differences"].size(), 2u);
}

TEST_F(ClientCommands, ConfigCheckNamesThePlaceOfAMistake) {
  const std::string file = dir + "/c.toml";
  ASSERT_TRUE(write_secret_file(file, "[up]\nnodes = 0\n").has_value());
  const Ran ran = run({"config", "check", file});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find(file + ":2:9: up.nodes"), std::string::npos);
  ASSERT_TRUE(write_secret_file(file, "[up]\nnodes = 2\n").has_value());
  EXPECT_EQ(run({"config", "check", file}).exit, 0);
  EXPECT_EQ(run({"config", "check", dir + "/none"}).exit, 1);
}

TEST_F(ClientCommands, ATokenIsReadFromAFileThatOnlyItsOwnerCanRead) {
  server = std::move(serve_api(service, {"127.0.0.1:0", "0123456789abcdef", {}}).value());
  const std::string file = dir + "/token";
  ASSERT_TRUE(write_secret_file(file, "0123456789abcdef\n").has_value());
  EXPECT_EQ(call({"status", "--api-token-file", file}).exit, 0);
  EXPECT_EQ(call({"status"}).exit, 1);
  EXPECT_NE(call({"status"}).err.find("--api-token-file"), std::string::npos);
  ::chmod(file.c_str(), 0644);
  EXPECT_NE(call({"status", "--api-token-file", file}).err.find("chmod 600"), std::string::npos);
}

TEST_F(ClientCommands, CtrlCDetachesAndSaysHowToComeBack) {
  states({PlanState::kRunning});
  auto before = service.on_plan;
  service.on_plan = [before](FakeService& s) {
    before(s);
    ::raise(SIGINT);
  };
  const Ran ran = call({"plan", "wait", "7"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_NE(ran.err.find("detached; plan 7 goes on"), std::string::npos);
  EXPECT_NE(ran.err.find("slipring plan wait 7"), std::string::npos);
}

TEST_F(ClientCommands, OnATerminalProgressIsDrawnInPlace) {
  states({PlanState::kRunning, PlanState::kGrace});
  const Ran ran = call({"plan", "wait", "7"}, "", true);
  EXPECT_NE(ran.out.find("\x1b["), std::string::npos);
  EXPECT_EQ(call({"plan", "wait", "7"}).out.find("\x1b["), std::string::npos);
}

}  // namespace
}  // namespace slipring::cli
