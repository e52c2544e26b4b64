#include "slipring/router/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "slipring/base/log.h"

namespace slipring::router {
namespace {

constexpr size_t kReadBytes = 256u << 10;
constexpr Millis kTick{50};
constexpr uint32_t kTicksPerSecond = 20;
constexpr Millis kAcceptAgain{100};
constexpr int kAcceptsPerTurn = 64;

}  // namespace

Worker::Worker(const Options& options, Shared& shared, const Clock& clock, WorkerObserver& observer, uint32_t number)
    : options_(options),
      shared_(shared),
      clock_(clock),
      observer_(observer),
      number_(number),
      loop_(clock),
      random_(clock.now().time_since_epoch().count() + number),
      read_buffer_(kReadBytes),
      parser_(options.limits.request),
      dispatcher_(*this),
      listener_(*this),
      tick_(loop_, [this] { tick(); }),
      accept_again_(loop_, [this] {
        if (auto watched = loop_.watch(listener_, EPOLLIN); !watched) accept_again_.arm(kAcceptAgain);
      }) {
  connection_name_ = name_connections();
}

Worker::~Worker() {
  stop();
  // Connections answer their clients when they end, so they go first; nothing is delivered any more.
  for (Client* client : std::vector<Client*>(clients_)) client->close();
  nodes_.clear();
  retired_.clear();
  drains_.clear();
  if (listener_.fd >= 0) net::UniqueFd(listener_.fd).reset();
}

std::string Worker::name_connections() const {
  // A fence by names looks for the name that the generation's user has elsewhere.
  if (fenced_by_names()) return credentials_.user;
  return fmt::format("slipring/{}/{}", options_.id, credentials_.generation);
}

Status Worker::open(const net::SocketAddress& listen) {
  SLIPRING_TRY(loop_.open());
  SLIPRING_ASSIGN(net::UniqueFd socket, net::listen_tcp(listen, true));
  SLIPRING_ASSIGN(const net::SocketAddress bound, net::local_address(socket.get()));
  port_ = net::port_of(bound);
  listener_.fd = socket.release();
  loop_.at_turn_end([this] { end_turn(); });
  tick_.arm(kTick);
  return loop_.watch(listener_, EPOLLIN);
}

void Worker::start() {
  thread_ = std::thread([this] { loop_.run(); });
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
}

void Worker::drain() {
  loop_.post([this] {
    draining_ = true;
    accept_again_.cancel();
    if (listener_.fd >= 0) {
      loop_.unwatch(listener_);
      net::UniqueFd(std::exchange(listener_.fd, -1)).reset();
    }
    for (Client* client : clients_) {
      client->ended = true;
      client->mark_dirty();
    }
  });
}

// --- clients ---

void Worker::accept() {
  for (int i = 0; i < kAcceptsPerTurn && listener_.fd >= 0; ++i) {
    net::UniqueFd socket(::accept4(listener_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      add_client(std::move(socket));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      log(LogLevel::kWarn, "router", "accept: {}; trying again", std::strerror(errno));
      loop_.unwatch(listener_);
      accept_again_.arm(kAcceptAgain);
    }
    return;
  }
}

void Worker::add_client(net::UniqueFd socket) {
  if (shared_.clients.fetch_add(1) >= options_.limits.clients_max || over_memory()) {
    shared_.clients.fetch_sub(1);
    net::write_some(socket.get(), "-ERR max number of clients reached\r\n");
    return;
  }
  net::set_no_delay(socket.get());
  const uint64_t id = (next_client_++) * options_.threads + number_;
  auto client = std::make_unique<Client>(*this, std::move(socket), id);
  if (auto watched = loop_.watch(*client, EPOLLIN); !watched) {
    shared_.clients.fetch_sub(1);
    return;
  }
  client->index = static_cast<uint32_t>(clients_.size());
  clients_.push_back(client.release());
  stats_.clients.set(clients_.size());
  stats_.clients_total.add();
}

void Worker::on_closed(Client& client) {
  clients_[client.index] = clients_.back();
  clients_[client.index]->index = client.index;
  clients_.pop_back();
  if ((client.paused & kPauseHold) != 0) {
    std::erase(held_, &client);
    stats_.held_now.set(held_.size());
  }
  stats_.clients.set(clients_.size());
  if (shared_.clients.fetch_sub(1) == 1 && draining_) {
    const std::lock_guard lock(shared_.drained_mutex);
    shared_.drained.notify_all();
  }
  if (client.in_flight == 0) {
    buried_.emplace_back(&client);
  } else {
    ++zombies_;
  }
}

void Worker::drop_reference(Client& client) {
  if (--client.in_flight > 0 || client.open()) return;
  --zombies_;
  buried_.emplace_back(&client);
}

void Worker::count_cut(Client& client, std::string_view why) {
  stats_.clients_cut.add();
  log(LogLevel::kWarn, "router", "client {} is cut off: {}", client.id(), why);
}

bool Worker::over_memory() const {
  return pool_.used_bytes() > options_.limits.buffered_bytes_max / options_.threads;
}

void Worker::refuse_protocol(Client& client, const std::string& error) {
  stats_.error(ErrorKind::kProtocol);
  client.answer(fmt::format("-{}\r\n", error));
  client.close_when_answered();
}

resp::RequestParser Worker::detach_parser() {
  resp::RequestParser detached = std::move(parser_);
  parser_ = resp::RequestParser(options_.limits.request);
  return detached;
}

// --- replies ---

void Worker::on_reply(const Pending& pending, std::string_view reply) {
  if (pending.client == nullptr) return;
  stats_.latency[static_cast<size_t>(pending.command_class)].record(now_us() - pending.since_us);
  if (reply[0] == '-') [[unlikely]]
    stats_.error(ErrorKind::kServer);
  if (pending.merge == kNoMerge) [[likely]] {
    pending.client->complete(pending.seq, reply);
  } else if (MergeJob& job = *merges_[pending.merge]; job.merge.add(pending.part, reply)) {
    job.client->complete(job.seq, job.merge.result());
    free_merges_.push_back(pending.merge);
  }
  drop_reference(*pending.client);
}

uint32_t Worker::start_merge(Client& client, MergeKind kind, uint32_t parts, std::vector<uint16_t>& part_of_key) {
  if (free_merges_.empty()) {
    free_merges_.push_back(static_cast<uint32_t>(merges_.size()));
    merges_.push_back(std::make_unique<MergeJob>());
  }
  const uint32_t number = free_merges_.back();
  free_merges_.pop_back();
  MergeJob& job = *merges_[number];
  job.client = &client;
  job.seq = client.replies.push();
  job.merge.start(kind, parts, part_of_key);
  return number;
}

void Worker::on_refused(Backend& backend) {
  log(LogLevel::kWarn, "router", "node {} ({}) refuses generation {}", backend.target().node, backend.target().address,
      credentials_.generation);
  observer_.on_refused(credentials_.generation);
}

uint64_t Worker::ask_permit(const std::string& address, const std::string& run_id) {
  const uint64_t number = permits_asked_++ * options_.threads + number_;
  observer_.on_permit_wanted({number, credentials_.generation, address, run_id});
  return number;
}

void Worker::permit(uint64_t number, channel::PermitAnswer answer) {
  loop_.post([this, number, answer] {
    for (const auto* list : {&nodes_, &retired_}) {
      for (const auto& node : *list) {
        node->each([&](Backend& backend) { backend.on_permit(number, answer); });
      }
    }
  });
}

// --- turns ---

void Worker::end_turn() {
  settle_all();
  if (!drains_.empty()) {
    check_drains();
    settle_all();
  }
  buried_.clear();
}

void Worker::settle_all() {
  while (!dirty_clients_.empty() || !dirty_backends_.empty()) {
    for (size_t i = 0; i < dirty_clients_.size(); ++i) dirty_clients_[i]->settle();
    dirty_clients_.clear();
    for (size_t i = 0; i < dirty_backends_.size(); ++i) dirty_backends_[i]->flush();
    dirty_backends_.clear();
  }
}

void Worker::tick() {
  tick_.arm(kTick);
  tend_connections();
  if (++ticks_ % kTicksPerSecond != 0) return;
  tend_clients();
  pool_.trim();
  stats_.buffered_bytes.set(pool_.used_bytes());
}

void Worker::tend_connections() {
  for (const auto* list : {&nodes_, &retired_}) {
    for (const auto& node : *list) {
      node->each([&](Backend& backend) {
        backend.check_timeouts(now_us());
        backend.trim();
      });
    }
  }
  std::erase_if(retired_, [](const auto& node) { return node->idle(); });
}

void Worker::tend_clients() {
  const int64_t stalled_ms_max = options_.limits.client_stalled_ms_max;
  for (size_t i = clients_.size(); i-- > 0;) {
    Client& client = *clients_[i];
    if (!client.stalled || (now_us() - client.stalled_since_us) / 1000 <= stalled_ms_max) continue;
    count_cut(client, "it takes nothing of its replies");
    client.close();
  }
}

// --- topology ---

void Worker::apply(std::shared_ptr<const Topology> topology, std::function<void()> switched,
                   std::function<void()> settled) {
  loop_.post([this, topology = std::move(topology), switched = std::move(switched), settled = std::move(settled)] {
    const std::vector<std::shared_ptr<NodeLink>> before = nodes_;
    switch_topology(topology);
    switched();
    wait_for(before, settled);
  });
}

void Worker::switch_topology(std::shared_ptr<const Topology> topology) {
  std::vector<std::shared_ptr<NodeLink>> nodes;
  by_instance_.clear();
  const PoolRouting& routing = *topology->routing;
  for (InstanceIndex i = 0; i < routing.instances().size(); ++i) {
    const Instance& instance = routing.instances()[i];
    const auto same =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n && n->instance == instance; });
    if (same != nodes_.end()) {
      nodes.push_back(std::move(*same));
      nodes.back()->rename(routing.node_name(i));
    } else {
      nodes.push_back(std::make_shared<NodeLink>(*this, instance, routing.node_name(i)));
    }
    by_instance_.push_back(nodes.back().get());
  }
  for (auto& node : nodes_) {
    if (!node) continue;
    node->retire();
    retired_.push_back(std::move(node));
  }
  nodes_ = std::move(nodes);
  topology_ = std::move(topology);
  placer_.use(topology_->routing);
  connection_name_ = name_connections();
}

