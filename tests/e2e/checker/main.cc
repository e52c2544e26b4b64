// The end-to-end checker: clients that write and read through routers without pause, know what every key must hold, and
// count everything that is not as it must be. Prints "loaded" when the first write of every key is acknowledged, works
// until told to stop, then reads every key and prints a JSON report.
//
//   slipring_checker --ports 6400,6401 [--clients 4] [--keys 300000] [--pipeline 4] [--rate OPS_PER_SECOND]
//                    [--seconds N | --stop-file PATH] [--seed N] [--prefix TEXT] [--report FILE] [--allow-errors]
//   slipring_checker --names [--keys N] [--prefix TEXT]     prints the names of the keys that are always there
//
// Exit: 0 nothing wrong; 1 something was lost, stale or wrong, or (without --allow-errors) an error at a client; 2
// usage.
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "slipring/base/random.h"
#include "tests/e2e/checker/model.h"

namespace slipring::checker {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kShownMax = 20;
constexpr size_t kLoadDepth = 100;
constexpr auto kReconnectPause = std::chrono::milliseconds(20);

struct Options {
  std::vector<uint16_t> ports;
  uint32_t clients = 4;
  uint32_t keys = 300'000;
  uint32_t pipeline = 4;
  uint64_t rate = 0;  // of all clients together; 0: no limit
  double seconds = 0;
  std::string stop_file;
  uint64_t seed = 1;
  std::string prefix = "check:";
  std::string report;
  bool allow_errors = false;
  bool names = false;
};

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now().time_since_epoch()).count();
}

// What went wrong, counted, the first of each kind in words.
class Findings {
 public:
  void error(const std::string& text) { note(errors_, error_texts_, text); }
  void redirect(const std::string& text) {
    ++redirects_;
    error(text);
  }
  void violation(const std::string& text) { note(violations_, violation_texts_, text); }

  uint64_t errors() const { return errors_; }
  uint64_t redirects() const { return redirects_; }
  uint64_t violations() const { return violations_; }
  const std::vector<std::string>& error_texts() const { return error_texts_; }
  const std::vector<std::string>& violation_texts() const { return violation_texts_; }

 private:
  void note(std::atomic<uint64_t>& count, std::vector<std::string>& texts, const std::string& text) {
    if (count++ >= kShownMax) return;
    const std::lock_guard lock(mutex_);
    texts.push_back(text);
  }
  std::atomic<uint64_t> errors_{0};
  std::atomic<uint64_t> redirects_{0};
  std::atomic<uint64_t> violations_{0};
  std::mutex mutex_;
  std::vector<std::string> error_texts_;
  std::vector<std::string> violation_texts_;
};

struct Shared {
  const Options& options;
  Model& model;
  Findings findings;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> operations{0};
  std::atomic<int64_t> longest_us{0};
};

// One command that waits for its reply.
struct Pending {
  enum class What { kWrite, kMultiWrite, kOwnRead, kOtherRead, kSetUp, kExpiry };
  What what;
  std::vector<uint32_t> keys;  // several for kMultiWrite
  uint32_t at_least = 0;       // kOtherRead: the writer's last acknowledged write when it was sent
};

class Client {
 public:
  Client(Shared& shared, uint32_t index)
      : shared_(shared),
        options_(shared.options),
        model_(shared.model),
        index_(index),
        random_(options_.seed * 1000 + index) {}

  // The first write of every key of ours.
  void load() {
    for (uint32_t key = index_; key < model_.size();) {
      for (size_t i = 0; i < kLoadDepth && key < model_.size(); ++i, key += options_.clients) {
        if (Model::kind(key) == Kind::kStream) {
          send({Pending::What::kSetUp, {key}}, {"XGROUP", "CREATE", model_.name(key), "g", "0", "MKSTREAM"});
        }
        send_write(key);
        if (Model::has_lasting_expiry(key)) send({Pending::What::kExpiry, {key}}, model_.expiry_command(key));
      }
      finish_batch();
    }
  }

  void work() {
    const int64_t started = now_us();
    uint64_t done = 0;
    while (!shared_.stop) {
      // A draw may find its key busy; a few more than there is room for fill the pipeline all the same.
      for (uint32_t i = 0; i < 2 * options_.pipeline && pending_.size() < options_.pipeline; ++i) send_one();
      done += finish_batch();
      hold_back(started, done);
    }
  }

  // Reads every key of ours and compares all of it.
  uint64_t verify() {
    uint64_t read = 0;
    for (uint32_t key = index_; key < model_.size();) {
      std::vector<uint32_t> batch;
      for (size_t i = 0; i < kLoadDepth && key < model_.size(); ++i, key += options_.clients) batch.push_back(key);
      const uint64_t done = verify_batch(batch);
      if (done == 0) break;
      read += done;
    }
    return read;
  }

