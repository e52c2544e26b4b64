#include "slipring/store/redis/redis_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "slipring/base/parse.h"
#include "slipring/protocol/rdb/digest.h"
#include "slipring/store/redis/inspect.h"

namespace slipring::redis {
namespace {

// A copy whose expiry is this near is looked at again after RESTORE: it may have been dropped as expired.
constexpr int64_t kNearExpiryMs = 60'000;

// Reads `count` replies and gives each to take(); every reply is read, the first error is the answer.
template <typename Take>
Status read_all(Client& client, size_t count, Take take) {
  std::optional<Error> first;
  for (size_t i = 0; i < count; ++i) {
    SLIPRING_ASSIGN(Reply reply, client.read_reply());
    auto result = as_result(std::move(reply));
    if (!result && !first) first = std::move(result.error());
    if (result && !first) take(i, std::move(*result));
  }
  if (first) return fail_in(client.endpoint().address, *first);
  return {};
}

}  // namespace

Result<std::unique_ptr<RedisSession>> RedisSession::connect(const Endpoint& endpoint) {
  SLIPRING_ASSIGN(Client client, Client::connect(endpoint));
  std::unique_ptr<RedisSession> session(new RedisSession(std::move(client)));
  SLIPRING_TRY(session->identify());
  return session;
}

Status RedisSession::identify() {
  SLIPRING_ASSIGN(const Reply id, client_.call({"CLIENT", "ID"}));
  client_id_ = id.integer;
  SLIPRING_ASSIGN(const auto server, client_.info("server"));
  const auto run_id = server.find("run_id");
  if (run_id == server.end()) return fail(Code::kFailedPrecondition, endpoint().address + ": INFO has no run_id");
  run_id_ = run_id->second;
  return {};
}

Status RedisSession::kill_client(int64_t client_id) {
  const std::string id = std::to_string(client_id);
  SLIPRING_TRY(client_.call({"CLIENT", "KILL", "ID", id}));
  return {};
}

Result<StoreSession::Position> RedisSession::position() {
  SLIPRING_ASSIGN(const LiveState state, live_state(client_));
  return Position{state.identity, state.loading, state.replication_offset};
}

Result<uint64_t> RedisSession::scan(uint64_t cursor, uint32_t count, std::vector<std::string>& keys) {
  const std::string from = std::to_string(cursor);
  const std::string at_once = std::to_string(count);
  SLIPRING_ASSIGN(Reply reply, client_.call({"SCAN", from, "COUNT", at_once}));
  if (reply.items.size() != 2) return fail(Code::kDataLoss, endpoint().address + ": SCAN: no pair");
  SLIPRING_ASSIGN(const uint64_t next, parse_u64(reply.items[0].text, 0, UINT64_MAX));
  for (Reply& key : reply.items[1].items) keys.push_back(std::move(key.text));
  return next;
}

template <typename Take, typename More>
Result<size_t> RedisSession::dump_all(std::span<const std::string_view> keys, Take take, More more) {
  size_t done = 0;
  while (done < keys.size() && more()) {
    const uint64_t fitting = std::clamp<uint64_t>(kPipelineBytes / std::max<uint64_t>(mean_bytes_, 1), 1, kPipelineKeysMax);
    const auto pipeline = keys.subspan(done, std::min<size_t>(fitting, keys.size() - done));
    for (std::string_view key : pipeline) {
      client_.append({"DUMP", key});
      client_.append({"PEXPIRETIME", key});
    }
    SLIPRING_TRY(client_.flush());
    std::optional<std::string> dump;
    uint64_t bytes = 0;
    SLIPRING_TRY(read_all(client_, pipeline.size() * 2, [&](size_t i, Reply reply) {
      if (i % 2 == 0) {
        dump.reset();
        if (!reply.is_null()) dump = std::move(reply.text);
        return;
      }
      // -1: no expiry, -2: no key. A key that expired between the two is absent.
      if (!dump || reply.integer == -2) return;
      bytes += dump->size();
      take(done + i / 2, std::move(*dump), reply.integer > 0 ? reply.integer : 0);
    }));
    mean_bytes_ = bytes / pipeline.size();
    done += pipeline.size();
  }
  return done;
}

Result<std::vector<StoredKey>> RedisSession::read(std::span<const std::string_view> keys, bool payload,
                                                  uint64_t bytes_max) {
  std::vector<StoredKey> found(keys.size());
  if (!payload) {
    for (std::string_view key : keys) client_.append({"EXISTS", key});
    SLIPRING_TRY(client_.flush());
    SLIPRING_TRY(read_all(client_, keys.size(), [&](size_t i, const Reply& reply) {
      if (reply.integer != 0) found[i].state = StoredKey::State::kPresent;
    }));
    return found;
  }
  uint64_t kept = 0;
  const auto keep = [&](size_t i, std::string dump, int64_t expire_ms) {
    StoredKey& key = found[i];
    key.bytes = dump.size();
    key.expire_ms = expire_ms;
    key.state = dump.size() > bytes_max ? StoredKey::State::kTooBig : StoredKey::State::kPresent;
    if (key.state != StoredKey::State::kPresent) return;
    kept += dump.size();
    key.payload = std::move(dump);
  };
  SLIPRING_ASSIGN(const size_t done, dump_all(keys, keep, [&] { return kept < kReadBytesMax; }));
  for (size_t i = done; i < found.size(); ++i) found[i].state = StoredKey::State::kUnread;
  return found;
}

Result<std::vector<StoredKey>> RedisSession::digest(std::span<const std::string_view> keys, int64_t wall_ms,
                                                    uint64_t bytes_max) {
  std::vector<StoredKey> found(keys.size());
  std::optional<Error> undecodable;
  const auto take = [&](size_t i, const std::string& dump, int64_t expire_ms) {
    StoredKey& key = found[i];
    key.bytes = dump.size();
    key.expire_ms = expire_ms;
    key.state = dump.size() > bytes_max ? StoredKey::State::kTooBig : StoredKey::State::kPresent;
    if (key.state == StoredKey::State::kTooBig) return;
    auto value = rdb::digest_value(dump, static_cast<uint64_t>(std::max<int64_t>(wall_ms, 0)));
    if (!value && !undecodable) undecodable = std::move(value.error());
    if (!value) return;
    const rdb::Digest digest = rdb::digest_key(
        keys[i], expire_ms > 0 ? std::optional(static_cast<uint64_t>(expire_ms)) : std::nullopt, *value);
    key.digest_low = digest.low;
    key.digest_high = digest.high;
  };
  SLIPRING_TRY(dump_all(keys, take, [] { return true; }));
  if (undecodable) return fail_in(endpoint().address, *undecodable);
  return found;
}

Result<std::vector<bool>> RedisSession::restore(std::span<const RestoreItem> items, bool if_absent) {
  // By reply: which item it belongs to; every RESTORE has one, those with a near expiry an EXISTS behind it.
  std::vector<std::pair<size_t, bool>> replies;
  const SystemClock clock;
  const int64_t near_ms = clock.wall_ms() + kNearExpiryMs;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string expire = std::to_string(items[i].expire_ms);
    if (if_absent) {
      client_.append({"RESTORE", items[i].key, expire, items[i].payload, "ABSTTL"});
    } else {
      client_.append({"RESTORE", items[i].key, expire, items[i].payload, "REPLACE", "ABSTTL"});
    }
    replies.emplace_back(i, true);
    if (items[i].expire_ms == 0 || items[i].expire_ms > near_ms) continue;
    client_.append({"EXISTS", items[i].key});
    replies.emplace_back(i, false);
  }
  SLIPRING_TRY(client_.flush());
  std::vector<bool> stands(items.size(), false);
  std::optional<Error> first;
  for (const auto& [item, is_restore] : replies) {
    SLIPRING_ASSIGN(Reply reply, client_.read_reply());
    if (!is_restore) {
      stands[item] = stands[item] && reply.integer != 0;
    } else if (!reply.is_error()) {
      stands[item] = true;
    } else if (!(if_absent && reply.text.starts_with("BUSYKEY")) && !first) {
      first = as_result(std::move(reply)).error();
    }
  }
  if (first) return fail_in(fmt::format("{}: RESTORE", endpoint().address), *first);
  return stands;
}

Result<std::vector<bool>> RedisSession::remove(std::span<const std::string_view> keys) {
  for (std::string_view key : keys) client_.append({"UNLINK", key});
  SLIPRING_TRY(client_.flush());
  std::vector<bool> existed(keys.size(), false);
  SLIPRING_TRY(read_all(client_, keys.size(), [&](size_t i, const Reply& reply) { existed[i] = reply.integer != 0; }));
  return existed;
}

}  // namespace slipring::redis
