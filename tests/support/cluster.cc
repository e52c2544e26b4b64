#include "tests/support/cluster.h"

#include <fmt/format.h>

#include <cstdio>

#include "slipring/base/check.h"
#include "slipring/base/secret_file.h"
#include "slipring/control/secret_file.h"

namespace slipring::testing {
namespace {

constexpr double kStartSeconds = 30;

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)), channel_port_(free_port()) {
  for (int n = 1; n <= options_.nodes; ++n) server(n);
  store_ = EmbeddedStore::open(dir_.path() + "/meta.db", clock_).value();
  start_controller();
  routers_.resize(static_cast<size_t>(options_.routers));
  for (int r = 1; r <= options_.routers; ++r) start_router(r);
  SLIPRING_CHECK(eventually(kStartSeconds, [&] { return routers_ready(); }), "routers serve by the first epoch");
}

Cluster::~Cluster() {
  routers_.clear();
  controller_.reset();
}

RedisServer& Cluster::server(int n) {
  auto& slot = servers_[n];
  if (slot == nullptr) {
    slot = std::make_unique<RedisServer>(options_.server);
    slot->start();
    write_files();
  }
  return *slot;
}

void Cluster::write_files() {
  std::vector<control::NodeCredential> lines;
  for (const auto& [n, s] : servers_) lines.push_back({s->address(), s->admin_user(), s->admin_password()});
  SLIPRING_CHECK(write_secret_file(dir_.path() + "/credentials", control::format_credentials(lines)).has_value(),
                 "a file in a temporary directory");
  SLIPRING_CHECK(write_secret_file(dir_.path() + "/token", "0123456789abcdef0123456789abcdef\n").has_value(),
                 "a file in a temporary directory");
}

std::unique_ptr<control::Controller> Cluster::make_controller(const std::string& id) {
  control::ControllerOptions o;
  o.id = id;
  o.dir = dir_.path();
  o.channel = fmt::format("127.0.0.1:{}", id == "c1" ? channel_port_ : 0);
  o.channel_token_file = dir_.path() + "/token";
  o.credentials_file = dir_.path() + "/credentials";
  o.plan = options_.plan;
  Pool pool;
  pool.name = "main";
  pool.layout.scheme.name = options_.scheme;
  pool.layout.scheme.options = options_.scheme_options;
  for (int n = 1; n <= options_.nodes; ++n) {
    Node node;
    node.name = node_name(n);
    node.instance.address = servers_[n]->address();
    pool.layout.nodes.push_back(node);
  }
  o.seed.push_back(pool);
  auto controller = control::Controller::start(o, *store_, clock_, nullptr);
  SLIPRING_CHECK(controller.has_value(), "the controller's addresses are free");
  return std::move(*controller);
}

void Cluster::start_controller(const std::string& id) {
  controller_ = make_controller(id);
  SLIPRING_CHECK(eventually(kStartSeconds, [&] { return controller_->ready().has_value(); }), "the controller leads");
}

void Cluster::start_router(int r) {
  router::Options o;
  o.id = fmt::format("r{}", r);
  o.listen = "127.0.0.1:0";
  o.controllers = {fmt::format("127.0.0.1:{}", channel_port_)};
  o.token_file = dir_.path() + "/token";
  o.dir = dir_.path();
  auto router = router::Router::start(o);
  SLIPRING_CHECK(router.has_value(), "a router starts");
  routers_[static_cast<size_t>(r - 1)] = std::move(*router);
}

bool Cluster::routers_ready() {
  auto status = controller_->status();
  if (!status) return false;
  for (const auto& router : routers_) {
    if (router != nullptr && (!router->not_ready().empty() || router->epoch() != status->epoch)) return false;
  }
  return true;
}

redis::Client Cluster::client(int r) {
  auto client = redis::Client::connect({fmt::format("127.0.0.1:{}", router(r).port()), "", "", ""});
  SLIPRING_CHECK(client.has_value(), "the router accepts");
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
  auto preview = controller_->preview(request);
  if (!preview) std::fprintf(stderr, "preview: %s\n", preview.error().message.c_str());
  SLIPRING_CHECK(preview.has_value(), "the change can be planned");
  auto started = controller_->start(request, preview->epoch);
  if (!started) std::fprintf(stderr, "start: %s\n", started.error().message.c_str());
  SLIPRING_CHECK(started.has_value(), "the plan starts");
  for (const control::Finding& f : started->findings)
    std::fprintf(stderr, "%s: %s\n", f.check.c_str(), f.message.c_str());
  SLIPRING_CHECK(started->plan != 0, "preflight does not refuse");
  return started->plan;
}

control::PlanSummary Cluster::summary(uint64_t plan) {
  return controller_->plan(plan, {})->summary;
}

bool Cluster::reaches(uint64_t plan, control::PlanState state, double seconds) {
  const bool reached = eventually(seconds, [&] {
    auto detail = controller_->plan(plan, {});
    return detail && detail->summary.state == state;
  });
  if (!reached) print_events(plan);
  return reached;
}

void Cluster::print_events(uint64_t plan) {
  if (auto detail = controller_->plan(plan, {})) {
    std::fprintf(stderr, "plan %llu: state %d, reason: %s\n", static_cast<unsigned long long>(plan),
                 static_cast<int>(detail->summary.state), detail->summary.reason.c_str());
    for (const auto& m : detail->moves) {
      std::fprintf(stderr, "  move %u %s -> %s stage %d keys %llu dirty %llu attempts %u: %s\n", m.index,
                   m.source.c_str(), m.target.c_str(), static_cast<int>(m.stage),
                   static_cast<unsigned long long>(m.keys_done), static_cast<unsigned long long>(m.dirty_keys),
                   m.attempts, m.reason.c_str());
    }
  }
  auto events = controller_->plan_events(plan, 0, 1000);
  if (!events) return;
  for (const auto& e : *events) std::fprintf(stderr, "  %s\n", e.text.c_str());
}

std::map<std::string, std::vector<int>> Cluster::keys_by_server() {
  std::map<std::string, std::vector<int>> found;
  for (const auto& [n, s] : servers_) {
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