 private:
  // Spreads the rate over the clients.
  void hold_back(int64_t started, uint64_t done) const {
    if (options_.rate == 0) return;
    const auto due = started + static_cast<int64_t>(static_cast<double>(done) * options_.clients * 1e6 /
                                                    static_cast<double>(options_.rate));
    const int64_t left = due - now_us();
    if (left > 0) std::this_thread::sleep_for(std::chrono::microseconds(left));
  }

  bool ensure_open() {
    for (int i = 0; !connection_.open() && !shared_.stop; ++i) {
      port_ = (port_ + 1) % options_.ports.size();
      if (connection_.connect(options_.ports[(index_ + port_) % options_.ports.size()])) return true;
      std::this_thread::sleep_for(kReconnectPause);
    }
    return connection_.open();
  }

  bool busy(uint32_t key) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const Pending& p) { return std::find(p.keys.begin(), p.keys.end(), key) != p.keys.end(); });
  }

  uint32_t random_own_key() {
    const uint32_t own = (model_.size() - index_ + options_.clients - 1) / options_.clients;
    return index_ + static_cast<uint32_t>(random_.below(own)) * options_.clients;
  }

  void send_one() {
    const uint64_t dice = random_.below(100);
    if (dice < 20) return send_other_read();
    const uint32_t key = random_own_key();
    if (busy(key) || model_.state(key).uncertain) return;
    if (dice < 40 && Model::kind(key) != Kind::kExpiry)
      return send({Pending::What::kOwnRead, {key}}, model_.read_command(key));
    if (dice < 55 && Model::kind(key) == Kind::kString) return send_multi_write(key);
    send_write(key);
  }

  void send_write(uint32_t key) { send({Pending::What::kWrite, {key}}, model_.write_command(key)); }

  // MSET of several string keys, which lie on several nodes.
  void send_multi_write(uint32_t first) {
    Pending pending{Pending::What::kMultiWrite, {}};
    std::vector<std::string> command = {"MSET"};
    for (uint32_t key = first, left = 100; pending.keys.size() < 4 && key < model_.size() && left > 0;
         key += options_.clients, --left) {
      if (Model::kind(key) != Kind::kString || busy(key) || model_.state(key).uncertain) continue;
      pending.keys.push_back(key);
      command.push_back(model_.name(key));
      command.push_back(Model::value(key, model_.state(key).acknowledged + 1));
    }
    send(std::move(pending), command);
  }

  // GET of a string that another client writes.
  void send_other_read() {
    auto key = static_cast<uint32_t>(random_.below(model_.size()));
    while (key < model_.size() && (Model::kind(key) != Kind::kString || key % options_.clients == index_)) ++key;
    if (key == model_.size()) return;
    const uint32_t at_least = model_.state(key).acknowledged.load(std::memory_order_acquire);
    send({Pending::What::kOtherRead, {key}, at_least}, {"GET", model_.name(key)});
  }

  void send(Pending pending, const std::vector<std::string>& command) {
    if (!ensure_open()) return;
    connection_.queue(command);
    pending_.push_back(std::move(pending));
  }

  // Sends what is queued and takes the replies; how many.
  uint64_t finish_batch() {
    const int64_t sent = now_us();
    bool broken = !pending_.empty() && !connection_.flush();
    uint64_t answered = 0;
    for (const Pending& pending : pending_) {
      std::optional<Reply> reply;
      if (!broken) reply = connection_.read();
      broken = !reply;
      if (broken) {
        unknown(pending, "the connection broke");
      } else {
        take(pending, *reply);
        ++answered;
      }
    }
    if (broken) connection_.close();
    pending_.clear();
    shared_.operations += answered;
    const int64_t waited = now_us() - sent;
    int64_t longest = shared_.longest_us;
    while (waited > longest && !shared_.longest_us.compare_exchange_weak(longest, waited)) {
    }
    return answered;
  }

  // The outcome of a write is not known: neither result may be called wrong later.
  void unknown(const Pending& pending, const std::string& why) {
    shared_.findings.error(why + " (" + model_.name(pending.keys[0]) + ")");
    if (pending.what != Pending::What::kWrite && pending.what != Pending::What::kMultiWrite) return;
    for (const uint32_t key : pending.keys) model_.state(key).uncertain = true;
  }

  void take(const Pending& pending, const Reply& reply) {
    if (reply.is_error()) {
      if (pending.what == Pending::What::kSetUp && reply.text.starts_with("BUSYGROUP")) return;
      if (reply.text.starts_with("MOVED") || reply.text.starts_with("ASK")) shared_.findings.redirect(reply.text);
      return unknown(pending, reply.text);
    }
    const uint32_t key = pending.keys[0];
    switch (pending.what) {
      case Pending::What::kSetUp:
        return;
      case Pending::What::kExpiry:
        return model_.set_expiry(key, now_us() / 1000);
      case Pending::What::kWrite:
        return take_write(key, reply);
      case Pending::What::kMultiWrite:
        for (const uint32_t k : pending.keys) take_write(k, reply);
        return;
      case Pending::What::kOwnRead:
        return wrong_if(key, model_.check_content(key, reply, now_us() / 1000));
      case Pending::What::kOtherRead:
        if (pending.at_least == 0 || Model::number_in(key, reply.text) >= pending.at_least) return;
        return wrong_if(key, "stale: write " + std::to_string(pending.at_least) + " was acknowledged before, got \"" +
                                 reply.text.substr(0, 40) + "\"");
    }
  }

  void take_write(uint32_t key, const Reply& reply) {
    const std::string wrong = model_.check_write(key, reply);
    if (wrong.empty()) return model_.acknowledge(key, reply, now_us() / 1000);
    wrong_if(key, wrong);
    model_.state(key).uncertain = true;
  }

  void wrong_if(uint32_t key, const std::string& wrong) {
    if (!wrong.empty()) shared_.findings.violation(model_.name(key) + ": " + wrong);
  }

  // The content of every key, each followed by what is left of its expiry where that is known; nullopt: broken.
  std::optional<std::vector<Reply>> ask_all(const std::vector<uint32_t>& keys) {
    size_t asked = 0;
    for (const uint32_t key : keys) {
      connection_.queue(model_.read_command(key));
      if (Model::keeps_expiry(key)) connection_.queue(model_.read_expiry_command(key));
      asked += Model::keeps_expiry(key) ? 2 : 1;
    }
    if (!connection_.flush()) return std::nullopt;
    std::vector<Reply> replies;
    while (replies.size() < asked) {
      auto reply = connection_.read();
      if (!reply) return std::nullopt;
      replies.push_back(std::move(*reply));
    }
    return replies;
  }

  uint64_t verify_batch(const std::vector<uint32_t>& keys) {
    // A broken connection is tried again: reading changes nothing.
    for (int tries = 0; tries < 100; ++tries) {
      if (!connection_.open() &&
          !connection_.connect(options_.ports[(index_ + static_cast<size_t>(tries)) % options_.ports.size()])) {
        std::this_thread::sleep_for(kReconnectPause);
        continue;
      }
      const auto answers = ask_all(keys);
      if (!answers) {
        connection_.close();
        continue;
      }
      auto answer = answers->begin();
      for (const uint32_t key : keys) {
        wrong_if(key, model_.check_content(key, *answer++, now_us() / 1000));
        if (Model::keeps_expiry(key)) wrong_if(key, model_.check_expiry(key, *answer++, now_us() / 1000));
      }
      return keys.size();
    }
    shared_.findings.violation("keys could not be read at the end: no router answers for them");
    return 0;
  }

  Shared& shared_;
  const Options& options_;
  Model& model_;
  const uint32_t index_;
  Random random_;
  Connection connection_;
  size_t port_ = 0;
  std::vector<Pending> pending_;
};

