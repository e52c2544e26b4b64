// Imported configurations against the systems that run with them: nutcracker, nginx and HAProxy, started on free
// loopback ports, are asked for 2,000 random keys each, and the server that answers must be the one that the imported
// pool names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "slipring/base/random.h"
#include "slipring/import/import.h"
#include "tests/support/answering_backends.h"
#include "tests/support/child_process.h"

namespace slipring {
namespace {

using slipring::testing::AnsweringBackends;
using slipring::testing::AskingClient;
using slipring::testing::ChildProcess;
using slipring::testing::TempDir;

constexpr size_t kKeys = 2000;

struct Imported {
  std::string format;
  std::string name;
  size_t backends = 0;
  std::string pool;
  // {port} is where the system listens, {0}, {1}, ... are the addresses of the backends.
  std::string text;
};

std::vector<Imported> configurations() {
  const std::string nginx =
      "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\nevents { worker_connections 256; }\nhttp "
      "{\n"
      " access_log off;\n client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;\n uwsgi_temp_path t4;\n"
      " scgi_temp_path t5;\n keepalive_requests 100000;\n";
  const std::string haproxy =
      "global\n nbthread 1\n maxconn 200\ndefaults\n mode http\n timeout connect 10s\n timeout client 60s\n"
      " timeout server 60s\n";
  return {
      {"twemproxy", "twemproxy_names", 4, "alpha",
       "alpha:\n  listen: 127.0.0.1:{port}\n  hash: fnv1a_64\n  hash_tag: \"{}\"\n  distribution: ketama\n"
       "  timeout: 5000\n  servers:\n  - {0}:1 one\n  - {1}:2 two\n  - {2}:1 three\n  - {3}:4 four\n"},
      {"twemproxy", "twemproxy_addresses", 5, "",
       "beta:\n  listen: 127.0.0.1:{port}\n  timeout: 5000\n  servers:\n  - {0}:1\n  - {1}:1\n  - {2}:3\n  - {3}:1\n"
       "  - {4}:1\n"},
      {"twemproxy", "twemproxy_modula", 3, "",
       "gamma:\n  listen: 127.0.0.1:{port}\n  hash: one_at_a_time\n  distribution: modula\n  timeout: 5000\n"
       "  servers:\n  - {0}:2\n  - {1}:1 b\n  - {2}:1\n"},
      {"nginx", "nginx_consistent", 4, "edge",
       nginx + " upstream edge {\n  hash $http_x_key consistent;\n  server {0} weight=3 max_fails=2;\n  server {1};\n"
               "  server \"{2}\" weight=2;\n  server {3} down;\n }\n upstream other { server 127.0.0.1:1; }\n"
               " server { listen 127.0.0.1:{port}; location / { proxy_pass http://edge; } }\n}\n"},
      {"nginx", "nginx_modulo", 3, "",
       nginx + " upstream shards {\n  hash ${http_x_key};\n  server {0};\n  server {1} weight=5;\n  server {2};\n }\n"
               " server { listen 127.0.0.1:{port}; location / { proxy_pass http://shards; } }\n}\n"},
      {"haproxy", "haproxy_default_server", 4, "",
       haproxy + " balance hdr(x-key)\n hash-type consistent\n default-server weight 7\nfrontend f\n"
                 " bind 127.0.0.1:{port}\n default_backend b\nbackend b\n server s0 {0}\n server s1 {1} weight 9\n"
                 " server s2 {2} disabled\n server s3 {3} id 40\n"},
      {"haproxy", "haproxy_map", 4, "",
       haproxy +
           "listen l\n bind 127.0.0.1:{port}\n balance hash req.fhdr(x-key)\n hash-type map-based djb2 avalanche\n"
           " server s0 {0} weight 10\n server s1 {1} weight 20\n server s2 {2} weight 1\n server s3 {3} weight 5\n"},
      {"haproxy", "haproxy_without_hash_type", 3, "",
       haproxy +
           "listen l\n bind 127.0.0.1:{port}\n balance hdr(x-key)\n server s0 {0}\n server s1 {1}\n server s2 {2}\n"},
  };
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::vector<std::string> random_keys() {
  Random random(20261202);
  std::vector<std::string> keys;
  while (keys.size() < kKeys) {
    std::string key = "k{";
    const uint64_t length = 1 + random.below(40);
    for (uint64_t i = 0; i < length; ++i) key.push_back(static_cast<char>('!' + random.below(94)));
    keys.push_back(key + "}x");
  }
  return keys;
}

// What `balance hdr` takes of a header: up to a comma that stands in no quotes.
std::string first_value(const std::string& header) {
  bool quoted = false;
  for (size_t i = 0; i < header.size(); ++i) {
    if (quoted && header[i] == '\\') {
      ++i;
    } else if (header[i] == '"') {
      quoted = !quoted;
    } else if (header[i] == ',' && !quoted) {
      return header.substr(0, i);
    }
  }
  return header;
}

// The system of the configuration, and a client of it; both end before the backends do.
class RunningSystem {
 public:
  RunningSystem(const std::string& format, const std::string& text, int port) : memcached_(format == "twemproxy") {
    const std::string file = dir_.path() + "/config";
    std::ofstream(file) << text;
    std::vector<std::string> argv = {"haproxy", "-db", "-f", file};
    if (format == "nginx") argv = {"nginx", "-p", dir_.path(), "-c", file};
    if (memcached_) {
      argv = {"nutcracker", "-c", file, "-s", std::to_string(slipring::testing::free_port()), "-a", "127.0.0.1"};
    }
    auto started = ChildProcess::start(argv, dir_.path() + "/log");
    EXPECT_TRUE(started) << started.error().message;
    if (started) process_ = std::move(*started);
    client_ = std::make_unique<AskingClient>(static_cast<uint16_t>(port));
  }
  ~RunningSystem() {
    client_.reset();
    process_.kill();
  }
  RunningSystem(const RunningSystem&) = delete;
  RunningSystem& operator=(const RunningSystem&) = delete;

  int ask(const std::string& key) { return memcached_ ? client_->memcached_get(key) : client_->http_get(key); }

 private:
  TempDir dir_;
  bool memcached_;
  ChildProcess process_;
  std::unique_ptr<AskingClient> client_;
};

class ImportedPlacement : public ::testing::TestWithParam<Imported> {};

TEST_P(ImportedPlacement, TheImportedPoolNamesTheServerThatAnswers) {
  const Imported& given = GetParam();
  AnsweringBackends backends(given.backends);
  const int port = slipring::testing::free_port();
  std::string text = given.text;
  replace_all(text, "{port}", std::to_string(port));
  for (size_t i = 0; i < backends.size(); ++i) replace_all(text, fmt::format("{{{}}}", i), backends.address(i));
  import::Options options;
  options.pool = given.pool;
  const auto imported = import::import_pool(given.format, text, "config", options);
  ASSERT_TRUE(imported) << imported.error().message << "\n" << text;
  const bool by_header = given.text.find("balance hdr(") != std::string::npos;
  const auto scheme = make_scheme(imported->pool.layout);
  ASSERT_TRUE(scheme) << scheme.error().message;
  RunningSystem system(given.format, text, port);
  size_t differing = 0;
  for (const std::string& key : random_keys()) {
    const int answered = system.ask(key);
    const NodeIndex owner = (*scheme)->owner(by_header ? first_value(key) : key);
    ASSERT_NE(owner, kNoNode);
    const std::string& address = imported->pool.layout.nodes[owner].instance.address;
    const bool same = answered >= 0 && backends.address(static_cast<size_t>(answered)) == address;
    if (!same && ++differing <= 3) ADD_FAILURE() << key << ": backend " << answered << ", here " << address;
  }
  EXPECT_EQ(differing, 0u) << "of " << kKeys;
}

INSTANTIATE_TEST_SUITE_P(Live, ImportedPlacement, ::testing::ValuesIn(configurations()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace slipring
