#include "slipring/cli/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "slipring/cli/unix_socket.h"

namespace slipring::cli {
namespace {

class Processes : public ::testing::Test {
 protected:
  Processes() {
    char name[] = "/tmp/slipring-process-XXXXXX";
    dir = mkdtemp(name);
  }
  ~Processes() override {
    if (auto left = Process::adopt(pid_file())) left->signal(SIGKILL);
    std::filesystem::remove_all(dir);
  }
  std::string pid_file() const { return dir + "/pid"; }
  Process start(std::vector<std::string> argv) { return Process::start(argv, dir + "/log", pid_file()).value(); }

  std::string dir;
};

TEST_F(Processes, AProcessThatWasStartedIsFoundAgainByItsPidFile) {
  Process process = start({"sleep", "1000"});
  auto found = Process::adopt(pid_file());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pid(), process.pid());
  found->signal(SIGTERM);
  EXPECT_TRUE(process.wait(60'000));
  EXPECT_TRUE(found->wait(60'000));
  EXPECT_FALSE(Process::adopt(pid_file()).has_value()) << "it has ended";
}

TEST_F(Processes, AStrangerWithThePidIsNotTaken) {
  const pid_t stranger = ::getpid();
  std::ofstream(pid_file()) << stranger << " " << process_start_time(stranger).value() + 1 << "\n";
  EXPECT_FALSE(Process::adopt(pid_file()).has_value());
  for (const char* text : {"", "x", "1 1", "-5 7", "99999999999 1", "0 0"}) {
    std::ofstream(pid_file()) << text;
    EXPECT_FALSE(Process::adopt(pid_file()).has_value()) << text;
  }
  std::filesystem::remove(pid_file());
  EXPECT_FALSE(Process::adopt(pid_file()).has_value());
}

TEST_F(Processes, AProgramThatIsNotThereIsAnErrorThatNamesIt) {
  const auto got = Process::start({"no-such-program-of-slipring"}, dir + "/log", pid_file());
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().message.find("no-such-program-of-slipring"), std::string::npos);
}

TEST_F(Processes, OutputIsAppendedToTheLog) {
  for (const char* text : {"one", "two"}) {
    Process process = start({"echo", text});
    EXPECT_TRUE(process.wait(60'000));
  }
  std::ifstream log(dir + "/log");
  std::string text(std::istreambuf_iterator<char>(log), {});
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST_F(Processes, FreePortsAvoidTheTakenOnes) {
  const uint16_t one = find_free_port({}).value();
  EXPECT_NE(find_free_port({one}).value(), one);
  EXPECT_GE(one, 20'000);
  EXPECT_LT(one, 32'000);
}

TEST_F(Processes, ALineGoesOverAUnixSocketEvenAtALongPath) {
  std::string deep = dir;
  for (int i = 0; i < 5; ++i) {
    deep += "/a-folder-with-a-name-of-forty-characters";
    std::filesystem::create_directory(deep);
  }
  const std::string path = deep + "/up.sock";
  const int listener = listen_unix(path).value();
  std::string heard;
  std::thread server([&] {
    for (const char* answer : {"ok 127.0.0.1:1", "ok", "error not_found node n9: none"}) {
      pollfd p{listener, POLLIN, 0};
      ::poll(&p, 1, 60'000);
      UnixStream peer = accept_unix(listener);
      heard += peer.read_line(60'000).value() + ";";
      EXPECT_TRUE(peer.write_line(answer).has_value());
    }
  });
  SupervisorClient client(path);
  EXPECT_EQ(client.spawn("n4").value(), "127.0.0.1:1");
  EXPECT_TRUE(client.release("n4").has_value());
  EXPECT_EQ(client.release("n9").error(), (Error{Code::kNotFound, "node n9: none"}));
  server.join();
  ::close(listener);
  EXPECT_EQ(heard, "spawn n4;release n4;release n9;");
  EXPECT_EQ(client.spawn("n4").error().code, Code::kUnavailable) << "nobody listens";
}

TEST_F(Processes, ALineWithoutEndIsCut) {
  const std::string path = dir + "/sock";
  const int listener = listen_unix(path).value();
  UnixStream sender = connect_unix(path).value();
  UnixStream receiver = accept_unix(listener);
  EXPECT_TRUE(sender.write_line(std::string(kLineBytesMax + 10, 'x')).has_value());
  EXPECT_EQ(receiver.read_line(60'000).error().code, Code::kInvalidArgument);
  UnixStream silent = connect_unix(path).value();
  UnixStream waiting = accept_unix(listener);
  EXPECT_EQ(waiting.read_line(1).error().code, Code::kDeadlineExceeded);
  ::close(listener);
}

}  // namespace
}  // namespace slipring::cli
