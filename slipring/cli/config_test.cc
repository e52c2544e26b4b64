#include "slipring/cli/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "slipring/cli/config_table.h"

namespace slipring::cli {
namespace {

constexpr const char* kPool = R"(
[[pool]]
name = "main"
[[pool.node]]
name = "n1"
address = "127.0.0.1:7001"
)";

std::string error_of(const std::string& text) {
  const auto config = parse_config(text, "f.toml");
  return config ? std::string("no error") : config.error().message;
}

TEST(Config, AnEmptyFileIsTheDefaults) {
  const Config config = parse_config("", "f").value();
  EXPECT_EQ(config.up.listen, "127.0.0.1:6400");
  EXPECT_EQ(config.controller.plan.grace_ms, 600'000);
  EXPECT_TRUE(config.controller.seed.empty());
}

TEST(Config, EverySettingReadsItsOwnDefaultBack) {
  for (const Setting& s : all_settings()) {
    const std::string value = format_value(s, {});
    if (value == "\"\"") continue;  // no path, no address: cannot be written
    const std::string text = "[" + std::string(s.table) + "]\n" + std::string(s.key) + " = " + value + "\n";
    const auto config = parse_config(text, "f");
    ASSERT_TRUE(config.has_value()) << text << config.error().message;
    EXPECT_EQ(format_value(s, *config), value) << text;
  }
}

TEST(Config, EveryNumberHasLimitsAndOutsideThemIsAnError) {
  for (const Setting& s : all_settings()) {
    const bool duration = s.kind == ValueKind::kDuration;
    if (!duration && s.kind != ValueKind::kCount && s.kind != ValueKind::kBytes) continue;
    ASSERT_LT(s.min, s.max) << s.key;
    const auto with = [&](uint64_t number) {
      const std::string value = duration ? "\"" + std::to_string(number) + "ms\"" : std::to_string(number);
      return parse_config("[" + std::string(s.table) + "]\n" + std::string(s.key) + "=" + value, "f").has_value();
    };
    EXPECT_TRUE(with(s.min)) << s.key;
    EXPECT_TRUE(with(s.max)) << s.key;
    EXPECT_FALSE(with(s.max + 1)) << s.key;
    if (s.min > 0) {
      EXPECT_FALSE(with(s.min - 1)) << s.key;
    }
  }
}

TEST(Config, NoTwoSettingsShareAKeyOrAField) {
  Config config;
  std::set<std::string> keys;
  std::set<const void*> fields;
  for (const Setting& s : all_settings()) {
    keys.insert(std::string(s.table) + "." + std::string(s.key));
    fields.insert(std::visit([](auto* p) { return static_cast<const void*>(p); }, s.field(config)));
  }
  EXPECT_EQ(keys.size(), all_settings().size());
  EXPECT_EQ(fields.size(), all_settings().size());
}

TEST(Config, PoolsAndNodesAreRead) {
  const Config config = parse_config(R"(
[[pool]]
name = "main"
kind = "cache"
fence = "names"
scheme = "ring"
options = { vnodes = 64, seed = 7 }
replicas = 2
key_prefix = "app:"
[[pool.node]]
name = "n1"
address = "127.0.0.1:7001"
weight = 1.5
zone = "a"
[[pool.node]]
name = "n2"
address = "127.0.0.1:7002"
label = "old-name"
weight = 0
)",
                                     "f")
                            .value();
  ASSERT_EQ(config.controller.seed.size(), 1u);
  const Pool& pool = config.controller.seed[0];
  EXPECT_EQ(pool.kind, PoolKind::kCache);
  EXPECT_EQ(pool.fence, PoolFence::kNames);
  EXPECT_EQ(pool.layout.scheme, (SchemeSpec{"ring", {{"vnodes", "64"}, {"seed", "7"}}}));
  EXPECT_EQ(pool.layout.replicas, 2u);
  EXPECT_EQ(pool.key_prefix, "app:");
  ASSERT_EQ(pool.layout.nodes.size(), 2u);
  EXPECT_EQ(pool.layout.nodes[0].weight_milli, 1500);
  EXPECT_EQ(pool.layout.nodes[0].zone, "a");
  EXPECT_EQ(pool.layout.nodes[1].label, "old-name");
  EXPECT_EQ(pool.layout.nodes[1].weight_milli, 0);
}

TEST(Config, ErrorsCarryFileLineAndColumn) {
  EXPECT_EQ(error_of("[up]\nnodes = 0\n"), "f.toml:2:9: up.nodes: must be integer, 1 to 64");
  EXPECT_EQ(error_of("[up]\n\n  nods = 3\n"), "f.toml:3:3: up.nods: is no known key");
  EXPECT_EQ(error_of("[upp]\n"), "f.toml:1:2: upp: is no known table");
  EXPECT_EQ(error_of("x = 1\n"), "f.toml:1:1: x: is no known table");
  EXPECT_EQ(error_of("[up]\nlisten = \"127.0.0.1\"\n"),
            "f.toml:2:10: up.listen: address \"127.0.0.1\": no port; write host:port");
}

TEST(Config, BrokenTomlIsAnErrorWithItsPlace) {
  for (const char* text :
       {"[up", "[up]\nnodes =", "a = \"\\q\"", "[up]\n[up]\n", "\xff", "a = [1,", "[[pool]]\nname=\"a\"\nname=\"b\""}) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.rfind("f.toml:", 0), 0u) << error;
  }
}

