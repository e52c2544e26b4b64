#include "tests/e2e/checker/model.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace slipring::checker {
namespace {

constexpr int64_t kExpiryMs = 3'600'000;
constexpr int64_t kExpirySlackMs = 5'000;
constexpr uint32_t kFields = 16;

bool is(const Reply& reply, int64_t integer) {
  return reply.type == Reply::Type::kInteger && reply.integer == integer;
}
bool is_ok(const Reply& reply) {
  return reply.type == Reply::Type::kStatus && reply.text == "OK";
}
bool is_text(const Reply& reply, const std::string& text) {
  return reply.type == Reply::Type::kBulk && reply.text == text;
}

std::string show(const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::kNull:
      return "nothing";
    case Reply::Type::kInteger:
      return std::to_string(reply.integer);
    case Reply::Type::kArray:
      return "an array of " + std::to_string(reply.items.size());
    default:
      return "\"" + reply.text.substr(0, 80) + "\"";
  }
}

std::string right_if(bool right, const std::string& expected, const Reply& reply) {
  return right ? std::string() : "expected " + expected + ", got " + show(reply);
}

std::string field(uint32_t n) {
  return "f" + std::to_string(n % kFields);
}

// field -> number of the last write among the first n that set it.
std::map<std::string, std::string> fields_after(uint32_t n) {
  std::map<std::string, std::string> out;
  for (uint32_t i = n > kFields ? n - kFields + 1 : 1; i <= n; ++i) out[field(i)] = std::to_string(i);
  return out;
}

// The n-th member of a set: numbers for some keys, so that small sets of both encodings are there.
std::string member(uint32_t key, uint32_t n) {
  return key % 2 == 0 ? std::to_string(n) : "member " + std::to_string(n);
}

std::string check_members(uint32_t key, uint32_t n, const Reply& reply) {
  std::set<std::string> held;
  for (const Reply& item : reply.items) held.insert(item.text);
  std::set<std::string> wanted;
  for (uint32_t i = 1; i <= n; ++i) wanted.insert(member(key, i));
  return right_if(held == wanted, "the members of " + std::to_string(n) + " writes", reply);
}

std::map<std::string, std::string> pairs_of(const Reply& reply) {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) out[reply.items[i].text] = reply.items[i + 1].text;
  return out;
}

// Write n of a stream adds an entry, reads it in the group, or acknowledges it, in turn.
uint32_t entries_after(uint32_t n) {
  return (n + 2) / 3;
}

std::string check_stream(uint32_t n, const Reply& reply) {
  const uint32_t entries = entries_after(n);
  if (reply.items.size() != entries) return right_if(false, std::to_string(entries) + " entries", reply);
  for (uint32_t i = 0; i < entries; ++i) {
    const Reply& entry = reply.items[i];
    const bool right = entry.items.size() == 2 && entry.items[1].items.size() == 2 &&
                       entry.items[1].items[1].text == std::to_string(i + 1);
    if (!right) return "entry " + std::to_string(i + 1) + " is not the one that was added";
  }
  return {};
}

std::string check_list(uint32_t n, const Reply& reply) {
  if (reply.items.size() != n) return right_if(false, std::to_string(n) + " elements", reply);
  for (uint32_t i = 0; i < n; ++i) {
    if (reply.items[i].text != std::to_string(n - i)) return "element " + std::to_string(i) + " is out of order";
  }
  return {};
}

}  // namespace

Kind Model::kind(uint32_t key) {
  // Sixteen draws.
  constexpr Kind kDraws[] = {Kind::kString, Kind::kString, Kind::kString, Kind::kCounter, Kind::kCounter, Kind::kList,
                             Kind::kList,   Kind::kHash,   Kind::kHash,   Kind::kZset,    Kind::kStream,  Kind::kStream,
                             Kind::kSet,    Kind::kSet,    Kind::kExpiry, Kind::kGone};
  return kDraws[(key * 2654435761u) >> 28];
}

