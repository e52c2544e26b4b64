// `slipring up` as a person uses it: the real program, its processes and real store servers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "slipring/control/api_client.h"
#include "slipring/control/secret_file.h"
#include "slipring/net/blocking_stream.h"
#include "slipring/store/redis/client.h"
#include "tests/support/child_process.h"

namespace slipring::testing {
namespace {

constexpr double kStartSeconds = 120;

struct Ran {
  int exit = 0;
  std::string out;
};

class Up : public ::testing::Test {
 protected:
  Up() : port_(free_ports(2)), api_port_(free_port()) {}
  ~Up() override { run({"down", "--dir", dir()}); }

  std::string dir() const { return temp_.path() + "/data"; }
  std::string api() const { return fmt::format("127.0.0.1:{}", api_port_); }
  std::string read(const std::string& path) const {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Ran run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SLIPRING_PROGRAM);
    const std::string log = fmt::format("{}/run-{}", temp_.path(), ++runs_);
    auto process = ChildProcess::start(arguments, log);
    if (!process) return {-1, process.error().message};
    const int exit = process->wait();
    return {exit, read(log)};
  }
  Ran client(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--api", api()});
    return run(std::move(arguments));
  }

  // Starts `up` and waits until it says what runs.
  void up(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        SLIPRING_PROGRAM, "up",  "--dir",  dir(),     "--listen", fmt::format("127.0.0.1:{}", port_),
        "--api",          api(), "--json", "--nodes", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    log_ = fmt::format("{}/up-{}", temp_.path(), ++runs_);
    auto process = ChildProcess::start(arguments, log_);
    ASSERT_TRUE(process.has_value());
    up_ = std::move(*process);
    ASSERT_TRUE(eventually(kStartSeconds,
                           [&] { return read(log_).find("\"routers\"") != std::string::npos || !up_.running(); }));
    ASSERT_TRUE(up_.running()) << read(log_);
  }

  redis::Client connect() {
    auto client = redis::Client::connect({fmt::format("127.0.0.1:{}", port_), "", "", ""});
    EXPECT_TRUE(client.has_value());
    return std::move(*client);
  }
  bool serves() {
    auto client = redis::Client::connect({fmt::format("127.0.0.1:{}", port_), "", "", ""});
    if (!client) return false;
    const auto reply = client->command({"SET", "probe", "1"});
    return reply && reply->text == "OK";
  }
  // Of the child, by its pid file.
  pid_t pid_of(const std::string& child) const {
    return static_cast<pid_t>(std::stol(read(dir() + "/run/" + child + ".pid")));
  }
  // A process that has ended may stand in the table until its new parent looks at it.
  bool alive(pid_t pid) const {
    const std::string stat = read(fmt::format("/proc/{}/stat", pid));
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  }

  TempDir temp_;
  int port_;
  int api_port_;
  int runs_ = 0;
  std::string log_;
  ChildProcess up_;
};

TEST_F(Up, ServesClientsAndKeepsDataAndPortsOverARestart) {
  up();
  redis::Client client = connect();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(client.command({"SET", fmt::format("key:{}", i), fmt::format("{}", i)})->text, "OK");
  const std::string credentials = read(dir() + "/credentials");
  const pid_t server = pid_of("node-n1");
  EXPECT_EQ(up_.terminate(), 0) << read(log_);
  EXPECT_FALSE(alive(server));
  up();
  EXPECT_EQ(read(dir() + "/credentials"), credentials);
  redis::Client again = connect();
  ASSERT_TRUE(eventually(60, [&] { return serves(); }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(again.command({"GET", fmt::format("key:{}", i)})->text, fmt::format("{}", i));
}

TEST_F(Up, SecretsAreForTheirOwnerOnlyAndTheDefaultUserIsOff) {
  up();
  for (const char* file : {"/credentials", "/channel.token", "/up.state", "/controller.toml", "/node/n1/users.acl",
                           "/node/n1/redis.conf"}) {
    struct stat info {};
    ASSERT_EQ(::stat((dir() + file).c_str(), &info), 0) << file;
    EXPECT_EQ(info.st_mode & 077, 0u) << file;
  }
  const auto lines = control::NodeCredentials::read(dir() + "/credentials").value().all();
  ASSERT_EQ(lines.size(), 2u);
  auto stranger = net::BlockingStream::connect(lines[0].address, Millis(2000));
  ASSERT_TRUE(stranger.has_value());
  auto client = redis::Client::connect({lines[0].address, "", "", ""});
  EXPECT_TRUE(client->command({"GET", "x"})->is_error());
}

TEST_F(Up, ASecondOneOnTheSameDirectoryIsRefusedWithWhatToDo) {
  up();
  const Ran ran = run({"up", "--dir", dir()});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.out.find("slipring down --dir " + dir()), std::string::npos) << ran.out;
  EXPECT_TRUE(serves());
}

TEST_F(Up, ChildrenThatAreKilledAreStartedAgain) {
  up();
  for (const char* child : {"router-1", "controller", "node-n1"}) {
    const pid_t before = pid_of(child);
    ::kill(before, SIGKILL);
    EXPECT_TRUE(eventually(60, [&] { return pid_of(child) != before && alive(pid_of(child)); })) << child;
    EXPECT_TRUE(eventually(60, [&] { return serves(); })) << child;
  }
}

TEST_F(Up, AfterAKillOfItselfTheNextOneTakesTheServersOver) {
  up();
  ASSERT_TRUE(serves());
  const pid_t server = pid_of("node-n1");
  up_.kill();
  EXPECT_TRUE(alive(server));
  up();
  EXPECT_EQ(pid_of("node-n1"), server);
  EXPECT_TRUE(eventually(60, [&] { return serves(); }));
}

TEST_F(Up, DownEndsWhatAKilledOneHasLeft) {
  up();
  const pid_t server = pid_of("node-n1");
  const pid_t router = pid_of("router-1");
  up_.kill();
  EXPECT_EQ(run({"down", "--dir", dir()}).exit, 0);
  EXPECT_FALSE(alive(server));
  EXPECT_FALSE(alive(router));
  EXPECT_NE(run({"down", "--dir", temp_.path() + "/nothing"}).exit, 0);
}

TEST_F(Up, StatusAndLocateAnswer) {
  up();
  const Ran status = client({"status"});
  EXPECT_EQ(status.exit, 0);
  EXPECT_NE(status.out.find("n1"), std::string::npos) << status.out;
  EXPECT_NE(client({"locate", "user:1001"}).out.find("user:1001 -> n"), std::string::npos);
}

TEST_F(Up, ADryRunWithoutAnAddressLeavesNoServerBehind) {
  up();
  const Ran ran = client({"node", "add", "n3", "--dry-run"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(dir() + "/node/n3"));
  EXPECT_EQ(read(dir() + "/up.state").find("n3"), std::string::npos);
}

}  // namespace
}  // namespace slipring::testing