void Worker::use(channel::Credentials credentials, std::function<void()> done) {
  loop_.post([this, credentials = std::move(credentials), done = std::move(done)] {
    credentials_ = credentials;
    connection_name_ = name_connections();
    for (const auto& node : nodes_) {
      node->each([](Backend& backend) { backend.renew(); });
    }
    wait_for(nodes_, done);
  });
}

// --- holds ---

void Worker::hold(std::vector<uint32_t> moves, std::function<void()> done) {
  loop_.post([this, moves = std::move(moves), done = std::move(done)] {
    placer_.hold(moves);
    try_again_ = false;
    std::vector<std::shared_ptr<NodeLink>> owners;
    for (const InstanceIndex i : placer_.owners_of_held()) owners.push_back(nodes_[i]);
    wait_for(owners, done);
  });
}

void Worker::try_again() {
  loop_.post([this] {
    try_again_ = true;
    let_go(false);
  });
}

void Worker::release() {
  loop_.post([this] {
    placer_.release();
    try_again_ = false;
    let_go(true);
  });
}

void Worker::hold_back(Client& client) {
  client.paused |= kPauseHold;
  client.held_since_us = now_us();
  client.mark_dirty();
  held_.push_back(&client);
  stats_.held_now.set(held_.size());
  stats_.held_total.add();
}

