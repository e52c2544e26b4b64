#include "slipring/cli/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/base/log.h"
#include "slipring/base/parse.h"
#include "slipring/cli/unix_socket.h"
#include "slipring/control/api_client.h"
#include "slipring/control/secret_file.h"
#include "slipring/net/blocking_stream.h"
#include "slipring/store/redis/client.h"

namespace slipring::cli {
namespace {

constexpr int64_t kBackoffMinMs = 200;
constexpr int64_t kBackoffMaxMs = 5'000;
constexpr int64_t kStableMs = 30'000;  // a child that ran this long starts again without delay
constexpr int64_t kStartMs = 120'000;  // for a child to answer first
constexpr int64_t kWatchEveryMs = 5'000;
constexpr int kMissingLooks = 2;
constexpr int64_t kRequestMs = 2'000;
constexpr int64_t kEndFrontMs = 15'000;
constexpr int64_t kEndNodeMs = 60'000;
constexpr std::string_view kFront[] = {"router-", "controller"};

std::string node_child(std::string_view node) {
  return fmt::format("node-{}", node);
}
bool is_front(std::string_view child) {
  return std::any_of(std::begin(kFront), std::end(kFront), [&](std::string_view p) { return child.starts_with(p); });
}

// Names of the children that have a pid file.
std::vector<std::string> known_children(const UpLayout& layout) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(layout.path("run"), error)) {
    if (entry.path().extension() == ".pid") names.push_back(entry.path().stem());
  }
  return names;
}

void end_some(const UpLayout& layout, const std::vector<std::string>& names, int64_t wait_ms, std::ostream& out) {
  std::vector<std::pair<std::string, Process>> processes;
  for (const std::string& name : names) {
    if (auto process = Process::adopt(layout.pid_file(name))) {
      process->signal(SIGTERM);
      process->signal(SIGCONT);
      processes.emplace_back(name, std::move(*process));
    }
  }
  const SystemClock clock;
  const MonoTime until = clock.now() + Millis(wait_ms);
  for (auto& [name, process] : processes) {
    if (!process.wait(std::max<int64_t>(0, std::chrono::duration_cast<Millis>(until - clock.now()).count()))) {
      out << fmt::format("{} did not end in {} s: killed\n", name, wait_ms / 1000);
      process.signal(SIGKILL);
      process.wait(kEndFrontMs);
    }
  }
  for (const std::string& name : names) std::filesystem::remove(layout.pid_file(name));
}

// Signals that end the supervisor arrive as bytes, so that poll() sees them.
int signal_pipe[2] = {-1, -1};
void on_signal(int) {
  const int before = errno;
  static_cast<void>(!::write(signal_pipe[1], "x", 1));
  errno = before;
}

void take_signals() {
  if (signal_pipe[0] < 0) static_cast<void>(!::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK));
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

bool signalled() {
  pollfd p{signal_pipe[0], POLLIN, 0};
  return ::poll(&p, 1, 0) > 0;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last.substr(0, 300);
}

}  // namespace

// ---- lock
// ------------------------------------------------------------------------------------------------------------

