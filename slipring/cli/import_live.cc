#include "slipring/cli/import_live.h"

#include <fmt/format.h>

#include "slipring/cli/text.h"
#include "slipring/control/secret_file.h"
#include "slipring/import/diagnose.h"
#include "slipring/net/blocking_stream.h"
#include "slipring/store/redis/client.h"

namespace slipring::cli {
namespace {

constexpr uint64_t kKeysReadMax = 1'000'000;  // of a server, to find a sample with the pool's prefix
constexpr Millis kConnectTimeout{2000};
constexpr Millis kIoTimeout{10'000};

using Keys = std::vector<std::string>;

class Sample {
 public:
  Sample(const Pool& pool, uint64_t wanted) : prefix_(pool.key_prefix), wanted_(wanted) {}
  void add(std::string key) {
    ++read_;
    if (key.starts_with(prefix_) && keys_.size() < wanted_) keys_.push_back(std::move(key));
  }
  bool full() const { return keys_.size() == wanted_ || read_ >= kKeysReadMax; }
  Keys take() { return std::move(keys_); }

 private:
  std::string prefix_;
  uint64_t wanted_;
  uint64_t read_ = 0;
  Keys keys_;
};

Result<Keys> sample_redis(const std::string& address, const control::NodeCredentials& credentials, Sample sample) {
  redis::Endpoint endpoint;
  endpoint.address = address;
  endpoint.name = "slipring/import";
  endpoint.connect_timeout = kConnectTimeout;
  endpoint.io_timeout = kIoTimeout;
  if (const control::NodeCredential* found = credentials.find(address)) {
    endpoint.user = found->user;
    endpoint.password = found->password;
  }
  SLIPRING_ASSIGN(redis::Client client, redis::Client::connect(endpoint));
  std::string cursor = "0";
  do {
    SLIPRING_ASSIGN(redis::Reply reply, client.call({"SCAN", cursor, "COUNT", "1000"}));
    if (reply.items.size() != 2) return fail(Code::kDataLoss, address + ": SCAN: no pair");
    for (redis::Reply& key : reply.items[1].items) sample.add(std::move(key.text));
    cursor = reply.items[0].text;
  } while (cursor != "0" && !sample.full());
  return sample.take();
}

// %XX of a key in a metadump.
std::string decode_percent(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : digit(text[i + 2]);
    out.push_back(low < 0 ? text[i] : static_cast<char>(high * 16 + low));
    if (low >= 0) i += 2;
  }
  return out;
}

// "key=foo exp=-1 la=... END": the keys up to END, or until there are enough.
Result<Keys> sample_memcached(const std::string& address, Sample sample) {
  constexpr size_t kChunk = 64 * 1024;
  constexpr size_t kLineMax = 4096;
  SLIPRING_ASSIGN(net::BlockingStream stream, net::BlockingStream::connect(address, kConnectTimeout));
  SLIPRING_TRY(stream.write("lru_crawler metadump all\r\n", kIoTimeout));
  std::string buffer;
  while (!sample.full()) {
    const size_t end = buffer.find('\n');
    if (end == buffer.npos) {
      if (buffer.size() > kLineMax)
        return fail(Code::kDataLoss, address + ": lru_crawler metadump: a line without end");
      SLIPRING_TRY(stream.read_some(buffer, kChunk, kIoTimeout));
      continue;
    }
    const std::string_view line = std::string_view(buffer).substr(0, end);
    if (line.starts_with("END")) break;
    if (!line.starts_with("key="))
      return fail(Code::kFailedPrecondition, fmt::format("{}: lru_crawler metadump: {}", address, printable(line)));
    sample.add(decode_percent(line.substr(4, line.find(' ') - 4)));
    buffer.erase(0, end + 1);
  }
  return sample.take();
}

Result<Keys> sample_server(const import::Imported& imported, const std::string& address,
                           const control::NodeCredentials& credentials, Sample sample) {
  if (imported.protocol == import::Protocol::kRedis) return sample_redis(address, credentials, std::move(sample));
  if (imported.protocol == import::Protocol::kMemcached) return sample_memcached(address, std::move(sample));
  return fail(Code::kInvalidArgument,
              "--verify-live: these servers cannot list their keys; --protocol redis or memcached "
              "says that they can");
}

std::string cause_of(const Pool& pool, const std::vector<import::Sighting>& sightings, const LiveReport& report) {
  const import::Diagnosis found = import::diagnose(pool.layout, sightings);
  if (found.cause.empty() || found.share < report.share() + 0.05) {
    return "no other hash, tag, weights, identity or order explains it: the text may be of another fleet, or other "
           "clients write past it";
  }
  return fmt::format("{} of them would if {}", human_share(found.share), found.cause);
}

}  // namespace

Result<LiveReport> verify_live(const import::Imported& imported, const Pool& pool, const LiveOptions& options) {
  control::NodeCredentials credentials;
  if (!options.credentials_file.empty()) {
    SLIPRING_ASSIGN(credentials, control::NodeCredentials::read(options.credentials_file));
  }
  SLIPRING_ASSIGN(const auto scheme, make_scheme(pool.layout));
  LiveReport report;
  std::vector<import::Sighting> sightings;
  for (NodeIndex i = 0; i < pool.layout.nodes.size(); ++i) {
    const Node& node = pool.layout.nodes[i];
    SLIPRING_ASSIGN(const Keys keys,
                    sample_server(imported, node.instance.address, credentials, Sample(pool, options.sample)));
    LiveServer server{node.name, keys.size(), 0};
    for (const std::string& key : keys) {
      if (scheme->owner(key) == i) ++server.at_home;
      sightings.push_back({key, i});
    }
    report.sampled += server.sampled;
    report.at_home += server.at_home;
    report.servers.push_back(std::move(server));
  }
  if (report.share() < kLiveShareMin) report.cause = cause_of(pool, sightings, report);
  return report;
}

}  // namespace slipring::cli
