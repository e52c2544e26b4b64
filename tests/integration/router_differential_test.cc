// Whatever a client does with single-key commands and the split ones, a router with four nodes answers byte for byte as
// one redis-server does. Random sequences; the seed of a failure is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "slipring/base/random.h"
#include "slipring/protocol/resp/command.h"
#include "tests/support/router_fixture.h"

namespace slipring::testing {
namespace {

using Words = std::vector<std::string>;

// One line a command: words are literal, K a key, V a value, F a field or member, I a small integer, N a score, T a
// number of seconds; X... repeats X one to four times. Commands with random or time-dependent answers stay away.
const char* const kCommands[] = {
    "SET K V",
    "SET K V NX",
    "SET K V XX GET",
    "SET K V EX T",
    "SET K V KEEPTTL",
    "SETNX K V",
    "SETEX K T V",
    "GETSET K V",
    "GET K",
    "GETDEL K",
    "GETEX K PERSIST",
    "APPEND K V",
    "STRLEN K",
    "SETRANGE K I V",
    "GETRANGE K I I",
    "SUBSTR K I I",
    "INCR K",
    "DECR K",
    "INCRBY K I",
    "DECRBY K I",
    "INCRBYFLOAT K N",
    "SETBIT K I 1",
    "GETBIT K I",
    "BITCOUNT K",
    "BITCOUNT K I I",
    "BITPOS K 1",
    "BITFIELD K INCRBY u8 I I",
    "BITFIELD_RO K GET u8 I",
    "EXPIRE K 1000",
    "PERSIST K",
    "TYPE K",
    "OBJECT ENCODING K",
    "OBJECT REFCOUNT K",
    "LPUSH K V...",
    "RPUSH K V...",
    "LPUSHX K V",
    "RPUSHX K V",
    "LPOP K",
    "RPOP K I",
    "LLEN K",
    "LRANGE K I I",
    "LRANGE K 0 -1",
    "LINDEX K I",
    "LSET K I V",
    "LINSERT K BEFORE V V",
    "LREM K I V",
    "LTRIM K I I",
    "LPOS K V",
    "HSET K F V",
    "HSETNX K F V",
    "HGET K F",
    "HMGET K F...",
    "HDEL K F...",
    "HEXISTS K F",
    "HLEN K",
    "HSTRLEN K F",
    "HINCRBY K F I",
    "HINCRBYFLOAT K F N",
    "HMSET K F V F V",
    "SADD K F",
    "SREM K F...",
    "SISMEMBER K F",
    "SMISMEMBER K F...",
    "SCARD K",
    "ZADD K N F",
    "ZADD K NX N F N F",
    "ZADD K GT CH N F",
    "ZINCRBY K N F",
    "ZREM K F...",
    "ZSCORE K F",
    "ZMSCORE K F...",
    "ZCARD K",
    "ZCOUNT K -inf N",
    "ZRANGE K I I",
    "ZRANGE K I I WITHSCORES",
    "ZRANGE K N N BYSCORE",
    "ZREVRANGE K I I",
    "ZRANGEBYSCORE K -inf +inf",
    "ZRANK K F",
    "ZREVRANK K F",
    "ZPOPMIN K",
    "ZPOPMAX K I",
    "ZREMRANGEBYRANK K I I",
    "ZREMRANGEBYSCORE K N N",
    "ZLEXCOUNT K - +",
    "ZRANGEBYLEX K - +",
    "PFADD K V...",
    "PFCOUNT K",
    "GEOADD K I I F",
    "GEOPOS K F...",
    "GEODIST K F F",
    "GEOHASH K F",
    "XADD K I-1 F V",
    "XADD K NOMKSTREAM I-2 F V",
    "XLEN K",
    "XRANGE K - +",
    "XREVRANGE K + -",
    "XDEL K I-1",
    "XTRIM K MAXLEN I",
    "XGROUP CREATE K g 0 MKSTREAM",
    "XREAD COUNT I STREAMS K 0",
    "XREADGROUP GROUP g c STREAMS K >",
    "XACK K g I-1",
    "XPENDING K g",
    "SORT K ALPHA",
    "SORT K LIMIT I I",
    "COPY K K",
    "RENAME K K",
    "MGET K...",
    "MSET K V",
    "MSET K V K V K V",
    "DEL K...",
    "UNLINK K...",
    "EXISTS K...",
    "TOUCH K...",
    "PING",
    "ECHO V",
    "SELECT 0",
    "GET",
    "NOSUCH K",
    "SET K",
    "HSET K F",
    "OBJECT NOPE K",
    "XGROUP NOPE K",
    "EXPIRE K V",
    "GETRANGE K V V",
};

struct Words_ {
  explicit Words_(Random& r) : random(r) {}
  std::string pick(std::initializer_list<const char*> of) { return of.begin()[random.below(of.size())]; }
  std::string word(const std::string& kind) {
    // Every key shares its tag with a few others, so commands of two keys meet both cases.
    if (kind == "K") return "k" + std::to_string(random.below(30));
    if (kind == "F") return "f" + std::to_string(random.below(6));
    if (kind == "V") return pick({"1", "22", "v", "", "a longer value with \r\n in it", "3.5", "-7", "x"});
    if (kind == "I") return std::to_string(static_cast<int>(random.below(12)) - (random.chance(0.2) ? 4 : 0));
    if (kind == "N") return pick({"0", "1", "2.5", "-3", "100", "1e3"});
    if (kind == "T") return std::to_string(1000 + random.below(1000));
    if (kind.starts_with("I-")) return std::to_string(random.below(50)) + kind.substr(1);
    return kind;
  }
  Words command() {
    Words words;
    const std::string line = kCommands[random.below(std::size(kCommands))];
    for (size_t at = 0; at < line.size();) {
      std::string kind = line.substr(at, line.find(' ', at) - at);
      at += kind.size() + 1;
      const bool repeated = kind.ends_with("...");
      if (repeated) kind.resize(kind.size() - 3);
      for (size_t n = repeated ? random.below(4) + 1 : 1; n > 0; --n) words.push_back(word(kind));
    }
    if (random.chance(0.1)) std::transform(words[0].begin(), words[0].end(), words[0].begin(), ::tolower);
    return words;
  }
  Random& random;
};

std::string show(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += word + " ";
  return out;
}

// Commands of several keys that are not split are asked only where they lie together: apart they are refused, which is
// tested elsewhere.
bool same_answer_expected(const RouterFixture& fleet, const Words& words) {
  if (words[0] != "COPY" && words[0] != "RENAME" && words[0] != "copy" && words[0] != "rename") return true;
  return fleet.node_of(words[1]) == fleet.node_of(words[2]);
}

void expect_same_answers(resp::Version version, uint64_t first_seed, int sequences, int length) {
  RouterFixture fleet(4);
  RouterFixture single(1);
  RawClient plain(single.server(0).port());
  for (int sequence = 0; sequence < sequences; ++sequence) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(sequence);
    Random random(seed);
    Words_ generator(random);
    RawClient routed(fleet.port());
    if (version == resp::Version::kResp3) {
      routed.ask({"HELLO", "3"});
      plain.ask({"HELLO", "3"});
    }
    std::vector<Words> asked;
    std::string sent;
    for (int i = 0; i < length; ++i) {
      Words words = generator.command();
      if (!same_answer_expected(fleet, words)) continue;
      resp::append_command(sent, std::span<const std::string>(words));
      asked.push_back(std::move(words));
    }
    routed.send(sent);
    plain.send(sent);
    for (const Words& words : asked) {
      const std::string expected = plain.read_reply();
      ASSERT_EQ(routed.read_reply(), expected) << "seed " << seed << ": " << show(words);
    }
    plain.ask({"FLUSHALL"});
    for (int node = 0; node < fleet.node_count(); ++node) fleet.ask_server(node, {"FLUSHALL"});
  }
}

TEST(RouterDifferential, AnswersAsOneServerDoesInResp2) {
  expect_same_answers(resp::Version::kResp2, 1000, 40, 500);
}
TEST(RouterDifferential, AnswersAsOneServerDoesInResp3) {
  expect_same_answers(resp::Version::kResp3, 5000, 40, 500);
}

TEST(RouterDifferential, TransactionsAnswerAsOneServersDo) {
  RouterFixture fleet(4);
  RouterFixture single(1);
  RawClient plain(single.server(0).port());
  RawClient routed(fleet.port());
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Words_ generator(random);
    std::string sent;
    int commands = 2;
    resp::append_command(sent, {"MULTI"});
    for (size_t n = random.below(12); n > 0; --n, ++commands) {
      Words words = generator.command();
      for (std::string& word : words) {
        if (word.starts_with("k") && word.size() <= 3) word = "{t}" + word;
      }
      if (words[0] == "SELECT" || words[0] == "select") words = {"PING"};
      resp::append_command(sent, std::span<const std::string>(words));
    }
    resp::append_command(sent, {random.chance(0.8) ? "EXEC" : "DISCARD"});
    routed.send(sent);
    plain.send(sent);
    for (int i = 0; i < commands; ++i) {
      const std::string expected = plain.read_reply();
      ASSERT_EQ(routed.read_reply(), expected) << "seed " << seed << " reply " << i;
    }
  }
}

}  // namespace
}  // namespace slipring::testing