bool Model::has_lasting_expiry(uint32_t key) {
  const Kind k = kind(key);
  if (k == Kind::kString || k == Kind::kExpiry || k == Kind::kGone) return false;
  return ((key * 2654435761u) >> 27 & 1) != 0;
}

std::string Model::name(uint32_t key) const {
  return prefix_ + std::string(1, "sclhzxmeg"[static_cast<size_t>(kind(key))]) + ":" + std::to_string(key);
}

std::vector<std::string> Model::expiry_command(uint32_t key) const {
  return {"PEXPIRE", name(key), std::to_string(kExpiryMs)};
}

void Model::set_expiry(uint32_t key, int64_t now_ms) {
  states_[key].expires_at_ms = now_ms + kExpiryMs;
}

std::string Model::check_expiry(uint32_t key, const Reply& reply, int64_t now_ms) const {
  if (reply.is_error()) return reply.text;
  const int64_t left = has_lasting_expiry(key) ? states_[key].expires_at_ms - now_ms : -1;
  return right_if(left < 0 ? is(reply, left) : std::abs(reply.integer - left) < kExpirySlackMs,
                  left < 0 ? "no expiry" : std::to_string(left) + " ms left", reply);
}

std::string Model::value(uint32_t key, uint32_t n) {
  return std::to_string(key) + "/" + std::to_string(n) + "/" + std::string((key * 31 + n * 7) % 200, 'v');
}

uint32_t Model::number_in(uint32_t key, const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos || text.substr(0, slash) != std::to_string(key)) return 0;
  const auto n = static_cast<uint32_t>(std::strtoul(text.c_str() + slash + 1, nullptr, 10));
  return text == value(key, n) ? n : 0;
}

std::vector<std::string> Model::write_command(uint32_t key) const {
  const std::string k = name(key);
  const uint32_t n = states_[key].acknowledged + 1;
  const std::string number = std::to_string(n);
  switch (kind(key)) {
    case Kind::kString:
      return {"SET", k, value(key, n)};
    case Kind::kCounter:
      return {"INCR", k};
    case Kind::kList:
      return {"LPUSH", k, number};
    case Kind::kHash:
      return {"HSET", k, field(n), number};
    case Kind::kZset:
      return {"ZADD", k, number, field(n)};
    case Kind::kStream:
      if (n % 3 == 1) return {"XADD", k, "*", "n", std::to_string(entries_after(n))};
      if (n % 3 == 2) return {"XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", k, ">"};
      return {"XACK", k, "g", states_[key].entry};
    case Kind::kSet:
      return {"SADD", k, member(key, n)};
    case Kind::kExpiry:
      if (n % 2 == 1) return {"SET", k, value(key, n)};
      return {"PEXPIRE", k, std::to_string(kExpiryMs)};
    case Kind::kGone:
      if (n % 2 == 1) return {"SET", k, value(key, n)};
      return {n % 4 == 0 ? "DEL" : "GETDEL", k};
  }
  return {};
}

std::string Model::check_write(uint32_t key, const Reply& reply) const {
  const uint32_t n = states_[key].acknowledged + 1;
  const int64_t fresh = n <= kFields ? 1 : 0;
  switch (kind(key)) {
    case Kind::kString:
      return right_if(is_ok(reply), "OK", reply);
    case Kind::kCounter:
    case Kind::kList:
      return right_if(is(reply, n), std::to_string(n), reply);
    case Kind::kHash:
    case Kind::kZset:
      return right_if(is(reply, fresh), std::to_string(fresh), reply);
    case Kind::kSet:
      return right_if(is(reply, 1), "1", reply);
    case Kind::kStream:
      if (n % 3 == 1) return right_if(reply.type == Reply::Type::kBulk, "an entry's id", reply);
      if (n % 3 == 0) return right_if(is(reply, 1), "1", reply);
      {
        const bool shaped = reply.items.size() == 1 && reply.items[0].items.size() == 2 &&
                            reply.items[0].items[1].items.size() == 1 &&
                            reply.items[0].items[1].items[0].items.size() == 2;
        if (!shaped) return right_if(false, "one entry", reply);
        const Reply& fields = reply.items[0].items[1].items[0].items[1];
        return right_if(fields.items.size() == 2 && fields.items[1].text == std::to_string(entries_after(n)),
                        "entry " + std::to_string(entries_after(n)), fields);
      }
    case Kind::kExpiry:
      if (n % 2 == 1) return right_if(is_ok(reply), "OK", reply);
      return right_if(is(reply, 1), "1", reply);
    case Kind::kGone:
      if (n % 2 == 1) return right_if(is_ok(reply), "OK", reply);
      if (n % 4 == 0) return right_if(is(reply, 1), "1", reply);
      return right_if(is_text(reply, value(key, n - 1)), "the value that was set", reply);
  }
  return {};
}

