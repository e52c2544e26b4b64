#include "slipring/control/survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"
#include "slipring/base/secret.h"

namespace slipring::control {
namespace {

constexpr std::string_view kPageKeys = "1000";

// One page of SCAN: the keys, and the next cursor.
Result<std::string> scan_page(redis::Client& client, const std::string& cursor, std::vector<std::string>& keys) {
  SLIPRING_ASSIGN(redis::Reply reply, client.call({"SCAN", cursor, "COUNT", kPageKeys}));
  if (reply.items.size() != 2) return fail(Code::kDataLoss, client.endpoint().address + ": SCAN: no pair");
  for (redis::Reply& key : reply.items[1].items) keys.push_back(std::move(key.text));
  return reply.items[0].text;
}

class Counter {
 public:
  Counter(redis::Client& client, const PoolRouting& routing, const std::string& address, const SurveyOptions& options)
      : client_(client), routing_(routing), address_(address), options_(options) {
    if (routing.pool().plan) result_.moves.resize(routing.pool().plan->moves.size());
  }

  Status count(const std::vector<std::string>& keys) {
    std::vector<const std::string*> ours;
    for (const std::string& key : keys) {
      ++seen_;
      if (!key.starts_with(routing_.pool().key_prefix)) continue;
      ours.push_back(&key);
      client_.append({"MEMORY", "USAGE", key});
    }
    SLIPRING_TRY(client_.flush());
    for (const std::string* key : ours) {
      SLIPRING_ASSIGN(const redis::Reply reply, client_.read_reply());
      // Null: the key has gone meanwhile.
      if (reply.type == redis::Reply::Type::kInteger) add(*key, static_cast<uint64_t>(reply.integer));
    }
    return {};
  }

  Survey finish(uint64_t keys_on_server, bool complete) {
    result_.complete = complete;
    if (!complete && seen_ > 0) scale(static_cast<double>(keys_on_server) / static_cast<double>(seen_));
    return std::move(result_);
  }

 private:
  void add(const std::string& key, uint64_t bytes) {
    ++result_.keys;
    result_.bytes += bytes;
    result_.key_bytes_max = std::max(result_.key_bytes_max, bytes);
    if (bytes > options_.big_key_bytes) {
      ++result_.big_keys;
      if (result_.big_key_names.size() < options_.big_keys_max) result_.big_key_names.push_back(key);
    }
    const Decision decision = routing_.decide(key);
    if (decision.owner == kNoInstance || routing_.instances()[decision.owner].address != address_) {
      ++result_.misplaced;
    } else if (decision.move != kNoMove) {
      ++result_.moves[decision.move].keys;
      result_.moves[decision.move].bytes += bytes;
    }
  }

  void scale(double factor) {
    const auto scaled = [&](uint64_t n) {
      return static_cast<uint64_t>(static_cast<double>(n) * std::max(factor, 1.0));
    };
    result_.keys = scaled(result_.keys);
    result_.bytes = scaled(result_.bytes);
    result_.misplaced = scaled(result_.misplaced);
    for (MoveCount& move : result_.moves) move = {scaled(move.keys), scaled(move.bytes)};
  }

  redis::Client& client_;
  const PoolRouting& routing_;
  const std::string& address_;
  const SurveyOptions& options_;
  Survey result_;
  uint64_t seen_ = 0;
};

}  // namespace

Result<Survey> survey(redis::Client& client, const PoolRouting& routing, const std::string& address,
                      const SurveyOptions& options, const Clock& clock) {
  SLIPRING_ASSIGN(const redis::Reply size, client.call({"DBSIZE"}));
  const MonoTime give_up = clock.now() + options.time_max;
  Counter counter(client, routing, address, options);
  std::string cursor = "0";
  do {
    std::vector<std::string> keys;
    SLIPRING_ASSIGN(cursor, scan_page(client, cursor, keys));
    SLIPRING_TRY(counter.count(keys));
  } while (cursor != "0" && clock.now() < give_up);
  return counter.finish(static_cast<uint64_t>(size.integer), cursor == "0");
}

Result<PlacementCheck> check_placement(redis::Client& client, const PoolRouting& routing, const std::string& address,
                                       uint64_t sample) {
  PlacementCheck check;
  std::string cursor = "0";
  do {
    std::vector<std::string> keys;
    SLIPRING_ASSIGN(cursor, scan_page(client, cursor, keys));
    for (const std::string& key : keys) {
      if (!key.starts_with(routing.pool().key_prefix)) continue;
      ++check.sampled;
      const Decision decision = routing.decide(key);
      const bool home = decision.owner != kNoInstance && routing.instances()[decision.owner].address == address;
      if (home) ++check.at_home;
      if (!home && check.example.empty() && decision.owner != kNoInstance) {
        check.example =
            fmt::format("{:?} lies on {}, its owner is {}", key, address, routing.node_name(decision.owner));
      }
    }
  } while (cursor != "0" && check.sampled < sample);
  return check;
}

std::string probe_payload(redis::Client& from, redis::Client& to, const std::string& key_prefix) {
  const std::string key = fmt::format("{}slipring:probe:{}", key_prefix, random_secret());
  const auto try_it = [&]() -> Status {
    SLIPRING_TRY(from.call({"SET", key, "probe", "PX", "10000"}));
    SLIPRING_ASSIGN(const redis::Reply there, from.call({"DUMP", key}));
    SLIPRING_TRY(to.call({"RESTORE", key, "10000", there.text, "REPLACE"}));
    SLIPRING_ASSIGN(const redis::Reply back, to.call({"DUMP", key}));
    SLIPRING_TRY(from.call({"RESTORE", key, "10000", back.text, "REPLACE"}));
    return {};
  };
  const Status tried = try_it();
  // What could not be removed expires by itself.
  [[maybe_unused]] const auto gone_there = to.command({"DEL", key});
  [[maybe_unused]] const auto gone_here = from.command({"DEL", key});
  return tried ? "" : tried.error().message;
}

}  // namespace slipring::control