TEST(Config, DeepNestingIsAnErrorNotACrash) {
  EXPECT_NE(error_of("a = " + std::string(100'000, '[')), "no error");
}

TEST(Config, WrongTypesAreErrors) {
  for (const char* line : {"nodes = \"3\"", "nodes = 3.0", "nodes = -1", "nodes = true", "listen = 6400", "dir = 1",
                           "fsync = \"sometimes\"", "fsync = \"always|no\"", "fsync = \"\"", "listen = \"a:99999\""}) {
    EXPECT_NE(error_of(std::string("[up]\n") + line), "no error") << line;
  }
  for (const char* line :
       {"grace = 10", "grace = \"10\"", "grace = \"-1s\"", "accept_weaker = 1", "key_bytes_max = \"8xb\""}) {
    EXPECT_NE(error_of(std::string("[move]\n") + line), "no error") << line;
  }
}

TEST(Config, NodesAreCheckedWithTheirPlace) {
  const std::string pool = "[[pool]]\nname = \"main\"\n";
  const auto with = [&](const std::string& node) { return error_of(pool + "[[pool.node]]\n" + node); };
  EXPECT_EQ(with("name = \"n1\"\n"), "f.toml:3:1: pool.node.address: is missing");
  for (const char* weight : {"-1", "1e9", "nan", "inf", "0.0001", "1000.001", "\"1\"", "true"}) {
    const std::string error = with("name=\"n1\"\naddress=\"a:1\"\nweight=" + std::string(weight) + "\n");
    EXPECT_NE(error.find("f.toml:6:8: pool.node.weight: must be a number from 0 to 1000"), std::string::npos) << error;
  }
  EXPECT_NE(with("name=\"n 1\"\naddress=\"a:1\"\n").find("n 1"), std::string::npos);
  EXPECT_NE(with("name=\"n1\"\naddress=\"a:1\"\nport=1\n").find("f.toml:6:1: pool.node.port: is no known key"),
            std::string::npos);
}

TEST(Config, DuplicateNodesAddressesPoolsAndUnknownSchemesAreErrors) {
  const std::string pool = kPool;
  EXPECT_EQ(error_of(pool), "no error");
  EXPECT_NE(error_of(pool + "[[pool.node]]\nname=\"n1\"\naddress=\"127.0.0.1:7002\"\n").find("occurs twice"),
            std::string::npos);
  EXPECT_NE(error_of(pool + "[[pool.node]]\nname=\"n2\"\naddress=\"127.0.0.1:7001\"\n").find("is that of node n1"),
            std::string::npos);
  EXPECT_NE(error_of(pool + pool), "no error");
  EXPECT_NE(
      error_of("[[pool]]\nname=\"p\"\nscheme=\"rings\"\n[[pool.node]]\nname=\"n\"\naddress=\"a:1\"\n").find("rings"),
      std::string::npos);
  EXPECT_NE(error_of("[pool]\nname=\"p\"\n").find("must be written [[pool]]"), std::string::npos);
  EXPECT_NE(error_of("[[pool]]\nname=\"p\"\n").find("pool.node: is missing"), std::string::npos);
}

TEST(Config, AMissingFileIsNamed) {
  EXPECT_EQ(load_config("/no/such/file.toml").error().code, Code::kNotFound);
  EXPECT_FALSE(load_config("/").has_value());
}

TEST(Config, TheDocumentationIsWhatTheProgramWrites) {
  std::ifstream file(SLIPRING_SOURCE_DIR "/docs/config.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), config_document()) << "run: slipring config doc > docs/config.md";
}

TEST(Config, TheDocumentationListsEveryKeyWithItsLimitsAndDefault) {
  const std::string text = config_document();
  for (const Setting& s : all_settings()) {
    EXPECT_NE(
        text.find("| `" + std::string(s.key) + "` | " + describe_values(s) + " | `" + format_value(s, {}) + "` |"),
        std::string::npos)
        << s.key;
    EXPECT_GT(s.what.size(), 10u) << s.key;
  }
  for (const PoolKey& k : pool_keys())
    EXPECT_NE(text.find("| `" + std::string(k.key) + "` |"), std::string::npos) << k.key;
}

}  // namespace
}  // namespace slipring::cli