// Runs `work(client)` for every client at once.
template <typename Work>
void on_all(std::vector<std::unique_ptr<Client>>& clients, Work work) {
  std::vector<std::thread> threads;
  for (auto& client : clients) threads.emplace_back([&client, &work] { work(*client); });
  for (std::thread& thread : threads) thread.join();
}

void wait_for_end(const Options& options) {
  const int64_t end = now_us() + static_cast<int64_t>(options.seconds * 1e6);
  while (options.seconds > 0 ? now_us() < end : ::access(options.stop_file.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string json_list(const std::vector<std::string>& texts) {
  std::ostringstream out;
  out << "[";
  for (size_t i = 0; i < texts.size(); ++i) {
    out << (i == 0 ? "\"" : ", \"");
    for (const char c : texts[i]) {
      if (c == '"' || c == '\\') out << '\\';
      out << (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c);
    }
    out << "\"";
  }
  out << "]";
  return out.str();
}

std::string report_of(Shared& shared, uint64_t verified, double seconds) {
  Model& model = shared.model;
  uint64_t uncertain = 0;
  uint64_t writes = 0;
  for (uint32_t key = 0; key < model.size(); ++key) {
    uncertain += model.state(key).uncertain ? 1 : 0;
    writes += model.state(key).acknowledged;
  }
  std::ostringstream out;
  out << "{\"operations\": " << shared.operations << ", \"seconds\": " << seconds
      << ", \"operations_per_second\": " << static_cast<uint64_t>(static_cast<double>(shared.operations) / seconds)
      << ", \"writes_acknowledged\": " << writes << ", \"keys_verified\": " << verified
      << ", \"keys_uncertain\": " << uncertain
      << ", \"longest_wait_ms\": " << static_cast<double>(shared.longest_us) / 1000.0
      << ", \"errors\": " << shared.findings.errors() << ", \"redirects\": " << shared.findings.redirects()
      << ", \"violations\": " << shared.findings.violations()
      << ", \"first_errors\": " << json_list(shared.findings.error_texts())
      << ", \"first_violations\": " << json_list(shared.findings.violation_texts()) << "}";
  return out.str();
}

int run(const Options& options) {
  Model model(options.prefix, options.keys);
  if (options.names) {
    for (uint32_t key = 0; key < model.size(); ++key) {
      if (Model::kind(key) != Kind::kGone) std::cout << model.name(key) << "\n";
    }
    return 0;
  }
  Shared shared{options, model, {}};
  std::vector<std::unique_ptr<Client>> clients;
  for (uint32_t i = 0; i < options.clients; ++i) clients.push_back(std::make_unique<Client>(shared, i));
  on_all(clients, [](Client& client) { client.load(); });
  std::cout << "loaded" << std::endl;
  // The load's deep batches say nothing about how long a client waits.
  shared.longest_us = 0;
  shared.operations = 0;
  const int64_t started = now_us();
  std::thread ender([&] {
    wait_for_end(options);
    shared.stop = true;
  });
  on_all(clients, [](Client& client) { client.work(); });
  const double seconds = static_cast<double>(now_us() - started) / 1e6;
  ender.join();
  std::atomic<uint64_t> verified{0};
  on_all(clients, [&](Client& client) { verified += client.verify(); });
  const std::string report = report_of(shared, verified, seconds);
  std::cout << report << std::endl;
  if (!options.report.empty()) std::ofstream(options.report) << report << "\n";
  const bool errors = shared.findings.errors() > 0 && !options.allow_errors;
  return shared.findings.violations() > 0 || errors ? 1 : 0;
}

std::vector<uint16_t> parse_ports(const char* text) {
  std::vector<uint16_t> ports;
  std::istringstream in(text);
  for (std::string port; std::getline(in, port, ',');) {
    const long number = std::strtol(port.c_str(), nullptr, 10);
    if (number > 0 && number < 65536) ports.push_back(static_cast<uint16_t>(number));
  }
  return ports;
}

bool parse(int argc, char** argv, Options& o) {
  static const option kOptions[] = {{"ports", required_argument, nullptr, 'p'},
                                    {"clients", required_argument, nullptr, 'c'},
                                    {"keys", required_argument, nullptr, 'k'},
                                    {"pipeline", required_argument, nullptr, 'P'},
                                    {"rate", required_argument, nullptr, 'r'},
                                    {"seconds", required_argument, nullptr, 's'},
                                    {"stop-file", required_argument, nullptr, 'f'},
                                    {"seed", required_argument, nullptr, 'S'},
                                    {"prefix", required_argument, nullptr, 'x'},
                                    {"report", required_argument, nullptr, 'R'},
                                    {"allow-errors", no_argument, nullptr, 'e'},
                                    {"names", no_argument, nullptr, 'n'},
                                    {nullptr, 0, nullptr, 0}};
  const auto number = [] { return static_cast<uint32_t>(std::strtoul(optarg, nullptr, 10)); };
  for (int c = 0; (c = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (c == 'p')
      o.ports = parse_ports(optarg);
    else if (c == 'c')
      o.clients = number();
    else if (c == 'k')
      o.keys = number();
    else if (c == 'P')
      o.pipeline = number();
    else if (c == 'r')
      o.rate = number();
    else if (c == 's')
      o.seconds = std::strtod(optarg, nullptr);
    else if (c == 'f')
      o.stop_file = optarg;
    else if (c == 'S')
      o.seed = number();
    else if (c == 'x')
      o.prefix = optarg;
    else if (c == 'R')
      o.report = optarg;
    else if (c == 'e')
      o.allow_errors = true;
    else if (c == 'n')
      o.names = true;
    else
      return false;
  }
  const bool ends = (o.seconds > 0) != !o.stop_file.empty();
  return optind == argc && (o.names || (!o.ports.empty() && ends)) && o.clients > 0 && o.keys >= 16 * o.clients &&
         o.pipeline > 0;
}

}  // namespace
}  // namespace slipring::checker

int main(int argc, char** argv) {
  slipring::checker::Options options;
  if (!slipring::checker::parse(argc, argv, options)) {
    std::cerr
        << "usage: slipring_checker --ports PORT,... (--seconds N | --stop-file PATH) [--clients 4] [--keys 300000]\n"
           "         [--pipeline 4] [--rate OPS] [--seed N] [--prefix TEXT] [--report FILE] [--allow-errors]\n"
           "       slipring_checker --names [--keys 300000] [--prefix TEXT]\n";
    return 2;
  }
  return slipring::checker::run(options);
}
