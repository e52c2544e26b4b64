#include "slipring/router/command_replies.h"

#include <array>
#include <utility>

#include "slipring/router/handling.h"

namespace slipring::router {
namespace {

using resp::CommandId;
using resp::CommandInfo;
using resp::Version;

constexpr std::array kFlagNames = {
    std::pair{resp::kCommandWrite, "write"},       std::pair{resp::kCommandReadonly, "readonly"},
    std::pair{resp::kCommandDenyoom, "denyoom"},   std::pair{resp::kCommandAdmin, "admin"},
    std::pair{resp::kCommandPubsub, "pubsub"},     std::pair{resp::kCommandNoscript, "noscript"},
    std::pair{resp::kCommandBlocking, "blocking"}, std::pair{resp::kCommandLoading, "loading"},
    std::pair{resp::kCommandStale, "stale"},       std::pair{resp::kCommandFast, "fast"},
    std::pair{resp::kCommandNoAuth, "no_auth"},    std::pair{resp::kCommandMovablekeys, "movablekeys"},
    std::pair{resp::kCommandNoMulti, "no_multi"},
};

// Served commands: names without subcommands, in the order of the table.
template <typename Fn>
void each_served(Fn fn) {
  const auto table = resp::command_table();
  for (size_t i = 0; i < table.size(); i += 1u + table[i].subcommand_count) {
    bool served = handling_of(table[i]) != Handling::kLater;
    for (const CommandInfo& sub : table[i].subcommands()) served = served || handling_of(sub) != Handling::kLater;
    if (served) fn(table[i]);
  }
}

size_t served_count() {
  size_t n = 0;
  each_served([&](const CommandInfo&) { ++n; });
  return n;
}

// First key, last key, step: the old way to tell keys; all 0 where they cannot be told so.
std::array<int64_t, 3> key_range(const CommandInfo& info) {
  if (info.spec_count == 0) return {0, 0, 0};
  const resp::KeySpec& spec = info.key_specs()[0];
  if (spec.find != resp::KeyFind::kRange || !spec.keyword.empty() || (spec.flags & resp::kKeyNotKey) != 0) {
    return {0, 0, 0};
  }
  return {spec.begin, spec.last < 0 ? spec.last : spec.begin + spec.last, spec.step};
}

void append_info(const CommandInfo& info, const Session& session, std::string& out) {
  resp::append_array_header(out, 10);
  resp::append_bulk(out, info.name);
  resp::append_int(out, info.arity);
  size_t flags = 0;
  for (const auto& [flag, name] : kFlagNames) flags += info.has(flag) ? 1 : 0;
  resp::append_set_header(out, flags, session.version);
  for (const auto& [flag, name] : kFlagNames) {
    if (info.has(flag)) resp::append_simple(out, name);
  }
  for (const int64_t number : key_range(info)) resp::append_int(out, number);
  resp::append_set_header(out, 0, session.version);  // ACL categories: the router has none
  resp::append_array_header(out, 0);                 // tips
  resp::append_array_header(out, 0);                 // key specifications
  resp::append_array_header(out, info.subcommands().size());
  for (const CommandInfo& sub : info.subcommands()) append_info(sub, session, out);
}

const CommandInfo* find_by_full_name(std::string_view name) {
  const size_t bar = name.find('|');
  const CommandInfo* info = resp::find_command(name.substr(0, bar));
  if (info == nullptr || bar == std::string_view::npos) return info;
  return resp::find_subcommand(*info, name.substr(bar + 1));
}

void answer_command_info(const resp::Args& args, const Session& session, std::string& out) {
  if (args.size() == 1 || args.size() == 2) {
    resp::append_array_header(out, served_count());
    each_served([&](const CommandInfo& info) { append_info(info, session, out); });
    return;
  }
  resp::append_array_header(out, args.size() - 2);
  for (size_t i = 2; i < args.size(); ++i) {
    if (const CommandInfo* info = find_by_full_name(args[i])) {
      append_info(*info, session, out);
    } else {
      resp::append_null_array(out, session.version);
    }
  }
}

void append_docs(const CommandInfo& info, const Session& session, std::string& out) {
  resp::append_bulk(out, info.name);
  resp::append_map_header(out, 2, session.version);
  resp::append_bulk(out, "since");
  resp::append_bulk(out, info.since);
  resp::append_bulk(out, "group");
  resp::append_bulk(out, info.group);
}

void answer_command_docs(const resp::Args& args, const Session& session, std::string& out) {
  if (args.size() == 2) {
    resp::append_map_header(out, served_count(), session.version);
    each_served([&](const CommandInfo& info) { append_docs(info, session, out); });
    return;
  }
  size_t found = 0;
  for (size_t i = 2; i < args.size(); ++i) found += find_by_full_name(args[i]) != nullptr ? 1 : 0;
  resp::append_map_header(out, found, session.version);
  for (size_t i = 2; i < args.size(); ++i) {
    if (const CommandInfo* info = find_by_full_name(args[i])) append_docs(*info, session, out);
  }
}

void answer_getkeys(const resp::Args& args, std::string& out) {
  const resp::Args inner(args.wire(), args.slices().subspan(2));
  const CommandInfo* info = nullptr;
  const resp::CommandCheck check = resp::resolve_command(inner, info);
  if (check == resp::CommandCheck::kWrongArity) {
    return resp::append_error(out, "ERR Invalid number of arguments specified for command");
  }
  if (check != resp::CommandCheck::kOk) return resp::append_error(out, "ERR Invalid command specified");
  std::vector<resp::KeyRef> keys;
  if (!resp::extract_keys(*info, inner, keys)) {
    return resp::append_error(out, "ERR Invalid arguments specified for command");
  }
  if (keys.empty()) return resp::append_error(out, "ERR The command has no key arguments");
  resp::append_array_header(out, keys.size());
  for (const resp::KeyRef& key : keys) resp::append_bulk(out, inner[key.index]);
}

void answer_list(std::string& out) {
  resp::append_array_header(out, served_count());
  each_served([&](const CommandInfo& info) { resp::append_bulk(out, info.name); });
}

}  // namespace

void answer_command(const CommandInfo& info, const resp::Args& args, const Session& session, std::string& out) {
  switch (info.id) {
    case CommandId::kCommandCount:
      return resp::append_int(out, static_cast<int64_t>(served_count()));
    case CommandId::kCommandDocs:
      return answer_command_docs(args, session, out);
    case CommandId::kCommandGetkeys:
      return answer_getkeys(args, out);
    case CommandId::kCommandList:
      return args.size() == 2 ? answer_list(out)
                              : resp::append_error(out, "ERR slipring: COMMAND LIST takes no filter");
    default:
      return answer_command_info(args, session, out);
  }
}

}  // namespace slipring::router