void Model::acknowledge(uint32_t key, const Reply& reply, int64_t now_ms) {
  KeyState& state = states_[key];
  const uint32_t n = state.acknowledged + 1;
  if (kind(key) == Kind::kStream && n % 3 == 2) state.entry = reply.items[0].items[1].items[0].items[0].text;
  if (kind(key) == Kind::kExpiry && n % 2 == 0) state.expires_at_ms = now_ms + kExpiryMs;
  state.acknowledged.store(n, std::memory_order_release);
}

std::vector<std::string> Model::read_command(uint32_t key) const {
  const std::string k = name(key);
  switch (kind(key)) {
    case Kind::kList:
      return {"LRANGE", k, "0", "-1"};
    case Kind::kHash:
      return {"HGETALL", k};
    case Kind::kZset:
      return {"ZRANGE", k, "0", "-1", "WITHSCORES"};
    case Kind::kStream:
      return {"XRANGE", k, "-", "+"};
    case Kind::kSet:
      return {"SMEMBERS", k};
    case Kind::kExpiry:
      return {"PTTL", k};
    default:
      return {"GET", k};
  }
}

std::string Model::check_after(uint32_t key, uint32_t n, const Reply& reply, int64_t now_ms) const {
  const bool absent = reply.type == Reply::Type::kNull;
  switch (kind(key)) {
    case Kind::kString:
      if (n == 0) return right_if(absent, "nothing", reply);
      return right_if(is_text(reply, value(key, n)), "write " + std::to_string(n), reply);
    case Kind::kCounter:
      if (n == 0) return right_if(absent, "nothing", reply);
      return right_if(is_text(reply, std::to_string(n)), std::to_string(n), reply);
    case Kind::kList:
      return check_list(n, reply);
    case Kind::kHash:
    case Kind::kZset:
      return right_if(pairs_of(reply) == fields_after(n), "the fields of " + std::to_string(n) + " writes", reply);
    case Kind::kStream:
      return check_stream(n, reply);
    case Kind::kSet:
      return check_members(key, n, reply);
    case Kind::kExpiry: {
      if (n == 0) return right_if(is(reply, -2), "no key", reply);
      if (n % 2 == 1) return right_if(is(reply, -1), "no expiry", reply);
      const int64_t left = states_[key].acknowledged == n ? states_[key].expires_at_ms - now_ms : kExpiryMs;
      return right_if(std::abs(reply.integer - left) < kExpirySlackMs || states_[key].uncertain,
                      std::to_string(left) + " ms left", reply);
    }
    case Kind::kGone:
      if (n % 2 == 0) return right_if(absent, "nothing", reply);
      return right_if(is_text(reply, value(key, n)), "write " + std::to_string(n), reply);
  }
  return {};
}

std::string Model::check_content(uint32_t key, const Reply& reply, int64_t now_ms) const {
  if (reply.is_error()) return reply.text;
  const KeyState& state = states_[key];
  std::string wrong = check_after(key, state.acknowledged, reply, now_ms);
  if (!wrong.empty() && state.uncertain && check_after(key, state.acknowledged + 1, reply, now_ms).empty())
    wrong.clear();
  return wrong;
}

}  // namespace slipring::checker