Result<UpLock> UpLock::take(const UpLayout& layout) {
  const std::string path = layout.path("up.lock");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Code::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  UpLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    static_cast<void>(!::pread(fd, pid, sizeof pid - 1, 0));
    return fail(Code::kFailedPrecondition,
                fmt::format("{}: `slipring up` runs here already (pid {})", layout.dir(), pid));
  }
  const std::string pid = fmt::format("{}", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    return fail(Code::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return lock;
}

UpLock::UpLock(UpLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
UpLock::~UpLock() {
  if (fd_ >= 0) ::close(fd_);
}

void end_all_children(const UpLayout& layout, std::ostream& out) {
  std::vector<std::string> front = known_children(layout);
  std::vector<std::string> nodes = front;
  std::erase_if(front, [](const std::string& name) { return !is_front(name); });
  std::erase_if(nodes, [](const std::string& name) { return is_front(name); });
  end_some(layout, front, kEndFrontMs, out);
  end_some(layout, nodes, kEndNodeMs, out);
}

// ---- start
// -----------------------------------------------------------------------------------------------------------

Supervisor::Supervisor(Context& context, Config config, UpLayout layout)
    : context_(context), config_(std::move(config)), layout_(std::move(layout)) {}
Supervisor::~Supervisor() {
  if (socket_ >= 0) ::close(socket_);
}

Result<Exit> Supervisor::run() {
  SLIPRING_ASSIGN(const UpLock lock, UpLock::take(layout_));
  take_signals();
  Status ok = prepare();
  if (ok) ok = start_all();
  if (ok && !ending_) {
    print_what_runs();
    work();
  }
  context_.console.err << "ending: routers and controller, then the store servers\n";
  ::unlink(layout_.path("up.sock").c_str());
  end_all_children(layout_, context_.console.err);
  if (!ok) return fail(ok.error());
  return Exit::kDone;
}

Status Supervisor::prepare() {
  SLIPRING_TRY(layout_.ensure_token());
  SLIPRING_ASSIGN(state_, layout_.load_state());
  if (state_.channel_port == 0) {
    SLIPRING_ASSIGN(state_.channel_port, find_free_port({}));
    for (uint32_t i = 1; i <= config_.up.nodes; ++i) {
      SLIPRING_ASSIGN(const uint16_t port, find_free_port(state_.ports()));
      state_.nodes.push_back({fmt::format("n{}", i), port, false});
      state_.seed.push_back(state_.nodes.back());
    }
    SLIPRING_TRY(layout_.save_state(state_));
  }
  SLIPRING_TRY(layout_.write_controller(config_, state_));
  for (uint32_t i = 1; i <= config_.up.routers; ++i) {
    SLIPRING_TRY(layout_.write_router(config_, state_, i));
  }
  return open_socket();
}

Status Supervisor::start_all() {
  // What an earlier `up` left: store servers that are still needed go on, everything else is started afresh.
  std::vector<std::string> stale = known_children(layout_);
  std::erase_if(stale, [&](const std::string& name) {
    return std::any_of(state_.nodes.begin(), state_.nodes.end(),
                       [&](const UpNode& n) { return node_child(n.name) == name; });
  });
  end_some(layout_, stale, kEndFrontMs, context_.console.err);
  for (const UpNode& node : state_.nodes) {
    SLIPRING_TRY(start_node(node));
  }
  for (const UpNode& node : state_.nodes) {
    SLIPRING_TRY(wait_for_node(node));
  }
  const auto daemon = [&](const std::string& kind, const std::string& file) {
    return std::vector<std::string>{context_.program, kind, "--config", layout_.path(file)};
  };
  SLIPRING_TRY(start_child("controller", daemon("controller", "controller.toml"), false));
  SLIPRING_TRY(wait_for_controller());
  for (uint32_t i = 1; i <= config_.up.routers; ++i) {
    SLIPRING_TRY(start_child(fmt::format("router-{}", i), daemon("router", fmt::format("router-{}.toml", i)), false));
  }
  for (uint32_t i = 1; i <= config_.up.routers; ++i) {
    SLIPRING_TRY(wait_for_router(i));
  }
  return {};
}

Status Supervisor::start_child(const std::string& name, std::vector<std::string> argv, bool adopt) {
  Child& child = children_[name];
  child.name = name;
  child.argv = std::move(argv);
  child.started = clock_.now();
  if (auto found = adopt ? Process::adopt(layout_.pid_file(name)) : std::nullopt) {
    child.process = std::move(*found);
    return {};
  }
  SLIPRING_ASSIGN(child.process, Process::start(child.argv, layout_.log_file(name), layout_.pid_file(name)));
  return {};
}

Status Supervisor::start_node(const UpNode& node) {
  const std::string name = node_child(node.name);
  // A server that runs keeps the access list that it has in memory; the file is for the next start.
  SLIPRING_TRY(layout_.write_node(node, config_.up.fsync));
  return start_child(name, {config_.up.redis_server, layout_.path("node/" + node.name + "/redis.conf")}, true);
}

// Polls until `answers` is true. kUnavailable when the child ends, kDeadlineExceeded after kStartMs; a signal to end
// the supervisor ends the waiting without an error.
template <typename Answers>
static Status wait_for(const Clock& clock, const std::string& what, Answers answers) {
  const MonoTime until = clock.now() + Millis(kStartMs);
  while (clock.now() < until && !signalled()) {
    SLIPRING_ASSIGN(const bool ready, answers());
    if (ready) return {};
    ::poll(nullptr, 0, 20);
  }
  if (signalled()) return {};
  return fail(Code::kDeadlineExceeded, fmt::format("{}: does not answer after {} s", what, kStartMs / 1000));
}

Status Supervisor::check_running(const std::string& child) {
  if (children_.at(child).process.running()) return {};
  return fail(Code::kUnavailable, fmt::format("{} has ended: {} (whole log: {})", child,
                                              last_line(layout_.log_file(child)), layout_.log_file(child)));
}

Status Supervisor::wait_for_node(const UpNode& node) {
  SLIPRING_ASSIGN(const control::NodeCredentials all, control::NodeCredentials::read(layout_.path("credentials")));
  const control::NodeCredential* credential = all.find(node_address(node));
  const std::string child = node_child(node.name);
  return wait_for(clock_, "node " + node.name, [&]() -> Result<bool> {
    SLIPRING_TRY(check_running(child));
    const auto client = redis::Client::connect(
        {node_address(node), credential->user, credential->password, "up", Millis(500), Millis(500)});
    // A server that loads its data has started; the controller waits for the rest.
    return client.has_value() || client.error().message.find("LOADING") != std::string::npos;
  });
}

Status Supervisor::wait_for_controller() {
  SLIPRING_ASSIGN(const auto api, control::ApiClient::make({config_.up.api, "", 500, 2'000}));
  return wait_for(clock_, "controller", [&]() -> Result<bool> {
    SLIPRING_TRY(check_running("controller"));
    return api->ready().has_value();
  });
}

Status Supervisor::wait_for_router(uint32_t index) {
  const std::string child = fmt::format("router-{}", index);
  SLIPRING_ASSIGN(const std::string address, router_listen(config_.up, index));
  SLIPRING_ASSIGN(const auto api, control::ApiClient::make({config_.up.api, "", 500, 2'000}));
  const std::string id = fmt::format("r{}", index);
  return wait_for(clock_, child, [&]() -> Result<bool> {
    SLIPRING_TRY(check_running(child));
    if (!net::BlockingStream::connect(address, Millis(500))) return false;
    const auto status = api->status();
    return status && std::any_of(status->routers.begin(), status->routers.end(), [&](const auto& r) {
             return r.id == id && r.state == control::RouterState::kServing;
           });
  });
}

void Supervisor::print_what_runs() {
  std::vector<std::string> routers;
  for (uint32_t i = 1; i <= config_.up.routers; ++i) routers.push_back(router_listen(config_.up, i).value());
  if (context_.json) {
    nlohmann::json nodes = nlohmann::json::array();
    for (const UpNode& node : state_.nodes) nodes.push_back({{"name", node.name}, {"address", node_address(node)}});
    context_.console.out << nlohmann::json{{"api", config_.up.api},
                                           {"routers", routers},
                                           {"nodes", nodes},
                                           {"dir", layout_.dir()}}
                                .dump()
                         << std::endl;
    return;
  }
  std::string text = fmt::format("clients connect to   {}\nAPI and metrics      http://{}\n", fmt::join(routers, ", "),
                                 config_.up.api);
  for (const UpNode& node : state_.nodes) text += fmt::format("store server {:<7} {}\n", node.name, node_address(node));
  text += fmt::format("data, logs, secrets  {}\n\n", layout_.dir());
  const std::string api = config_.up.api == UpOptions().api ? "" : " --api " + config_.up.api;
  text += fmt::format(
      "try: redis-cli -p {} set greeting hello\n     slipring status{}\n     slipring node add n{}{}\n"
      "Ctrl-C ends everything and keeps the data.\n",
      parse_host_port(config_.up.listen)->port, api, state_.nodes.size() + 1, api);
  context_.console.out << text << std::flush;
}

// ---- work
// ------------------------------------------------------------------------------------------------------------

void Supervisor::work() {
  next_watch_ = clock_.now() + Millis(kWatchEveryMs);
  while (!ending_) {
    std::vector<pollfd> polled = {{signal_pipe[0], POLLIN, 0}, {socket_, POLLIN, 0}};
    for (const auto& [name, child] : children_) {
      if (child.process.valid()) polled.push_back({child.process.fd(), POLLIN, 0});
    }
    ::poll(polled.data(), polled.size(), static_cast<int>(time_until_next()));
    if (polled[0].revents != 0) return;
    if (polled[1].revents != 0) answer_one();
    restart_ended();
    if (clock_.now() >= next_watch_) watch_topology();
  }
}

int64_t Supervisor::time_until_next() const {
  MonoTime next = next_watch_;
  for (const auto& [name, child] : children_) {
    if (!child.process.valid()) next = std::min(next, child.restart_at);
  }
  return std::max<int64_t>(0, std::chrono::duration_cast<Millis>(next - clock_.now()).count() + 1);
}

void Supervisor::restart_ended() {
  for (auto& [name, child] : children_) {
    if (child.process.valid() && !child.process.running()) {
      const bool stable = std::chrono::duration_cast<Millis>(clock_.now() - child.started).count() >= kStableMs;
      child.backoff_ms = stable ? kBackoffMinMs : std::clamp(child.backoff_ms * 2, kBackoffMinMs, kBackoffMaxMs);
      child.restart_at = clock_.now() + Millis(child.backoff_ms);
      child.process = Process();
      log(LogLevel::kWarn, "up", "{} has ended; it is started again in {} ms: {}", name, child.backoff_ms,
          last_line(layout_.log_file(name)));
    }
    if (child.process.valid() || clock_.now() < child.restart_at) continue;
    // The access list of a store server is written anew first: it must not serve by an old one.
    Status ok;
    for (const UpNode& node : state_.nodes) {
      if (node_child(node.name) == name) ok = layout_.write_node(node, config_.up.fsync);
    }
    if (ok) ok = start_child(name, child.argv, false);
    if (ok) continue;
    log(LogLevel::kError, "up", "{}: {}", name, ok.error().message);
    child.restart_at = clock_.now() + Millis(kBackoffMaxMs);
  }
}

// Ends servers whose node has left the topology for good.
void Supervisor::watch_topology() {
  next_watch_ = clock_.now() + Millis(kWatchEveryMs);
  const auto api = control::ApiClient::make({config_.up.api, "", 500, 2'000});
  if (!api) return;
  const auto status = (*api)->status();
  if (!status || status->epoch == 0 || status->pools.empty()) return;
  bool open_plan = false;
  std::vector<std::string> present;
  for (const control::PoolStatus& pool : status->pools) {
    open_plan = open_plan || pool.plan.has_value();
    for (const control::NodeStatus& node : pool.nodes) present.push_back(node.address);
  }
  if (present.empty()) return;
  std::vector<UpNode> gone;
  for (UpNode& node : state_.nodes) {
    const bool there = std::find(present.begin(), present.end(), node_address(node)) != present.end();
    if (there && !node.joined) {
      node.joined = true;
      static_cast<void>(layout_.save_state(state_));
    }
    int& looks = missing_[node.name];
    looks = there || open_plan || !node.joined ? 0 : looks + 1;
    if (looks >= kMissingLooks) gone.push_back(node);
  }
  for (const UpNode& node : gone) end_node(node);
}

// Whether the server answers that it holds no key at all.
bool Supervisor::holds_nothing(const UpNode& node) const {
  const auto all = control::NodeCredentials::read(layout_.path("credentials"));
  const control::NodeCredential* credential = all ? all->find(node_address(node)) : nullptr;
  if (credential == nullptr) return false;
  auto client = redis::Client::connect(
      {node_address(node), credential->user, credential->password, "up", Millis(500), Millis(2'000)});
  if (!client) return false;
  const auto keyspace = client->command({"INFO", "keyspace"});
  return keyspace && !keyspace->is_error() && keyspace->text.find("keys=") == std::string::npos;
}

void Supervisor::end_node(const UpNode& node) {
  const bool empty = holds_nothing(node);
  log(LogLevel::kInfo, "up", "node {} is not needed any more: its server is ended, its files are {}", node.name,
      empty ? "removed, it holds no key" : "kept");
  children_.erase(node_child(node.name));
  end_some(layout_, {node_child(node.name)}, kEndNodeMs, context_.console.err);
  const Status ok = empty ? layout_.remove_node(node) : layout_.retire_node(node, clock_.wall_ms());
  if (!ok) log(LogLevel::kWarn, "up", "node {}: {}", node.name, ok.error().message);
  missing_.erase(node.name);
  std::erase_if(state_.nodes, [&](const UpNode& n) { return n.name == node.name; });
  static_cast<void>(layout_.save_state(state_));
}

// ---- control socket
// --------------------------------------------------------------------------------------------------

Status Supervisor::open_socket() {
  SLIPRING_ASSIGN(socket_, listen_unix(layout_.path("up.sock")));
  return {};
}

void Supervisor::answer_one() {
  UnixStream peer = accept_unix(socket_);
  const auto line = peer.read_line(kRequestMs);
  if (line) static_cast<void>(peer.write_line(answer(*line)));
}

std::string Supervisor::answer(std::string_view line) {
  const std::string name(line.substr(std::min(line.size(), line.find(' ') + 1)));
  const auto error = [](const Error& e) { return fmt::format("error {} {}", code_name(e.code), e.message); };
  if (line == "down") {
    ending_ = true;
    return "ok";
  }
  if (line.starts_with("spawn ")) {
    const auto address = spawn(name);
    return address ? "ok " + *address : error(address.error());
  }
  if (line.starts_with("release ")) {
    const Status ok = release(name);
    return ok ? "ok" : error(ok.error());
  }
  return error({Code::kInvalidArgument, "known requests are spawn NAME, release NAME and down"});
}

Result<std::string> Supervisor::spawn(const std::string& name) {
  SLIPRING_TRY(check_node_name(name));
  for (UpNode& node : state_.nodes) {
    if (node.name != name) continue;
    // Wanted again, perhaps just after a rollback: it is not to be ended before it has joined again.
    node.joined = false;
    SLIPRING_TRY(layout_.save_state(state_));
    return node_address(node);
  }
  UpNode node{name, 0, false};
  SLIPRING_ASSIGN(node.port, find_free_port(state_.ports()));
  // Left by a node of this name that was not ended properly: out of the way, so that the new one starts empty.
  if (std::filesystem::exists(layout_.path("node/" + name))) {
    SLIPRING_TRY(layout_.retire_node(node, clock_.wall_ms()));
  }
  state_.nodes.push_back(node);
  SLIPRING_TRY(layout_.save_state(state_));
  Status ok = start_node(node);
  if (ok) ok = wait_for_node(node);
  if (ok) return node_address(node);
  static_cast<void>(release(name));
  return fail(ok.error());
}

Status Supervisor::release(const std::string& name) {
  const UpNode* found = state_.find(name);
  if (found == nullptr) return fail(Code::kNotFound, fmt::format("node {}: no server was started for it", name));
  if (found->joined) {
    return fail(Code::kFailedPrecondition,
                fmt::format("node {}: has been part of the topology; `slipring node remove {}` first", name, name));
  }
  end_node(UpNode(*found));
  return {};
}

}  // namespace slipring::cli
