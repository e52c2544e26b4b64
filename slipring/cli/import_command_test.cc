// `slipring import`: every format's configurations go through it to a file that `config check` takes and `place` uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "slipring/cli/run_for_test.h"

namespace slipring::cli {
namespace {

using ::testing::HasSubstr;

const std::string kData = std::string(SLIPRING_SOURCE_DIR) + "/slipring/import/testdata/";

class ImportCommandTest : public ::testing::Test {
 protected:
  ImportCommandTest() {
    std::string path = "/tmp/slipring-import-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    dir_ = path;
  }
  ~ImportCommandTest() override { std::filesystem::remove_all(dir_); }

  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  std::string dir_;
};

std::string some_keys() {
  std::string keys;
  for (int i = 0; i < 500; ++i) keys += "key:" + std::to_string(i) + (i % 3 == 0 ? "|#|x\n" : "{t}\n");
  return keys;
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ImportCommandTest, EveryFormatBecomesAFileThatPlacesKeysAlike) {
  const std::vector<std::vector<std::string>> given = {{"twemproxy", "twemproxy-modula"},
                                                       {"mcrouter", "mcrouter-weighted", "--pool", "big"},
                                                       {"haproxy", "haproxy-map"},
                                                       {"nginx", "nginx-names"},
                                                       {"envoy", "envoy-redis", "--pool", "redis_ring"},
                                                       {"libmemcached", "libmemcached-weighted"},
                                                       {"redis-cluster", "redis-cluster-nodes"},
                                                       {"cassandra", "cassandra-two-centres"}};
  const std::string keys = write("keys", some_keys());
  for (const auto& words : given) {
    const std::string out = path(words[1] + ".toml");
    std::vector<std::string> arguments = {"import", words[0], kData + words[1] + ".in", "-o", out, "--check", keys};
    arguments.insert(arguments.end(), words.begin() + 2, words.end());
    const Ran imported = run(arguments);
    ASSERT_EQ(imported.exit, 0) << imported.err;
    EXPECT_EQ(lines_of(imported.out), 500u);
    EXPECT_THAT(run({"config", "check", out}).out, HasSubstr("valid, 1 pool"));
    // Key and new owner, as the check printed them between old owners.
    const Ran placed = run({"place", "--config", out}, some_keys());
    ASSERT_EQ(placed.exit, 0) << placed.err;
    std::istringstream a(imported.out);
    std::istringstream b(placed.out);
    for (std::string x, y; std::getline(a, x) && std::getline(b, y);)
      EXPECT_EQ(x.substr(0, x.find('\t')) + x.substr(x.rfind('\t')), y);
  }
}

TEST_F(ImportCommandTest, TheCheckNamesOldOwnersByTheirOldNames) {
  const Ran ran = run({"import", "redis-cluster", kData + "redis-cluster-shards.in", "--check", "-"}, "a\n{a}b\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "a\t127.0.0.1:30002\t127.0.0.1-30002\n{a}b\t127.0.0.1:30002\t127.0.0.1-30002\n");
}

TEST_F(ImportCommandTest, WhatIsNotCarriedOverIsSaidWithItsLine) {
  const std::string file = kData + "twemproxy-cache.in";
  const Ran ran = run({"import", "twemproxy", file});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("scheme = \"twemproxy\""));
  EXPECT_THAT(ran.out, HasSubstr("# line 6: timeout: not carried over"));
  EXPECT_THAT(ran.err, HasSubstr(file + ":6:3: timeout: not carried over"));
  EXPECT_THAT(ran.err, HasSubstr(":9:21: auto_eject_hosts: not carried over"));
}

TEST_F(ImportCommandTest, JsonHoldsPoolNotesAndCheck) {
  const Ran ran = run({"import", "twemproxy", kData + "twemproxy-store.in", "--pool", "carts", "--name", "shop",
                       "--json", "--check", write("keys", "x\ny\n")});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto answer = nlohmann::json::parse(ran.out);
  EXPECT_EQ(answer["pool"], "shop");
  EXPECT_EQ(answer["nodes"][0]["was"], "cart1");
  EXPECT_EQ(answer["check"]["moved"], 0);
  EXPECT_EQ(answer["check"]["keys"].size(), 2u);
  EXPECT_GE(answer["notes"].size(), 4u);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out.find("not-a-real-password"), std::string::npos);
}

TEST_F(ImportCommandTest, BadInputHasItsExitCodeAndPlace) {
  const std::string broken = write("broken", "upstream u {\n");
  EXPECT_EQ(run({"import", "nginx", broken}).exit, 2);
  EXPECT_THAT(run({"import", "nginx", broken}).err, HasSubstr(broken + ":1:12: the block is not closed"));
  const Ran moving = run({"import", "nginx", write("moving", "upstream u { ip_hash; server a:1; }"), "-o", path("no")});
  EXPECT_EQ(moving.exit, 3);
  EXPECT_THAT(moving.err, HasSubstr("cannot be carried over: ip_hash"));
  EXPECT_FALSE(std::filesystem::exists(path("no")));
  EXPECT_THAT(run({"import", "nagios", broken}).err, HasSubstr("must be one of twemproxy, mcrouter"));
  EXPECT_EQ(run({"import", "nginx", path("absent")}).exit, 2);
  EXPECT_EQ(run({"import", "nginx", "-", "--check", "-"}).exit, 2);
  EXPECT_EQ(run({"import", "nginx", broken, "--sample", "0"}).exit, 2);
  EXPECT_EQ(run({"import", "nginx", broken, "--kind", "heap"}).exit, 2);
  const std::string good = kData + "twemproxy-modula.in";
  EXPECT_THAT(run({"import", "twemproxy", good, "--name", "a b"}).err, HasSubstr("name"));
  EXPECT_NE(run({"import", "twemproxy", good, "-o", path("no/such/dir")}).exit, 0);
}

}  // namespace
}  // namespace slipring::cli
