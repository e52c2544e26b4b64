#include "slipring/cli/up_layout.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "slipring/base/parse.h"
#include "slipring/base/secret.h"
#include "slipring/base/secret_file.h"
#include "slipring/cli/config_table.h"
#include "slipring/control/secret_file.h"

namespace slipring::cli {
namespace {

constexpr std::string_view kAdmin = "slipring-admin";

Status make_private_dir(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(Code::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return {};
}

Status check_private(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(Code::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  if (!S_ISDIR(info.st_mode)) return fail(Code::kInvalidArgument, fmt::format("{}: is no directory", path));
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return fail(Code::kPermissionDenied,
                fmt::format("{}: holds passwords, so it must be yours alone: chmod 700 {}", path, path));
  }
  return {};
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    words.push_back(word);
  }
  return words;
}

Result<uint16_t> parse_port(std::string_view text) {
  SLIPRING_ASSIGN(const uint64_t port, parse_u64(text, 1, 65535));
  return static_cast<uint16_t>(port);
}

Status decode_line(const std::vector<std::string_view>& words, UpState& state) {
  const auto bad = [] { return fail(Code::kDataLoss, "cannot be read"); };
  if (words.size() == 2 && words[0] == "channel") {
    SLIPRING_ASSIGN(state.channel_port, parse_port(words[1]));
    return {};
  }
  if (words.size() != 4 || (words[0] != "seed" && words[0] != "node")) return bad();
  UpNode node;
  node.name = words[1];
  SLIPRING_TRY(check_node_name(node.name));
  SLIPRING_ASSIGN(node.port, parse_port(words[2]));
  if (words[3] != "joined" && words[3] != "new") return bad();
  node.joined = words[3] == "joined";
  (words[0] == "seed" ? state.seed : state.nodes).push_back(std::move(node));
  return {};
}

// A value of redis.conf in quotes.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string redis_conf(const UpNode& node, const std::string& dir, const std::string& fsync) {
  return fmt::format(
      "# Written by `slipring up` at every start.\n"
      "bind 127.0.0.1\nport {}\ndir {}\naclfile {}\nlogfile \"\"\ndaemonize no\n"
      "appendonly yes\nappendfsync {}\nsave \"\"\nmaxmemory-policy noeviction\n"
      // A feed of changed keys needs a backlog, and a replica's full copy that never reaches the disk.
      "repl-diskless-sync yes\nrepl-diskless-sync-delay 5\nrepl-diskless-sync-max-replicas 0\n"
      "repl-backlog-size 64mb\nrepl-backlog-ttl 3600\nmin-replicas-to-write 0\n"
      "enable-debug-command no\nenable-module-command no\ntcp-keepalive 60\n",
      node.port, in_quotes(dir), in_quotes(dir + "/users.acl"), fsync);
}

// The tables of a configuration as a file that reads back to the same values; defaults are left out.
std::string render_tables(const Config& config, std::initializer_list<std::string_view> tables) {
  const Config defaults;
  std::string text = "# Written by `slipring up` at every start.\n";
  for (const std::string_view table : tables) {
    text += fmt::format("\n[{}]\n", table);
    for (const Setting& s : all_settings()) {
      const std::string value = format_value(s, config);
      if (s.table == table && value != format_value(s, defaults)) text += fmt::format("{} = {}\n", s.key, value);
    }
  }
  return text;
}

}  // namespace

std::vector<uint16_t> UpState::ports() const {
  std::vector<uint16_t> all = {channel_port};
  for (const UpNode& node : seed) all.push_back(node.port);
  for (const UpNode& node : nodes) all.push_back(node.port);
  return all;
}

const UpNode* UpState::find(std::string_view name) const {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const UpNode& n) { return n.name == name; });
  return it == nodes.end() ? nullptr : &*it;
}

std::string encode_state(const UpState& state) {
  std::string text = fmt::format("channel {}\n", state.channel_port);
  const auto add = [&](std::string_view kind, const UpNode& node) {
    text += fmt::format("{} {} {} {}\n", kind, node.name, node.port, node.joined ? "joined" : "new");
  };
  for (const UpNode& node : state.seed) add("seed", node);
  for (const UpNode& node : state.nodes) add("node", node);
  return text;
}

Result<UpState> decode_state(std::string_view text) {
  UpState state;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!decode_line(split(line), state)) return fail(Code::kDataLoss, fmt::format("line {}: cannot be read", number));
  }
  if (state.channel_port == 0) return fail(Code::kDataLoss, "no line with the channel's port");
  return state;
}

Result<UpLayout> UpLayout::open(const std::string& dir) {
  SLIPRING_TRY(make_private_dir(dir));
  char absolute[PATH_MAX];
  if (::realpath(dir.c_str(), absolute) == nullptr)
    return fail(Code::kUnavailable, fmt::format("{}: {}", dir, std::strerror(errno)));
  SLIPRING_TRY(check_private(absolute));
  UpLayout layout(absolute);
  for (const char* folder : {"run", "log", "node", "controller", "router"}) {
    SLIPRING_TRY(make_private_dir(layout.path(folder)));
  }
  return layout;
}

