#include "tests/support/cluster.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "slipring/base/check.h"
#include "slipring/base/secret_file.h"
#include "slipring/control/secret_file.h"

namespace slipring::testing {
namespace {

constexpr double kClusterStartSeconds = 60;

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  for (int n = 1; n <= options_.nodes; ++n) server(n);
  for (int c = 1; c <= options_.controllers; ++c) {
    api_ports_[c] = free_port();
    channel_ports_[c] = free_port();
  }
  start_controller(1);
  controller();
  for (int r = 1; r <= options_.routers; ++r) start_router(r);
  SLIPRING_CHECK(eventually(kClusterStartSeconds, [&] { return routers_ready(); }), "routers serve by the first epoch");
}

RedisServer& Cluster::server(int n) {
  auto& slot = servers_[n];
  if (slot == nullptr) {
    slot = std::make_unique<RedisServer>(options_.server);
    slot->start();
    write_secrets();
  }
  return *slot;
}

void Cluster::write_secrets() {
  std::vector<control::NodeCredential> lines;
  for (const auto& [n, s] : servers_) lines.push_back({s->address(), s->admin_user(), s->admin_password()});
  const bool ok = write_secret_file(dir_.path() + "/credentials", control::format_credentials(lines)) &&
                  write_secret_file(dir_.path() + "/token", "0123456789abcdef0123456789abcdef\n");
  SLIPRING_CHECK(ok, "files in a temporary directory can be written");
}

std::string Cluster::pool_table() const {
  std::string text = fmt::format("[[pool]]\nname = \"main\"\nfence = \"{}\"\nscheme = \"{}\"\noptions = {{ {} }}\n",
                                 options_.fence, options_.scheme, options_.scheme_options);
  for (int n = 1; n <= options_.nodes; ++n) {
    text += fmt::format("[[pool.node]]\nname = \"{}\"\naddress = \"{}\"\n", node_name(n), servers_.at(n)->address());
  }
  return text;
}

void Cluster::start_controller(int n, const std::string& fault, bool stops) {
  const std::string path = fmt::format("{}/c{}.toml", dir_.path(), n);
  write_file(path, fmt::format("[controller]\nid = \"c{0}\"\ndir = \"{1}/meta\"\napi = \"127.0.0.1:{2}\"\n"
                               "channel = \"127.0.0.1:{3}\"\nchannel_token_file = \"{1}/token\"\n"
                               "credentials_file = \"{1}/credentials\"\nlease = \"1s\"\n[move]\n{4}\n{5}",
                               n, dir_.path(), api_ports_[n], channel_ports_[n], options_.move, pool_table()));
  std::vector<std::string> argv = {"env"};
  if (!fault.empty()) {
    argv.push_back("SLIPRING_FAULT_POINT=" + fault);
    argv.push_back(stops ? "SLIPRING_FAULT_ACTION=stop" : "SLIPRING_FAULT_ACTION=kill");
  }
  argv.insert(argv.end(), {SLIPRING_PROGRAM, "controller", "--config", path});
  auto child = ChildProcess::start(argv, fmt::format("{}/c{}.log", dir_.path(), n));
  SLIPRING_CHECK(child.has_value(), "a process can be started");
  controllers_[n] = std::move(*child);
  apis_[n] = control::ApiClient::make({fmt::format("127.0.0.1:{}", api_ports_[n]), "", 500, options_.answer_ms}).value();
}

bool Cluster::leads(int n) {
  return apis_.contains(n) && !controllers_[n].stopped() && apis_[n]->ready().has_value();
}

control::ControllerService* Cluster::leader() {
  for (const auto& [n, api] : apis_) {
    if (leads(n)) return api.get();
  }
  return nullptr;
}

control::ControllerService& Cluster::controller() {
  control::ControllerService* found = nullptr;
  const bool leads_now = eventually(kClusterStartSeconds, [&] { return (found = leader()) != nullptr; });
  SLIPRING_CHECK(leads_now, "a controller leads; see its log in the cluster's directory");
  return *found;
}

void Cluster::start_router(int r) {
  if (!router_ports_.contains(r)) router_ports_[r] = free_port();
  std::string controllers;
  for (const auto& [n, port] : channel_ports_) controllers += fmt::format("\"127.0.0.1:{}\",", port);
  const std::string path = fmt::format("{}/r{}.toml", dir_.path(), r);
  write_file(path, fmt::format("[router]\nid = \"r{0}\"\nlisten = \"127.0.0.1:{2}\"\ncontrollers = [{3}]\n"
                               "token_file = \"{1}/token\"\nnode_credentials_file = \"{1}/credentials\"\ndir = \"{1}\"\n",
                               r, dir_.path(), router_ports_[r], controllers));
  auto child =
      ChildProcess::start({SLIPRING_PROGRAM, "router", "--config", path}, fmt::format("{}/r{}.log", dir_.path(), r));
  SLIPRING_CHECK(child.has_value(), "a process can be started");
  router_processes_[r] = std::move(*child);
}

bool Cluster::routers_ready() {
  auto status = controller().status();
  if (!status) return false;
  for (auto& [r, process] : router_processes_) {
    if (!process.running()) continue;
    bool serving = false;
    for (const auto& known : status->routers) {
      serving = serving || (known.id == fmt::format("r{}", r) && known.state == control::RouterState::kServing);
    }
    if (!serving) return false;
  }
  return true;
}

redis::Client Cluster::client(int r) {
  Result<redis::Client> client = fail(Code::kUnavailable, "");
  const bool connected = eventually(kClusterStartSeconds, [&] {
    client = redis::Client::connect({fmt::format("127.0.0.1:{}", router_ports_.at(r)), "", "", ""});
    return client.has_value();
  });
  SLIPRING_CHECK(connected, "the router accepts");
  return std::move(*client);
}

redis::Client Cluster::admin(int n) {
  RedisServer& s = server(n);
  auto client = redis::Client::connect({s.address(), s.admin_user(), s.admin_password(), "slipring/test"});
  SLIPRING_CHECK(client.has_value(), "the server accepts its administrator");
  return std::move(*client);
}

uint64_t Cluster::start(const control::Change& change, control::PlanOptions options) {
  const control::ChangeRequest request{"main", change, options};
  auto preview = controller().preview(request);
  if (!preview) std::fprintf(stderr, "preview: %s\n", preview.error().message.c_str());
  SLIPRING_CHECK(preview.has_value(), "the change can be planned");
  auto started = controller().start(request, preview->epoch);
  // A controller that a fault point ends in the middle of its answer has opened the plan all the same.
  ++last_plan_;
  if (!started && started.error().code != Code::kFailedPrecondition && !leader()) return last_plan_;
  if (!started) std::fprintf(stderr, "start: %s\n", started.error().message.c_str());
  SLIPRING_CHECK(started.has_value(), "the plan starts");
  for (const control::Finding& f : started->findings) {
    std::fprintf(stderr, "%s: %s: %s\n", f.subject.c_str(), f.check.c_str(), f.message.c_str());
  }
  SLIPRING_CHECK(started->plan != 0, "preflight does not refuse");
  last_plan_ = started->plan;
  return started->plan;
}

control::PlanDetail Cluster::detail(uint64_t plan) {
  control::ControllerService* service = leader();
  auto answer = service != nullptr ? service->plan(plan, {}) : Result<control::PlanDetail>(control::PlanDetail());
  return answer.value_or(control::PlanDetail());
}

bool Cluster::reaches(uint64_t plan, control::PlanState state, double seconds) {
  const bool reached = eventually(seconds, [&] { return detail(plan).summary.state == state; });
  if (!reached) print(plan);
  return reached;
}

void Cluster::print(uint64_t plan) {
  const control::PlanDetail d = detail(plan);
  std::fprintf(stderr, "plan %llu: state %d, reason: %s\n", static_cast<unsigned long long>(plan),
               static_cast<int>(d.summary.state), d.summary.reason.c_str());
  for (const auto& m : d.moves) {
    std::fprintf(stderr, "  move %u %s -> %s stage %d keys %llu dirty %llu attempts %u: %s\n", m.index,
                 m.source.c_str(), m.target.c_str(), static_cast<int>(m.stage),
                 static_cast<unsigned long long>(m.keys_done), static_cast<unsigned long long>(m.dirty_keys),
                 m.attempts, m.reason.c_str());
  }
  auto events = controller().plan_events(plan, 0, 1000);
  if (!events) return;
  for (const auto& e : *events) std::fprintf(stderr, "  %s\n", e.text.c_str());
}

std::string Cluster::log(const std::string& part) const {
  std::ifstream file(fmt::format("{}/{}.log", dir_.path(), part));
  return "\n" + std::string(std::istreambuf_iterator<char>(file), {});
}

std::map<std::string, std::vector<int>> Cluster::keys_by_server() {
  std::map<std::string, std::vector<int>> found;
  for (const auto& [n, s] : servers_) {
    if (!s->process().running()) continue;
    redis::Client client = admin(n);
    std::string cursor = "0";
    do {
      auto page = client.call({"SCAN", cursor, "COUNT", "1000"});
      SLIPRING_CHECK(page.has_value(), "the server scans");
      cursor = page->items[0].text;
      for (const redis::Reply& key : page->items[1].items) {
        auto& holders = found[key.text];
        if (holders.empty() || holders.back() != n) holders.push_back(n);
      }
    } while (cursor != "0");
  }
  return found;
}

}  // namespace slipring::testing
