#include "slipring/cli/lab_keys.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <thread>

#include "slipring/base/parse.h"
#include "slipring/base/secret_file.h"
#include "slipring/store/redis/client.h"

namespace slipring::cli {
namespace {

constexpr std::string_view kUrlPrefix = "redis://";
constexpr uint64_t kKeyFileBytesMax = uint64_t{4} << 30;
constexpr const char* kScanCount = "100";
constexpr uint64_t kSizesMax = 100'000;  // keys whose size is asked for
constexpr size_t kSizesAtOnce = 10;
// A server is left alone three times as long as it was busy with us.
constexpr int kPauseFactor = 3;
constexpr Millis kPauseMax{200};

// Reads the keys of one server.
class ServerReader {
 public:
  ServerReader(redis::Client client, uint64_t limit, Console& console, const Clock& clock)
      : client_(std::move(client)), limit_(limit), console_(console), clock_(clock) {}

  Result<lab::KeySet> read() {
    SLIPRING_ASSIGN(const redis::Reply size, client_.call({"DBSIZE"}));
    total_ = static_cast<uint64_t>(std::max<int64_t>(0, size.integer));
    every_ = std::max<uint64_t>(1, (std::min(total_, limit_) + kSizesMax - 1) / kSizesMax);
    std::string cursor = "0";
    do {
      const MonoTime begin = clock_.now();
      SLIPRING_ASSIGN(redis::Reply page, client_.call({"SCAN", cursor, "COUNT", kScanCount}));
      if (page.items.size() != 2) return fail(Code::kUnavailable, "an answer to SCAN that is none");
      cursor = page.items[0].text;
      rest(begin);
      SLIPRING_TRY(take(page.items[1].items));
      tell();
    } while (cursor != "0" && set_.keys.size() < limit_);
    if (set_.keys.empty()) return fail(Code::kInvalidArgument, "the server holds no key");
    set_.has_bytes = true;
    set_.origin = fmt::format("{} keys of {}, sizes of 1 in {}", set_.keys.size(), client_.endpoint().address, every_);
    return std::move(set_);
  }

 private:
  // SCAN may name a key twice: a few more change nothing in figures of shares.
  Status take(std::vector<redis::Reply>& names) {
    std::vector<size_t> asked;
    for (redis::Reply& name : names) {
      if (set_.keys.size() == limit_) break;
      if (set_.keys.size() % every_ == 0) asked.push_back(set_.keys.size());
      set_.keys.push_back({std::move(name.text), 0, 1});
    }
    for (size_t i = 0; i < asked.size(); i += kSizesAtOnce) {
      SLIPRING_TRY(ask_sizes(std::span(asked).subspan(i, std::min(kSizesAtOnce, asked.size() - i))));
    }
    return {};
  }

  // A key stands for all those whose size is not asked for.
  Status ask_sizes(std::span<const size_t> keys) {
    const MonoTime begin = clock_.now();
    for (const size_t key : keys) client_.append({"MEMORY", "USAGE", set_.keys[key].name});
    SLIPRING_TRY(client_.flush());
    for (const size_t key : keys) {
      SLIPRING_ASSIGN(const redis::Reply bytes, client_.read_reply());
      if (bytes.is_error()) return fail(Code::kFailedPrecondition, "MEMORY USAGE: " + bytes.text);
      if (bytes.integer <= 0) continue;
      set_.keys[key].bytes = static_cast<uint64_t>(bytes.integer);
      set_.keys[key].stands_for = static_cast<double>(every_);
    }
    rest(begin);
    return {};
  }

  void rest(MonoTime begin) const {
    const Nanos pause = std::min<Nanos>((clock_.now() - begin) * kPauseFactor, kPauseMax);
    std::this_thread::sleep_for(pause);
  }

  void tell() {
    if (!console_.out_is_terminal || clock_.now() - told_ < Millis(500)) return;
    told_ = clock_.now();
    console_.err << fmt::format("\r{} of {} keys read", set_.keys.size(), total_) << std::flush;
    if (set_.keys.size() >= total_) console_.err << "\n";
  }

  redis::Client client_;
  uint64_t limit_;
  Console& console_;
  const Clock& clock_;
  uint64_t total_ = 0;
  uint64_t every_ = 1;
  MonoTime told_{};
  lab::KeySet set_;
};

Result<lab::KeySet> read_server(const LabKeyOptions& options, Console& console, const Clock& clock) {
  if (!options.from.starts_with(kUrlPrefix) || options.from.find('@') != std::string::npos) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("--from \"{}\": must be redis://HOST:PORT; a password comes from --password-file", options.from));
  }
  std::string address = options.from.substr(kUrlPrefix.size());
  while (address.ends_with('/')) address.pop_back();
  if (auto checked = parse_host_port(address); !checked) return fail_in("--from", checked.error());
  redis::Endpoint endpoint{address, options.user, "", "slipring-lab"};
  if (!options.password_file.empty()) {
    SLIPRING_ASSIGN(endpoint.password, read_secret_file(options.password_file));
    while (endpoint.password.ends_with('\n') || endpoint.password.ends_with('\r')) endpoint.password.pop_back();
    if (endpoint.user.empty()) endpoint.user = "default";
  }
  SLIPRING_ASSIGN(redis::Client client, redis::Client::connect(endpoint));
  return ServerReader(std::move(client), options.limit, console, clock).read();
}

Result<lab::KeySet> read_file(const std::string& path, Console& console) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(console.in), {});
  } else {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) return fail(Code::kInvalidArgument, fmt::format("--keys {}: cannot be read", path));
    if (static_cast<uint64_t>(in.tellg()) > kKeyFileBytesMax) {
      return fail(Code::kInvalidArgument, fmt::format("--keys {}: larger than {} bytes", path, kKeyFileBytesMax));
    }
    in.seekg(0);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  return lab::parse_keys(text, path == "-" ? "standard input" : path);
}

}  // namespace

void add_lab_key_options(CLI::App& command, LabKeyOptions& o) {
  command.add_option("--keys", o.file, "a file with one key a line, its size behind a tab if known; -: standard input");
  command.add_option("--sample", o.sample, "so many synthetic keys")
      ->check(CLI::Range(uint64_t{1}, uint64_t{lab::kLabKeysMax}))
      ->capture_default_str();
  command.add_option("--shape", o.shape, "of synthetic keys: uniform, sequential or zipf")->capture_default_str();
  command.add_option("--seed", o.seed, "of synthetic keys")->capture_default_str();
  command.add_option("--from", o.from, "the keys of a running server: redis://HOST:PORT; read gently");
  command.add_option("--user", o.user, "to log in there");
  command.add_option("--password-file", o.password_file, "file, mode 0600, with the password for it");
  command.add_option("--limit", o.limit, "no more keys than these of a server")
      ->check(CLI::Range(uint64_t{1}, uint64_t{lab::kLabKeysMax}))
      ->capture_default_str();
}

Result<lab::KeySet> read_lab_keys(const LabKeyOptions& options, Console& console, const Clock& clock) {
  if (!options.from.empty() && !options.file.empty()) {
    return fail(Code::kInvalidArgument, "--keys and --from: only one of them");
  }
  if (!options.from.empty()) return read_server(options, console, clock);
  if (!options.file.empty()) return read_file(options.file, console);
  const auto shape = lab::parse_key_shape(options.shape);
  if (!shape) {
    return fail(Code::kInvalidArgument,
                fmt::format("--shape \"{}\": must be uniform, sequential or zipf", options.shape));
  }
  return lab::synthetic_keys(options.sample, *shape, options.seed);
}

}  // namespace slipring::cli