Result<UpState> UpLayout::load_state() const {
  const auto text = read_secret_file(path("up.state"));
  if (!text && text.error().code == Code::kNotFound) return UpState{};
  if (!text) return fail(text.error());
  const auto state = decode_state(*text);
  if (!state) return fail_in(path("up.state"), state.error());
  return *state;
}

Status UpLayout::save_state(const UpState& state) const {
  return write_secret_file(path("up.state"), encode_state(state));
}

Status UpLayout::ensure_token() const {
  if (std::filesystem::exists(path("channel.token"))) return {};
  return write_secret_file(path("channel.token"), random_secret() + "\n");
}

Result<std::string> UpLayout::password_of(const UpNode& node) const {
  std::vector<control::NodeCredential> lines;
  const auto all = control::NodeCredentials::read(path("credentials"));
  if (!all && all.error().code != Code::kNotFound) return fail(all.error());
  if (all) lines = all->all();
  for (const control::NodeCredential& line : lines) {
    if (line.address == node_address(node)) return line.password;
  }
  lines.push_back({node_address(node), std::string(kAdmin), random_secret()});
  SLIPRING_TRY(write_secret_file(path("credentials"), control::format_credentials(lines)));
  return lines.back().password;
}

Status UpLayout::write_node(const UpNode& node, const std::string& fsync) const {
  const std::string dir = path("node/" + node.name);
  SLIPRING_TRY(make_private_dir(dir));
  SLIPRING_ASSIGN(const std::string password, password_of(node));
  SLIPRING_TRY(write_secret_file(dir + "/users.acl",
                                 fmt::format("user default off\nuser {} on >{} ~* &* +@all\n", kAdmin, password)));
  return write_secret_file(dir + "/redis.conf", redis_conf(node, dir, fsync));
}

Status UpLayout::forget_password(const UpNode& node) const {
  SLIPRING_ASSIGN(const auto all, control::NodeCredentials::read(path("credentials")));
  std::vector<control::NodeCredential> lines = all.all();
  std::erase_if(lines, [&](const auto& line) { return line.address == node_address(node); });
  return write_secret_file(path("credentials"), control::format_credentials(lines));
}

Status UpLayout::remove_node(const UpNode& node) const {
  std::error_code error;
  std::filesystem::remove_all(path("node/" + node.name), error);
  if (error) return fail(Code::kUnavailable, fmt::format("{}: {}", path("node/" + node.name), error.message()));
  return forget_password(node);
}

Status UpLayout::retire_node(const UpNode& node, int64_t wall_ms) const {
  std::error_code error;
  std::filesystem::rename(path("node/" + node.name), path(fmt::format("node/{}.removed-{}", node.name, wall_ms)),
                          error);
  if (error) return fail(Code::kUnavailable, fmt::format("{}: {}", path("node/" + node.name), error.message()));
  return forget_password(node);
}

Status UpLayout::write_controller(const Config& config, const UpState& state) const {
  Config c = config;
  c.controller.dir = path("controller");
  c.controller.api = config.up.api;
  c.controller.channel = fmt::format("127.0.0.1:{}", state.channel_port);
  c.controller.channel_token_file = path("channel.token");
  c.controller.credentials_file = path("credentials");
  c.controller.supervisor = path("up.sock");
  std::string text = render_tables(c, {"controller", "move"});
  text += "\n[[pool]]\nname = \"main\"\n";
  for (const UpNode& node : state.seed) {
    text += fmt::format("\n[[pool.node]]\nname = \"{}\"\naddress = \"{}\"\n", node.name, node_address(node));
  }
  return write_secret_file(path("controller.toml"), text);
}

Status UpLayout::write_router(const Config& config, const UpState& state, uint32_t index) const {
  Config c = config;
  c.router.id = fmt::format("r{}", index);
  SLIPRING_ASSIGN(c.router.listen, router_listen(config.up, index));
  c.router.controllers = {fmt::format("127.0.0.1:{}", state.channel_port)};
  c.router.token_file = path("channel.token");
  c.router.dir = path("router");
  return write_secret_file(path(fmt::format("router-{}.toml", index)), render_tables(c, {"router"}));
}

std::string node_address(const UpNode& node) {
  return fmt::format("127.0.0.1:{}", node.port);
}

Result<std::string> router_listen(const UpOptions& up, uint32_t index) {
  SLIPRING_ASSIGN(HostPort address, parse_host_port(up.listen));
  const uint32_t port = address.port + index - 1;
  if (port > 65535)
    return fail(Code::kInvalidArgument, fmt::format("router {}: port {}: there is none above 65535", index, port));
  address.port = static_cast<uint16_t>(port);
  return format_host_port(address);
}

}  // namespace slipring::cli
