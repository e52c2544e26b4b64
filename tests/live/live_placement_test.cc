// The schemes against the running systems: nutcracker, nginx and HAProxy, started on free loopback ports, are asked for
// 2,000 random keys each, and the server that answers must be the one that the scheme names.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "slipring/base/random.h"
#include "slipring/placement/scheme.h"
#include "tests/support/answering_backends.h"
#include "tests/support/child_process.h"

namespace slipring {
namespace {

using slipring::testing::AnsweringBackends;
using slipring::testing::AskingClient;
using slipring::testing::ChildProcess;
using slipring::testing::TempDir;

constexpr size_t kKeys = 2000;

enum class System { kTwemproxy, kNginx, kHaproxy };

struct LiveCase {
  std::string name;
  System system = System::kTwemproxy;
  std::vector<int> weights;
  SchemeSpec spec;
  std::string settings;         // lines of the system's configuration
  bool named = false;           // twemproxy: servers have names
  uint16_t port = 0;            // of all backends; 0: any
  std::vector<uint32_t> ids;    // HAProxy: 0 is automatic
  std::vector<size_t> out;      // servers that are down, disabled or ejected
  std::string key_front = {};   // stands before every random key
  std::string key_middle = {};  // and between its halves
};

std::string server_name(size_t i) {
  return fmt::format("cache-{:02}", i * 37 % 100);
}

bool is_out(const LiveCase& live, size_t i) {
  return std::find(live.out.begin(), live.out.end(), i) != live.out.end();
}

std::vector<Member> members_of(const LiveCase& live, const AnsweringBackends& backends) {
  std::vector<Member> members;
  for (size_t i = 0; i < backends.size(); ++i) {
    Member member;
    member.name = fmt::format("s{}", i);
    member.weight_milli = live.weights[i] * 1000;
    if (live.system == System::kTwemproxy && !live.named) {
      member.attributes["address"] = backends.address(i);
    } else {
      member.label = live.named ? server_name(i) : backends.address(i);
    }
    const std::string flag = live.system == System::kTwemproxy ? "ejected"
                             : live.system == System::kNginx   ? "down"
                                                               : "disabled";
    if (is_out(live, i)) member.attributes[flag] = "true";
    if (!live.ids.empty()) member.attributes["id"] = std::to_string(live.ids[i]);
    members.push_back(std::move(member));
  }
  return members;
}

std::string twemproxy_config(const LiveCase& live, const AnsweringBackends& backends, int port) {
  std::string text = fmt::format("pool:\n  listen: 127.0.0.1:{}\n  timeout: 5000\n{}  servers:\n", port, live.settings);
  for (size_t i = 0; i < backends.size(); ++i) {
    text += fmt::format("   - {}:{}{}\n", backends.address(i), live.weights[i], live.named ? " " + server_name(i) : "");
  }
  return text;
}

std::string nginx_config(const LiveCase& live, const AnsweringBackends& backends, int port) {
  std::string servers;
  for (size_t i = 0; i < backends.size(); ++i) {
    servers +=
        fmt::format("  server {} weight={}{};\n", backends.address(i), live.weights[i], is_out(live, i) ? " down" : "");
  }
  return fmt::format(
      "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\nevents {{ worker_connections 256; }}\n"
      "http {{\n access_log off;\n client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;\n"
      " uwsgi_temp_path t4; scgi_temp_path t5;\n keepalive_requests 100000;\n"
      " upstream u {{\n  {}\n{} }}\n server {{ listen 127.0.0.1:{}; location / {{ proxy_pass http://u; }} }}\n}}\n",
      live.settings, servers, port);
}

std::string haproxy_config(const LiveCase& live, const AnsweringBackends& backends, int port) {
  std::string text = fmt::format(
      "global\n nbthread 1\n maxconn 200\ndefaults\n mode http\n timeout connect 10s\n timeout client 60s\n"
      " timeout server 60s\nfrontend f\n bind 127.0.0.1:{}\n default_backend b\nbackend b\n"
      " balance hash req.fhdr(x-key)\n {}\n",
      port, live.settings);
  for (size_t i = 0; i < backends.size(); ++i) {
    const bool has_id = !live.ids.empty() && live.ids[i] != 0;
    text += fmt::format(" server s{} {} weight {}{}{}\n", i, backends.address(i), live.weights[i],
                        has_id ? fmt::format(" id {}", live.ids[i]) : "", is_out(live, i) ? " disabled" : "");
  }
  return text;
}

class RunningProxy {
 public:
  RunningProxy(const LiveCase& live, const AnsweringBackends& backends) : port_(slipring::testing::free_port()) {
    const std::string file = dir_.path() + "/config";
    const std::string log = dir_.path() + "/log";
    std::vector<std::string> argv;
    std::string config;
    if (live.system == System::kTwemproxy) {
      config = twemproxy_config(live, backends, port_);
      argv = {"nutcracker", "-c", file, "-s", std::to_string(slipring::testing::free_port()), "-a", "127.0.0.1"};
    } else if (live.system == System::kNginx) {
      config = nginx_config(live, backends, port_);
      argv = {"nginx", "-p", dir_.path(), "-c", file};
    } else {
      config = haproxy_config(live, backends, port_);
      argv = {"haproxy", "-db", "-f", file};
    }
    std::ofstream(file) << config;
    auto started = ChildProcess::start(argv, log);
    EXPECT_TRUE(started) << started.error().message;
    if (started) process_ = std::move(*started);
  }
  ~RunningProxy() { process_.kill(); }
  RunningProxy(const RunningProxy&) = delete;
  RunningProxy& operator=(const RunningProxy&) = delete;

