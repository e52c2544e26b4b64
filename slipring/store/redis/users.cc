#include "slipring/store/redis/users.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"

namespace slipring::redis {
namespace {

constexpr std::string_view kRouterPrefix = "slipring-r-";

std::optional<uint64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto value = parse_u64(text.substr(prefix.size()), 0, UINT64_MAX);
  return value ? std::optional(*value) : std::nullopt;
}

// A literal prefix as an ACL key pattern: glob characters lose their meaning.
std::string prefix_pattern(std::string_view prefix) {
  std::string pattern = "~";
  for (char c : prefix) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern + "*";
}

Status set_user(Client& admin, std::string_view user, std::string_view password,
                std::initializer_list<std::string_view> rules) {
  const std::string secret = fmt::format(">{}", password);
  std::vector<std::string_view> args = {"ACL", "SETUSER", user, "reset", "on", secret};
  args.insert(args.end(), rules.begin(), rules.end());
  auto ok = admin.call(std::span<const std::string_view>(args));
  if (!ok) return fail_in(fmt::format("{}: ACL SETUSER {}", admin.endpoint().address, user), ok.error());
  return {};
}

}  // namespace

std::string router_user(std::string_view cluster_id, std::string_view router_id, uint64_t generation) {
  return fmt::format("slipring-r-{}-{}-g{}", cluster_id, router_id, generation);
}

std::string mover_user(std::string_view cluster_id, uint64_t term) {
  return fmt::format("slipring-mover-{}-{}", cluster_id, term);
}

std::string controller_user(std::string_view cluster_id, uint64_t term) {
  return fmt::format("slipring-ctl-{}-{}", cluster_id, term);
}

std::optional<uint64_t> router_generation_of(std::string_view cluster_id, std::string_view user) {
  if (!user.starts_with(fmt::format("slipring-r-{}-", cluster_id))) return std::nullopt;
  const size_t mark = user.rfind("-g");
  return mark == std::string_view::npos ? std::nullopt : number_after(user.substr(mark), "-g");
}

std::optional<uint64_t> term_of(std::string_view cluster_id, std::string_view user) {
  if (auto term = number_after(user, fmt::format("slipring-mover-{}-", cluster_id))) return term;
  return number_after(user, fmt::format("slipring-ctl-{}-", cluster_id));
}

bool is_slipring_user(std::string_view user) {
  return user.starts_with(kRouterPrefix) || user.starts_with("slipring-mover-") || user.starts_with("slipring-ctl-");
}

Status create_router_user(Client& admin, std::string_view user, std::string_view password,
                          std::string_view key_prefix) {
  return set_user(admin, user, password,
                  {prefix_pattern(key_prefix), "&*", "+@all", "-@admin", "-@dangerous", "+client|kill",
                   "+client|unblock", "+info", "+sort", "+sort_ro", "+restore"});
}

Status create_mover_user(Client& admin, std::string_view user, std::string_view password) {
  return set_user(admin, user, password,
                  {"~*", "&*", "+@all", "-@admin", "-@dangerous", "+psync", "+replconf", "+restore", "+info", "+role",
                   "+client|kill", "+client|list", "+config|get"});
}

Status create_controller_user(Client& admin, std::string_view user, std::string_view password) {
  return set_user(admin, user, password, {"~*", "&*", "+@all"});
}

Result<std::vector<std::string>> list_users(Client& admin) {
  SLIPRING_ASSIGN(const Reply reply, admin.call({"ACL", "USERS"}));
  std::vector<std::string> users;
  for (const Reply& item : reply.items) users.push_back(item.text);
  return users;
}

Status delete_users(Client& admin, std::span<const std::string> users) {
  if (users.empty()) return {};
  std::vector<std::string_view> args = {"ACL", "DELUSER"};
  args.insert(args.end(), users.begin(), users.end());
  auto ok = admin.call(std::span<const std::string_view>(args));
  if (!ok) return fail_in(admin.endpoint().address + ": ACL DELUSER", ok.error());
  return {};
}

namespace {

// "user NAME on #HASH ~* ...": one line of ACL LIST; nullopt: not a router's.
std::optional<RouterLogin> router_login(std::string_view line) {
  RouterLogin login;
  for (size_t word = 0; !line.empty(); ++word) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view text = line.substr(0, end);
    if (word == 1) {
      if (!text.starts_with(kRouterPrefix)) return std::nullopt;
      login.user = text;
    } else if (word > 1 && text.starts_with('#')) {
      login.password_hashes.emplace_back(text);
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return login;
}

// Runs `save` while the router users have no passwords, as one transaction; those that are connected do not notice.
Result<Reply> save_without_passwords(Client& admin, std::initializer_list<std::string_view> save) {
  SLIPRING_ASSIGN(const std::vector<RouterLogin> logins, list_router_logins(admin));
  admin.append({"MULTI"});
  for (const RouterLogin& login : logins) admin.append({"ACL", "SETUSER", login.user, "resetpass"});
  admin.append(save);
  for (const RouterLogin& login : logins) {
    std::vector<std::string_view> args = {"ACL", "SETUSER", login.user};
    args.insert(args.end(), login.password_hashes.begin(), login.password_hashes.end());
    admin.append(std::span<const std::string_view>(args));
  }
  admin.append({"EXEC"});
  SLIPRING_TRY(admin.flush());
  Result<Reply> done = Reply{};
  for (size_t i = 0; i < 2 * logins.size() + 3; ++i) {
    SLIPRING_ASSIGN(Reply reply, admin.read_reply());
    done = as_result(std::move(reply));
  }
  SLIPRING_TRY(done);
  if (done->items.size() != 2 * logins.size() + 1) return fail(Code::kInternal, "the transaction was not carried out");
  return as_result(std::move(done->items[logins.size()]));
}

}  // namespace

Result<std::vector<RouterLogin>> list_router_logins(Client& admin) {
  SLIPRING_ASSIGN(const Reply reply, admin.call({"ACL", "LIST"}));
  std::vector<RouterLogin> logins;
  for (const Reply& line : reply.items) {
    if (auto login = router_login(line.text)) logins.push_back(std::move(*login));
  }
  return logins;
}

Status make_users_durable(Client& admin) {
  SLIPRING_ASSIGN(const Reply aclfile, admin.call({"CONFIG", "GET", "aclfile"}));
  const bool has_aclfile = aclfile.items.size() == 2 && !aclfile.items[1].text.empty();
  if (has_aclfile) {
    const auto saved = save_without_passwords(admin, {"ACL", "SAVE"});
    if (saved) return {};
    return fail(Code::kFailedPrecondition, fmt::format("{}: ACL SAVE: {}; make the aclfile writable for the server",
                                                       admin.endpoint().address, saved.error().message));
  }
  SLIPRING_ASSIGN(const auto server, admin.info("server"));
  const auto config_file = server.find("config_file");
  if (config_file == server.end() || config_file->second.empty()) return {};
  const auto rewritten = save_without_passwords(admin, {"CONFIG", "REWRITE"});
  if (rewritten) return {};
  return fail(Code::kFailedPrecondition,
              fmt::format("{}: CONFIG REWRITE: {}; make {} writable for the server, or give it an aclfile",
                          admin.endpoint().address, rewritten.error().message, config_file->second));
}

}  // namespace slipring::redis
