#include "slipring/store/redis/psync_feed.h"

#include <fmt/format.h>
#include <strings.h>

#include <thread>

#include "slipring/base/parse.h"
#include "slipring/store/redis/inspect.h"

namespace slipring::redis {
namespace {

constexpr Millis kAcknowledgeEvery{1000};
constexpr Millis kBacklogPoll{5};
constexpr uint64_t kMinimumDelaySeconds = 2;

bool is(std::string_view word, std::string_view upper) {
  return word.size() == upper.size() && strncasecmp(word.data(), upper.data(), word.size()) == 0;
}

auto refuse(const Client& client, std::string why) {
  return fail(Code::kFailedPrecondition, fmt::format("{}: feed: {}", client.endpoint().address, why));
}

// Asks for a full resynchronisation and leaves before it begins: the server creates its backlog at once and would fork
// only after its delay.
Status make_backlog(Client& observer, const Clock& clock) {
  SLIPRING_ASSIGN(const ServerFacts before, inspect(observer, clock));
  if (before.backlog_active) return {};
  if (!before.diskless_sync || before.diskless_sync_delay_s < kMinimumDelaySeconds ||
      before.diskless_sync_max_replicas != 0 || before.min_replicas_to_write != 0) {
    return refuse(observer,
                  "opening a backlog would fork: needs repl-diskless-sync yes with a delay of at least 2 s, "
                  "repl-diskless-sync-max-replicas 0 and min-replicas-to-write 0");
  }
  SLIPRING_ASSIGN(Client opener, Client::connect(observer.endpoint()));
  SLIPRING_TRY(opener.call({"REPLCONF", "capa", "eof", "capa", "psync2"}));
  opener.append({"PSYNC", "?", "-1"});
  SLIPRING_TRY(opener.flush());
  const MonoTime leave_at = clock.now() + std::chrono::seconds(before.diskless_sync_delay_s) / 2;
  bool active = false;
  while (!active && clock.now() < leave_at) {
    SLIPRING_ASSIGN(const auto replication, observer.info("replication"));
    const auto field = replication.find("repl_backlog_active");
    active = field != replication.end() && field->second == "1";
    if (!active) std::this_thread::sleep_for(kBacklogPoll);
  }
  opener.close();
  if (!active) return refuse(observer, "no backlog came into being within half of repl-diskless-sync-delay");
  SLIPRING_ASSIGN(const ServerFacts after, inspect(observer, clock));
  if (after.total_forks != before.total_forks && !after.background_save_running) {
    return refuse(observer, "the server forked while its backlog was opened");
  }
  return {};
}

}  // namespace

Result<PsyncFeed> PsyncFeed::open(const Endpoint& endpoint, const Clock& clock) {
  SLIPRING_ASSIGN(Client observer, Client::connect(endpoint));
  SLIPRING_TRY(make_backlog(observer, clock));
  SLIPRING_ASSIGN(Client client, Client::connect(endpoint));
  PsyncFeed feed(std::move(client), clock);
  SLIPRING_TRY(feed.start());
  return feed;
}

Status PsyncFeed::start() {
  SLIPRING_TRY(client_.call({"REPLCONF", "capa", "eof", "capa", "psync2"}));
  SLIPRING_ASSIGN(const LiveState state, live_state(client_));
  if (state.identity.role != "master") return refuse(client_, "the server is a replica");
  const std::string from = std::to_string(state.replication_offset + 1);
  SLIPRING_ASSIGN(const Reply answer, client_.call({"PSYNC", state.identity.repl_id, from}));
  if (!answer.text.starts_with("CONTINUE")) {
    client_.close();
    return refuse(client_, fmt::format("PSYNC was answered \"{}\" instead of CONTINUE", answer.text.substr(0, 64)));
  }
  identity_ = state.identity;
  offset_ = state.replication_offset;
  return acknowledge();
}

Status PsyncFeed::acknowledge() {
  acknowledged_ = clock_->now();
  client_.append({"REPLCONF", "ACK", "0"});
  return client_.flush();
}

Status PsyncFeed::poll(const Sink& sink, Millis timeout) {
  if (clock_->now() - acknowledged_ >= kAcknowledgeEvery) SLIPRING_TRY(acknowledge());
  auto n = client_.read_raw(in_, timeout);
  if (!n && n.error().code == Code::kDeadlineExceeded) return {};
  if (!n) return fail_in(client_.endpoint().address + ": feed", n.error());
  return parse(sink);
}

Status PsyncFeed::parse(const Sink& sink) {
  for (;;) {
    const std::string_view rest = std::string_view(in_).substr(parsed_);
    if (rest.empty()) break;
    const resp::ParseStatus status = parser_.parse(rest);
    if (status == resp::ParseStatus::kError) {
      client_.close();
      return fail(Code::kDataLoss, fmt::format("{}: feed: {}", client_.endpoint().address, parser_.error()));
    }
    if (status == resp::ParseStatus::kNeedMore) break;
    give(parser_.args(rest), sink);
    parsed_ += parser_.length();
    offset_ += parser_.length();
  }
  in_.erase(0, parsed_);
  parsed_ = 0;
  return {};
}

void PsyncFeed::give(const resp::Args& command, const Sink& sink) {
  if (command.empty()) return;
  if (is(command[0], "SELECT") && command.size() == 2) {
    database_ = static_cast<uint32_t>(parse_u64(command[1], 0, UINT32_MAX).value_or(UINT32_MAX));
    return;
  }
  sink(command, database_);
}

}  // namespace slipring::redis
