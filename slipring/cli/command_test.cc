#include "slipring/cli/command.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "slipring/cli/commands.h"
#include "slipring/cli/run_for_test.h"

namespace slipring::cli {
namespace {

// Calls visit for every command that can be run, with its parents' names.
void each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
  const auto children = app.get_subcommands([](const CLI::App*) { return true; });
  if (children.empty()) visit(app);
  for (const CLI::App* child : children) each_command(*child, visit);
}

TEST(Program, WithoutACommandIsAUsageErrorThatSaysWhatNext) {
  const Ran ran = run({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("slipring --help"), std::string::npos);
  EXPECT_TRUE(ran.out.empty());
}

TEST(Program, AnUnknownCommandOrOptionIsAUsageErrorAndNamesIt) {
  EXPECT_EQ(run({"frobnicate"}).exit, 2);
  EXPECT_NE(run({"frobnicate"}).err.find("frobnicate"), std::string::npos);
  const Ran ran = run({"version", "--wat"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("--wat"), std::string::npos);
  EXPECT_NE(ran.err.find("slipring version --help"), std::string::npos);
}

TEST(Program, AWrongCommandLineWithJsonAnswersInJsonToo) {
  const auto body = nlohmann::json::parse(run({"version", "--json", "--wat"}).out);
  EXPECT_EQ(body["error"]["code"], "invalid_argument");
  EXPECT_EQ(body["error"]["exit"], 2);
}

TEST(Program, PrintsItsVersion) {
  EXPECT_EQ(run({"version"}).out.rfind("slipring ", 0), 0u);
  EXPECT_TRUE(nlohmann::json::parse(run({"version", "--json"}).out).contains("version"));
}

TEST(Program, EveryCommandHasHelpWithAnExampleOfItself) {
  std::istringstream in;
  std::ostringstream sink;
  Context context{{in, sink, sink}, "", false, {}};
  CLI::App root;
  add_all_commands(root, context);
  int commands = 0;
  each_command(root, [&](const CLI::App& command) {
    ++commands;
    const std::string help = command.help();
    const size_t example = help.find("Example:\n  slipring ");
    EXPECT_NE(example, std::string::npos) << help;
    EXPECT_NE(help.find(command.get_name(), example), std::string::npos) << help;
    EXPECT_FALSE(command.get_description().empty()) << command.get_name();
  });
  EXPECT_GE(commands, 20);
}

TEST(Program, HelpGoesToStandardOutputAndExitsWithZero) {
  const Ran ran = run({"version", "--help"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_NE(ran.out.find("Example:"), std::string::npos);
}

TEST(Report, GivesTheMessageTheNextStepAndTheExitCode) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Context context{{in, out, err}, "", true, {}};
  EXPECT_EQ(report(context, {Code::kUnavailable, "controller 127.0.0.1:1: refused"}, "slipring up"),
            Exit::kUnreachable);
  EXPECT_EQ(err.str(), "slipring: controller 127.0.0.1:1: refused\n  next: slipring up\n");
  EXPECT_EQ(nlohmann::json::parse(out.str())["error"]["exit"], 4);
}

TEST(Report, BytesThatAreNotUtf8StillMakeJson) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Context context{{in, out, err}, "", true, {}};
  EXPECT_EQ(report(context, {Code::kNotFound, "node \xff"}), Exit::kOther);
  EXPECT_TRUE(nlohmann::json::accept(out.str()));
}

TEST(Report, EveryCodeOfARefusalIsThree) {
  EXPECT_EQ(exit_of(Code::kFailedPrecondition), Exit::kRefused);
  EXPECT_EQ(exit_of(Code::kInvalidArgument), Exit::kUsage);
  EXPECT_EQ(exit_of(Code::kDataLoss), Exit::kVerification);
  EXPECT_EQ(exit_of(Code::kCancelled), Exit::kStopped);
  EXPECT_EQ(exit_of(Code::kInternal), Exit::kOther);
}

TEST(Confirm, WithoutATerminalTheAnswerIsNoAndSaysYesOption) {
  std::istringstream in("yes\n");
  std::ostringstream out;
  std::ostringstream err;
  Context context{{in, out, err}, "", false, {}};
  EXPECT_FALSE(confirm(context, "start?"));
  EXPECT_NE(err.str().find("--yes"), std::string::npos);
}

TEST(Confirm, OnATerminalOnlyYesIsYes) {
  for (const auto& [answer, expected] :
       {std::pair{"y\n", true}, {"yes\n", true}, {"\n", false}, {"no\n", false}, {"", false}}) {
    std::istringstream in(answer);
    std::ostringstream out;
    std::ostringstream err;
    Context context{{in, out, err, true, true}, "", false, {}};
    EXPECT_EQ(confirm(context, "start?"), expected) << answer;
  }
}

}  // namespace
}  // namespace slipring::cli