  uint16_t port() const { return static_cast<uint16_t>(port_); }

 private:
  TempDir dir_;
  int port_;
  ChildProcess process_;
};

// 1 to 60 bytes above the blank, one in eight of them above 0x7f.
std::string random_bytes(Random* random) {
  std::string bytes;
  const uint64_t length = 1 + random->below(60);
  for (uint64_t i = 0; i < length; ++i) {
    const bool high = random->chance(0.125);
    bytes.push_back(static_cast<char>(high ? 0x80 + random->below(0x80) : '!' + random->below(94)));
  }
  return bytes;
}

std::vector<std::string> random_keys(const LiveCase& live) {
  Random random(20261201);
  std::vector<std::string> keys;
  while (keys.size() < kKeys) {
    std::string key = live.key_front + random_bytes(&random);
    if (!live.key_middle.empty()) key += live.key_middle + random_bytes(&random);
    keys.push_back(std::move(key));
  }
  return keys;
}

class LivePlacement : public ::testing::TestWithParam<LiveCase> {};

TEST_P(LivePlacement, TheSchemeNamesTheServerThatAnswers) {
  const LiveCase& live = GetParam();
  AnsweringBackends backends(live.weights.size(), live.port);
  const bool ejected = live.system == System::kTwemproxy && !live.out.empty();
  if (ejected) backends.refuse(live.out.front());
  const auto scheme = make_scheme(live.spec, members_of(live, backends));
  ASSERT_TRUE(scheme) << scheme.error().message;
  RunningProxy proxy(live, backends);
  AskingClient client(proxy.port());
  const auto ask = [&](const std::string& key) {
    return live.system == System::kTwemproxy ? client.memcached_get(key) : client.http_get(key);
  };
  const std::vector<std::string> keys = random_keys(live);
  // The first key that goes to a dead server gets an error, and the server is out from then on.
  if (ejected) {
    for (const std::string& key : keys) {
      if (ask(key) < 0) break;
    }
  }
  size_t differing = 0;
  for (const std::string& key : keys) {
    const int answered = ask(key);
    const auto expected = static_cast<int>((*scheme)->owner(key));
    if (answered != expected && ++differing <= 3) ADD_FAILURE() << key << ": " << answered << ", here " << expected;
  }
  EXPECT_EQ(differing, 0u) << "of " << keys.size();
}

SchemeSpec twemproxy(const std::string& distribution, const std::string& hash) {
  return {"twemproxy", {{"distribution", distribution}, {"hash", hash}}};
}

std::string pool(const std::string& distribution, const std::string& hash, const std::string& more = "") {
  return fmt::format("  distribution: {}\n  hash: {}\n{}", distribution, hash, more);
}

SchemeSpec haproxy(const std::string& type, const std::string& function, const std::string& avalanche) {
  return {"haproxy", {{"hash_type", type}, {"function", function}, {"avalanche", avalanche}}};
}

const std::vector<int> kUnequal = {1, 2, 3, 5, 8};
const std::vector<int> kTwelve(12, 1);

std::vector<LiveCase> twemproxy_cases() {
  SchemeSpec tagged = twemproxy("ketama", "murmur");
  tagged.options["hash_tag"] = "{}";
  return {
      {"twemproxy_ketama_weights", System::kTwemproxy, kUnequal, twemproxy("ketama", "fnv1a_64"),
       pool("ketama", "fnv1a_64"), true},
      {"twemproxy_ketama_twelve_unnamed_at_11211", System::kTwemproxy, kTwelve, twemproxy("ketama", "md5"),
       pool("ketama", "md5"), false, 11211},
      {"twemproxy_modula_unnamed_weights",
       System::kTwemproxy,
       {3, 1, 4, 1, 5, 9, 2},
       twemproxy("modula", "crc16"),
       pool("modula", "crc16")},
      {"twemproxy_hash_tag",
       System::kTwemproxy,
       kUnequal,
       tagged,
       pool("ketama", "murmur", "  hash_tag: \"{}\"\n"),
       true,
       0,
       {},
       {},
       "a{",
       "}"},
      {"twemproxy_ejected",
       System::kTwemproxy,
       kUnequal,
       twemproxy("ketama", "hsieh"),
       pool("ketama", "hsieh", "  auto_eject_hosts: true\n  server_retry_timeout: 600000\n  server_failure_limit: 1\n"),
       true,
       0,
       {},
       {2}},
      {"twemproxy_modula_jenkins_twelve", System::kTwemproxy, kTwelve, twemproxy("modula", "jenkins"),
       pool("modula", "jenkins"), true},
  };
}

std::vector<LiveCase> nginx_cases() {
  const SchemeSpec consistent = {"nginx", {{"method", "consistent"}}};
  const SchemeSpec modulo = {"nginx", {{"method", "hash"}}};
  const std::string hash = "hash $http_x_key;";
  const std::string hash_consistent = "hash $http_x_key consistent;";
  return {
      {"nginx_hash_weights", System::kNginx, kUnequal, modulo, hash},
      {"nginx_consistent_weights", System::kNginx, kUnequal, consistent, hash_consistent},
      {"nginx_consistent_twelve", System::kNginx, kTwelve, consistent, hash_consistent},
      {"nginx_consistent_down", System::kNginx, kUnequal, consistent, hash_consistent, false, 0, {}, {1, 4}},
      {"nginx_hash_down", System::kNginx, kUnequal, modulo, hash, false, 0, {}, {3}},
  };
}

std::vector<LiveCase> haproxy_cases() {
  const SchemeSpec by_default = {"haproxy", {{"hash_type", "consistent"}}};
  return {
      {"haproxy_consistent_weights", System::kHaproxy, kUnequal, by_default, "hash-type consistent"},
      {"haproxy_consistent_mixed_ids",
       System::kHaproxy,
       kTwelve,
       haproxy("consistent", "djb2", "true"),
       "hash-type consistent djb2 avalanche",
       false,
       0,
       {0, 1, 0, 3, 0, 90, 0, 0, 7, 8, 0, 0}},
      {"haproxy_consistent_disabled",
       System::kHaproxy,
       kUnequal,
       haproxy("consistent", "wt6", "false"),
       "hash-type consistent wt6",
       false,
       0,
       {},
       {1}},
      {"haproxy_map_weights",
       System::kHaproxy,
       {10, 20, 30, 0, 45},
       haproxy("map-based", "crc32", "false"),
       "hash-type map-based crc32"},
      {"haproxy_map_disabled",
       System::kHaproxy,
       kTwelve,
       haproxy("map-based", "sdbm", "true"),
       "hash-type map-based sdbm avalanche",
       false,
       0,
       {},
       {0, 5}},
  };
}

std::string case_name(const ::testing::TestParamInfo<LiveCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Twemproxy, LivePlacement, ::testing::ValuesIn(twemproxy_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Nginx, LivePlacement, ::testing::ValuesIn(nginx_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Haproxy, LivePlacement, ::testing::ValuesIn(haproxy_cases()), case_name);

}  // namespace
}  // namespace slipring