void Worker::let_go(bool attempt_closed) {
  std::vector<Client*> waiting;
  waiting.swap(held_);
  stats_.held_now.set(0);
  uint32_t longest_us = 0;
  for (Client* client : waiting) {
    const uint32_t waited_us = now_us() - client->held_since_us;
    stats_.held.record(waited_us);
    longest_us = std::max(longest_us, waited_us);
    client->paused &= static_cast<uint8_t>(~kPauseHold);
    client->go_on();
  }
  if (attempt_closed) stats_.held_longest_us.set(longest_us);
}

void Worker::wait_for(const std::vector<std::shared_ptr<NodeLink>>& nodes, std::function<void()> done) {
  Drain drain;
  drain.done = std::move(done);
  for (const auto& node : nodes) drain.waits.emplace_back(node, node->enqueued());
  drains_.push_back(std::move(drain));
}

bool Worker::settled(const Drain& drain) {
  return std::all_of(drain.waits.begin(), drain.waits.end(),
                     [](const auto& wait) { return wait.first->settled(wait.second); });
}

void Worker::check_drains() {
  for (size_t i = 0; i < drains_.size();) {
    if (!settled(drains_[i])) {
      ++i;
      continue;
    }
    const std::function<void()> done = std::move(drains_[i].done);
    drains_.erase(drains_.begin() + static_cast<std::ptrdiff_t>(i));
    done();
  }
}

}  // namespace slipring::router
