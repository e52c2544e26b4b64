// Bytes of payload a second for digests, by kind of value. Beside the time: the bytes of the payload.
#include <benchmark/benchmark.h>

#include "slipring/protocol/rdb/crc64.h"
#include "slipring/protocol/rdb/digest.h"
#include "slipring/protocol/rdb/frame.h"

namespace slipring::rdb {
namespace {

std::string str(std::string_view s) {
  std::string out = "\x80";
  for (int i = 3; i >= 0; --i) out.push_back(static_cast<char>(s.size() >> (8 * i)));
  return out.append(s);
}
std::string count(size_t n) {
  return str(std::string(n, 'x')).substr(0, 5);
}

// Bytes that do not repeat.
std::string noise(size_t n) {
  std::string s(n, '\0');
  uint64_t x = 88172645463325252;
  for (char& c : s) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    c = static_cast<char>(x);
  }
  return s;
}

void run(benchmark::State& state, const std::string& value) {
  const std::string payload = frame_payload(value, 12);
  for (auto _ : state) benchmark::DoNotOptimize(digest_value(payload, 0));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * payload.size()));
  state.counters["payload_bytes"] = static_cast<double>(payload.size());
}

void BM_String(benchmark::State& state) {
  run(state, std::string(1, '\0') + str(noise(static_cast<size_t>(state.range(0)))));
}
BENCHMARK(BM_String)->Arg(20)->Arg(200)->Arg(16384)->Arg(1 << 20);

void BM_Hash(benchmark::State& state) {
  const auto fields = static_cast<size_t>(state.range(0));
  std::string value = std::string("\x04").append(count(fields));
  for (size_t i = 0; i < fields; ++i) value += str("field:" + std::to_string(i)) + str(noise(20));
  run(state, value);
}
BENCHMARK(BM_Hash)->Arg(20)->Arg(100'000);

void BM_Zset(benchmark::State& state) {
  const auto members = static_cast<size_t>(state.range(0));
  std::string value = std::string("\x05").append(count(members));
  for (size_t i = 0; i < members; ++i)
    value += str("member:" + std::to_string(i)) + std::string("\0\0\0\0\0\0\xf0?", 8);
  run(state, value);
}
BENCHMARK(BM_Zset)->Arg(20)->Arg(100'000);

void BM_Crc64(benchmark::State& state) {
  const std::string bytes = noise(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(crc64(bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_Crc64)->Arg(200)->Arg(1 << 20);

}  // namespace
}  // namespace slipring::rdb
