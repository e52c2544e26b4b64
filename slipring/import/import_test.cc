#include "slipring/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "slipring/import/diagnose.h"

namespace slipring::import {
namespace {

using ::testing::HasSubstr;

const std::string kData = std::string(SLIPRING_SOURCE_DIR) + "/slipring/import/testdata/";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Golden {
  std::string format;
  std::string name;
  Options options = {};
};

Options chosen(const std::string& pool) {
  Options options;
  options.pool = pool;
  return options;
}

Options speaking(Protocol protocol) {
  Options options;
  options.protocol = protocol;
  return options;
}

std::vector<Golden> goldens() {
  return {{"twemproxy", "twemproxy-cache"},
          {"twemproxy", "twemproxy-store", chosen("carts")},
          {"twemproxy", "twemproxy-modula"},
          {"mcrouter", "mcrouter-plain"},
          {"mcrouter", "mcrouter-weighted", chosen("big")},
          {"mcrouter", "mcrouter-rendezvous"},
          {"haproxy", "haproxy-consistent"},
          {"haproxy", "haproxy-ids", chosen("images")},
          {"haproxy", "haproxy-map", speaking(Protocol::kRedis)},
          {"nginx", "nginx-consistent", chosen("edge")},
          {"nginx", "nginx-modulo", speaking(Protocol::kMemcached)},
          {"nginx", "nginx-names"},
          {"envoy", "envoy-redis", chosen("redis_ring")},
          {"envoy", "envoy-json", speaking(Protocol::kHttp)},
          {"envoy", "envoy-prefix"},
          {"libmemcached", "libmemcached-consistent"},
          {"libmemcached", "libmemcached-weighted"},
          {"libmemcached", "libmemcached-modula"},
          {"redis-cluster", "redis-cluster-nodes"},
          {"redis-cluster", "redis-cluster-shards"},
          {"redis-cluster", "redis-cluster-piped"},
          {"cassandra", "cassandra-murmur"},
          {"cassandra", "cassandra-random"},
          {"cassandra", "cassandra-two-centres"}};
}

class ImportGolden : public ::testing::TestWithParam<Golden> {};

// SLIPRING_GOLDEN_UPDATE=1 writes what comes out; what changes is looked at before it is committed.
TEST_P(ImportGolden, TheConfigurationBecomesThisPoolWithTheseNotes) {
  const Golden& golden = GetParam();
  const auto imported =
      import_pool(golden.format, read_file(kData + golden.name + ".in"), golden.name + ".in", golden.options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->old_names.size(), imported->pool.layout.nodes.size());
  const std::string toml = to_toml(*imported, golden.format);
  const std::string path = kData + golden.name + ".toml";
  if (std::getenv("SLIPRING_GOLDEN_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << toml;
  EXPECT_EQ(toml, read_file(path));
}

INSTANTIATE_TEST_SUITE_P(Import, ImportGolden, ::testing::ValuesIn(goldens()), [](const auto& tested) {
  std::string name = tested.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// ---- what is refused
// -------------------------------------------------------------------------------------------------

Error error_of(const std::string& format, const std::string& text, const Options& options = {}) {
  const auto imported = import_pool(format, text, "f", options);
  EXPECT_FALSE(imported) << format << ": " << text;
  return imported ? Error{} : imported.error();
}

struct Bad {
  std::string format;
  std::string text;
  std::string words;
};

// Not of its format: the place, from line and column 1.
std::vector<Bad> broken_texts() {
  return {
      {"twemproxy", "", "f: nutcracker.yml: must be a map"},
      {"twemproxy", "a:\n  servers:\n  - x:1:1\n  hash: {", "f:4"},
      {"twemproxy", "a:\n  hash: murmur", "f:1:1: servers: is missing"},
      {"twemproxy", "a:\n  servers:\n   - 10.0.0.1:1\n", "f:3:6: server \"10.0.0.1\""},
      {"twemproxy", "a:\n  servers:\n   - 10.0.0.1:1:-1\n", "f:3:6"},
      {"twemproxy", "a:\n  servers:\n   - 10.0.0.1:99999:1\n", "f:3:6"},
      {"twemproxy", "a:\n  servers: []\n", "f:2:12: no servers"},
      {"twemproxy", "a:\n  hash: sha9\n  servers: [ '10.0.0.1:1:1' ]\n",
       "f:3:12: pool a: scheme twemproxy: option hash"},
      {"twemproxy", "a:\n  colour: red\n  servers: []\n", "f:2:3: colour: nutcracker has no such directive"},
      {"twemproxy", "a:\n  hash: md5\n  hash: md5\n  servers: []\n", "f:3:3: \"hash\" stands here twice"},
      {"twemproxy", "a:\n  servers: [ '10.0.0.1:1:1 x', '10.0.0.2:1:1 x' ]\n", "f:2:12"},
      {"twemproxy", "a: {servers: []}\nb: {servers: []}\n", "f: several pools, choose one with --pool: a, b"},
      {"mcrouter", "{\n  \"pools\": {},,\n}", "f:2:15: is not JSON"},
      {"mcrouter", "{}", "f:1:1: neither \"route\" nor \"routes\""},
      {"mcrouter", "{\"pools\":{}, \"route\":\"PoolRoute|A\"}", "f:1:22: pool A: is not in \"pools\""},
      {"mcrouter", "{\"pools\":{\"A\":{\n\"servers\":[\"x\"]}},\"route\":\"PoolRoute|A\"}", "f:2:12: server \"x\""},
      {"mcrouter", "{\"a\":1,\"a\":2}", "f:1:8: \"a\" stands here twice"},
      {"haproxy", "backend b\n  balance \"hash", "f:2:11: the quote is not closed"},
      {"haproxy", "backend b\n  balance hash path\\", "f:2:20: a line ends"},
      {"haproxy", "backend b\n  balance uri\n  server a\n", "f:3:3: server: a name and an address"},
      {"haproxy", "backend b\n  balance uri\n  server a 10.0.0.1:1 weight\n", "f:3:3: weight: its argument is missing"},
      {"haproxy", "global\n", "f: no backend with servers"},
      {"haproxy", "backend b\n balance uri\n hash-type consistent md5\n server a 10.0.0.1:1\n", "f:1:1: pool b"},
      {"nginx", "http {\n upstream u { server a:1; }", "f:1:6: the block is not closed"},
      {"nginx", "upstream u {\n hash $x;;\n}", "f:2:10: ';' without a directive"},
      {"nginx", "}", "f:1:1: '}' closes no block"},
      {"nginx", "upstream u { hash \"$x; }", "f:1:19: the quote is not closed"},
      {"nginx", "upstream u { hash $x; server 10.0.0.1:1 weight=0; }", "f:1:23: weight: must be"},
      {"nginx", "upstream u { hash $x; server 10.0.0.1:1 backup; }", "f:1:23: backup"},
      {"envoy", "{\"lb_policy\": \"MAGLEV\"", "f:1"},
      {"envoy", "clusters:\n- name: a\n  lb_policy: [\n", "f:"},
      {"envoy", "clusters: []", "f: no cluster"},
      {"libmemcached", "SERVER=a", "f:1:1: an option begins with --"},
      {"libmemcached", "--SERVER=a\n--COLOUR=red", "f:2:1: --COLOUR: libmemcached has no such option"},
      {"libmemcached", "--SERVER=a --HASH=SHA9", "f:1:12: HASH \"SHA9\""},
      {"libmemcached", "--SERVER=a --NAMESPACE=\"x", "f:1:24: the quote is not closed"},
      {"libmemcached", "--HASH=MD5", "f: no servers"},
      {"redis-cluster", "\n\n", "f: holds nothing"},
      {"redis-cluster", "abc 10.0.0.1:1 master\n", "f:1:1: no line of CLUSTER NODES"},
      {"redis-cluster", "a 10.0.0.1:1@2 master - 0 0 1 connected 0-16384\n", "f:1:41: slots \"0-16384\""},
      {"redis-cluster", "a 10.0.0.1:1@2 master - 0 0 1 connected 0-100\n", "slot 101: no node names it"},
      {"redis-cluster", "slots\n0\n", "f:2:1: slots"},
      {"redis-cluster", "slots\n0\n16383\nnodes\nid\nx\nrole\nreplica\nip\na\nport\n1\n", "without a master"},
      {"cassandra", "", "f: no node in it"},
      {"cassandra", "Datacenter: a\n10.0.0.1 r Up Normal 1 KiB 5% eleven\n", "f:2:1: \"eleven\": no token"},
      {"cassandra", "Datacenter: a\nhello world\n", "f:2:1: no line of `nodetool ring`"},
  };
}

TEST(Import, ABrokenTextIsRefusedWithItsPlace) {
  for (const Bad& bad : broken_texts()) {
    const Error error = error_of(bad.format, bad.text);
    EXPECT_EQ(error.code, Code::kInvalidArgument) << error.message;
    EXPECT_THAT(error.message, HasSubstr(bad.words)) << bad.format << ": " << bad.text;
  }
}

// Right in itself, but a key would lie elsewhere, or nowhere.
std::vector<Bad> moving_texts() {
  const std::string mcrouter = "{\"pools\":{\"A\":{\"servers\":[\"10.0.0.1:1\",\"10.0.0.2:1\"]}},\n\"route\":";
  const std::string node = "{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 1}}}}";
  const std::string envoy = "name: c\nload_assignment: {endpoints: [{lb_endpoints: [" + node + "]}]}\n";
  return {
      {"twemproxy", "a:\n  distribution: random\n  servers: [ '10.0.0.1:1:1' ]\n", "f:2:17"},
      {"twemproxy", "a:\n  redis_db: 3\n  servers: [ '10.0.0.1:1:1' ]\n", "f:2:13"},
      {"twemproxy", "a:\n  servers:\n  - /run/a.sock:1\n", "f:3:5"},
      {"mcrouter", mcrouter + "{\"type\":\"PoolRoute\",\"pool\":\"A\",\"hash\":\"Crc32\"}}", "hash_func Crc32"},
      {"mcrouter", mcrouter + "{\"type\":\"PoolRoute\",\"pool\":\"A\",\"hash\":{\"salt\":\"x\"}}}",
       "f:2:55: cannot be carried over: salt"},
      {"mcrouter", mcrouter + "{\"type\":\"AllSyncRoute\",\"children\":[\"PoolRoute|A\"]}}", "f:2:17"},
      {"mcrouter",
       mcrouter +
           "{\"type\":\"PrefixSelectorRoute\",\"policies\":{\"a\":\"PoolRoute|A\"},\"wildcard\":\"PoolRoute|A\"}}",
       "several routes"},
      {"haproxy", "backend b\n server a 10.0.0.1:1\n", "f:1:1"},
      {"haproxy", "backend b\n balance source\n server a 10.0.0.1:1\n", "f:2:2"},
      {"haproxy", "backend b\n balance uri depth 3\n server a 10.0.0.1:1\n", "f:2:2"},
      {"haproxy", "backend b\n balance uri\n hash-balance-factor 150\n server a 10.0.0.1:1\n", "f:3:2"},
      {"haproxy", "backend b\n balance uri\n cookie X insert\n server a 10.0.0.1:1\n", "f:3:2"},
      {"haproxy", "backend b\n balance uri\n server a 10.0.0.1:1 hash-key addr\n", "f:3:2"},
      {"haproxy", "backend b\n balance uri\n server a 10.0.0.1:1 weight 1.0005\n", "f:3:2"},
      {"nginx", "upstream u { least_conn; server 10.0.0.1:1; }", "f:1:14"},
      {"nginx", "upstream u { server 10.0.0.1:1; }", "f:1:1"},
      {"nginx", "upstream u { hash $x; server unix:/run/a; }", "f:1:23"},
      {"nginx", "upstream u { hash $x; server a.example.com:1 resolve; }", "f:1:23"},
      {"envoy", envoy + "lb_policy: LEAST_REQUEST\n", "f:3:12"},
      {"envoy", envoy + "lb_policy: MAGLEV\n", "--protocol"},
      {"envoy", envoy + "lb_policy: MAGLEV\nlb_subset_config: {}\n", "f:4"},
      {"envoy",
       envoy + "lb_policy: MAGLEV\ncommon_lb_config: {consistent_hashing_lb_config: {hash_balance_factor: 150}}\n",
       "hash_balance_factor"},
      {"libmemcached", "--SERVER=a --DISTRIBUTION=RANDOM", "f:1:12"},
      {"libmemcached", "--SERVER=a --NAMESPACE=x:", "f:1:12"},
      {"libmemcached", "--SERVER=a --DISTRIBUTION=CONSISTENT --HASH=MD5", "f:1:38"},
      {"redis-cluster", "a 10.0.0.1:1@2 master - 0 0 1 connected 0-16383 [93->-b]\n", "f:1:49"},
      {"cassandra", "Datacenter: a\n10.0.0.1 r Up Leaving 1 KiB 5% 11\n", "f:2:1"},
  };
}

TEST(Import, WhatWouldMoveKeysIsRefusedWithItsPlace) {
  for (const Bad& bad : moving_texts()) {
    const Error error = error_of(bad.format, bad.text);
    EXPECT_EQ(error.code, Code::kFailedPrecondition) << error.message;
    EXPECT_THAT(error.message, HasSubstr(bad.words)) << bad.format << ": " << bad.text;
  }
}

TEST(Import, SizesAreBounded) {
  EXPECT_THAT(error_of("nginx", std::string(kTextBytesMax + 1, ' ')).message, HasSubstr("larger than"));
  EXPECT_THAT(error_of("nginx", std::string("a\0b", 3)).message, HasSubstr("zero byte"));
  EXPECT_THAT(error_of("nginx", "upstream \xff").message, HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("nginx", std::string(100, '{')).message, HasSubstr("without a directive"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a {";
  EXPECT_THAT(error_of("nginx", deep).message, HasSubstr("within each other"));
  EXPECT_THAT(error_of("mcrouter", std::string(100'000, '[')).message, HasSubstr("too deep"));
  EXPECT_THAT(error_of("haproxy", "global " + std::string(2 * 300, 'x') + std::string(600, ' ')).message,
              HasSubstr("no backend"));
  std::string many = "backend b";
  for (int i = 0; i < 300; ++i) many += " x";
  EXPECT_THAT(error_of("haproxy", many).message, HasSubstr("more than 256 words"));
}

// Every level names the one below nine times.
TEST(Import, AliasesThatUnfoldToMuchAreRefused) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) text += "*a" + std::to_string(i - 1) + ",";
    text += "]\n";
  }
  EXPECT_THAT(error_of("twemproxy", text).message, HasSubstr("too many values"));
}

TEST(Import, NamesOfNodesAreMadeFitAndDistinct) {
  const auto imported = import_pool(
      "twemproxy", "p q:\n  servers:\n  - 10.0.0.1:1:1 a b\n  - 10.0.0.2:1:1 a/b\n  - 10.0.0.3:1:1 ä\n", "f", {});
  ASSERT_TRUE(imported) << imported.error().message;
  const auto& nodes = imported->pool.layout.nodes;
  EXPECT_EQ(imported->pool.name, "p-q");
  EXPECT_EQ(nodes[0].name, "a-b");
  EXPECT_EQ(nodes[0].label, "a b");
  EXPECT_EQ(nodes[1].name, "a-b-2");
  EXPECT_EQ(nodes[1].label, "a/b");
  EXPECT_EQ(nodes[2].name, "n");
  EXPECT_EQ(imported->old_names[2], "ä");
}

// ---- why keys lie elsewhere
// ------------------------------------------------------------------------------------------

Layout fleet() {
  const auto imported = import_pool("twemproxy",
                                    "p:\n  hash: fnv1a_64\n  servers:\n  - 10.0.0.1:1:1 a\n  - 10.0.0.2:1:2 b\n"
                                    "  - 10.0.0.3:1:5 c\n",
                                    "f", {});
  return imported->pool.layout;
}

// Where keys lie under `real`; its node i is node origin[i] of the fleet.
std::vector<Sighting> sightings_of(const Layout& real, std::vector<NodeIndex> origin = {0, 1, 2}) {
  const auto scheme = make_scheme(real);
  EXPECT_TRUE(scheme);
  std::vector<Sighting> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "user:{" + std::to_string(i % 400) + "}:" + std::to_string(i);
    seen.push_back({key, origin[(*scheme)->owner(key)]});
  }
  return seen;
}

TEST(Diagnose, TheSettingThatIsOtherwiseIsNamed) {
  Layout real = fleet();
  real.scheme.options["hash"] = "md5";
  EXPECT_EQ(diagnose(fleet(), sightings_of(real)).cause, "hash is md5");
  real = fleet();
  real.scheme.options["hash_tag"] = "{}";
  EXPECT_EQ(diagnose(fleet(), sightings_of(real)).cause, "hash_tag is {}");
  EXPECT_EQ(diagnose(real, sightings_of(fleet())).cause, "there is no hash_tag");
  real = fleet();
  for (Node& node : real.nodes) node.weight_milli = 1000;
  EXPECT_EQ(diagnose(fleet(), sightings_of(real)).cause, "weights are ignored");
  real = fleet();
  for (Node& node : real.nodes) node.attributes["address"] = node.instance.address;
  EXPECT_EQ(diagnose(fleet(), sightings_of(real)).cause, "servers are known by their addresses");
}

TEST(Diagnose, TheOrderOfServersIsNamed) {
  Layout layout = fleet();
  layout.scheme = {"mcrouter-ch3", {}};
  for (Node& node : layout.nodes) node.weight_milli = 1000;
  Layout real = layout;
  std::reverse(real.nodes.begin(), real.nodes.end());
  EXPECT_EQ(diagnose(layout, sightings_of(real, {2, 1, 0})).cause, "servers stand in the reverse order");
}

TEST(Diagnose, SeveralSettingsAreFoundTogether) {
  Layout real = fleet();
  real.scheme.options["hash"] = "crc32a";
  real.scheme.options["hash_tag"] = "{}";
  const Diagnosis found = diagnose(fleet(), sightings_of(real));
  EXPECT_DOUBLE_EQ(found.share, 1);
  EXPECT_EQ(found.cause, "hash_tag is {}, and hash is crc32a");
}

TEST(Diagnose, NothingIsNamedWhereNothingExplainsMore) {
  EXPECT_EQ(diagnose(fleet(), sightings_of(fleet())).cause, "");
  EXPECT_DOUBLE_EQ(diagnose(fleet(), sightings_of(fleet())).share, 1);
}

}  // namespace
}  // namespace slipring::import
