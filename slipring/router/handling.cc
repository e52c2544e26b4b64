#include "slipring/router/handling.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace slipring::router {
namespace {

using resp::CommandId;
using resp::CommandInfo;

constexpr std::array kExceptions = {
    std::pair{CommandId::kMget, Handling::kSplitValues},
    std::pair{CommandId::kDel, Handling::kSplitSum},
    std::pair{CommandId::kUnlink, Handling::kSplitSum},
    std::pair{CommandId::kExists, Handling::kSplitSum},
    std::pair{CommandId::kTouch, Handling::kSplitSum},
    std::pair{CommandId::kMset, Handling::kSplitPairs},
    std::pair{CommandId::kMulti, Handling::kTransaction},
    std::pair{CommandId::kExec, Handling::kTransaction},
    std::pair{CommandId::kDiscard, Handling::kTransaction},
    std::pair{CommandId::kPing, Handling::kAnswered},
    std::pair{CommandId::kEcho, Handling::kAnswered},
    std::pair{CommandId::kAuth, Handling::kAnswered},
    std::pair{CommandId::kHello, Handling::kAnswered},
    std::pair{CommandId::kSelect, Handling::kAnswered},
    std::pair{CommandId::kQuit, Handling::kAnswered},
    std::pair{CommandId::kReset, Handling::kAnswered},
    std::pair{CommandId::kInfo, Handling::kAnswered},
    std::pair{CommandId::kTime, Handling::kAnswered},
    std::pair{CommandId::kConfigGet, Handling::kAnswered},
    std::pair{CommandId::kUnwatch, Handling::kAnswered},
    std::pair{CommandId::kReadonly, Handling::kAnswered},
    std::pair{CommandId::kReadwrite, Handling::kAnswered},
    std::pair{CommandId::kAsking, Handling::kAnswered},
    std::pair{CommandId::kCommand, Handling::kAnswered},
    std::pair{CommandId::kCommandCount, Handling::kAnswered},
    std::pair{CommandId::kCommandDocs, Handling::kAnswered},
    std::pair{CommandId::kCommandGetkeys, Handling::kAnswered},
    std::pair{CommandId::kCommandInfo, Handling::kAnswered},
    std::pair{CommandId::kCommandList, Handling::kAnswered},
    std::pair{CommandId::kClientGetname, Handling::kAnswered},
    std::pair{CommandId::kClientId, Handling::kAnswered},
    std::pair{CommandId::kClientInfo, Handling::kAnswered},
    std::pair{CommandId::kClientList, Handling::kAnswered},
    std::pair{CommandId::kClientNoEvict, Handling::kAnswered},
    std::pair{CommandId::kClientNoTouch, Handling::kAnswered},
    std::pair{CommandId::kClientSetinfo, Handling::kAnswered},
    std::pair{CommandId::kClientSetname, Handling::kAnswered},
    // They name keys, but change more than a key, or need a connection of their own.
    std::pair{CommandId::kWatch, Handling::kLater},
    std::pair{CommandId::kMigrate, Handling::kLater},
    std::pair{CommandId::kMove, Handling::kLater},
    std::pair{CommandId::kRestoreAsking, Handling::kLater},
    std::pair{CommandId::kDebug, Handling::kLater},
    std::pair{CommandId::kPfdebug, Handling::kLater},
};

Handling by_flags(const CommandInfo& info) {
  if (info.name.ends_with("|help")) return Handling::kAnyNode;
  if (info.has(resp::kCommandPubsub) || info.has(resp::kCommandAdmin)) return Handling::kLater;
  const bool reads_stream = info.id == CommandId::kXread || info.id == CommandId::kXreadgroup;
  if (info.has(resp::kCommandBlocking) && !reads_stream) return Handling::kLater;
  return info.spec_count > 0 ? Handling::kForward : Handling::kLater;
}

std::vector<Handling> make_table() {
  std::vector<Handling> table;
  for (const CommandInfo& info : resp::command_table()) table.push_back(by_flags(info));
  for (const auto& [id, handling] : kExceptions) table[static_cast<size_t>(id)] = handling;
  return table;
}

// BLOCK stands among the options before STREAMS; XREADGROUP's GROUP is followed by two names.
bool has_block(const resp::Args& args) {
  for (size_t i = 1; i < args.size() && !resp::equals_lower(args[i], "streams"); ++i) {
    if (resp::equals_lower(args[i], "block")) return true;
    if (resp::equals_lower(args[i], "group")) i += 2;
    if (i < args.size() && resp::equals_lower(args[i], "count")) i += 1;
  }
  return false;
}

bool has_foreign_pattern(const resp::Args& args) {
  for (size_t i = 2; i + 1 < args.size(); ++i) {
    const bool by = resp::equals_lower(args[i], "by");
    const bool get = resp::equals_lower(args[i], "get");
    if (!by && !get) continue;
    ++i;
    if (args[i].find('*') != std::string_view::npos || (get && args[i] != "#")) return true;
  }
  return false;
}

bool copies_elsewhere(const resp::Args& args) {
  for (size_t i = 3; i + 1 < args.size(); ++i) {
    if (resp::equals_lower(args[i], "db") && args[i + 1] != "0") return true;
  }
  return false;
}

}  // namespace

Handling handling_of(const CommandInfo& info) {
  static const std::vector<Handling> kTable = make_table();
  return kTable[static_cast<size_t>(info.id)];
}

CommandClass class_of(const CommandInfo& info) {
  return info.has(resp::kCommandWrite) ? CommandClass::kWrite : CommandClass::kRead;
}

bool is_out_of_reach(const CommandInfo& info, const resp::Args& args, bool inside_transaction, std::string_view& why) {
  switch (info.id) {
    case CommandId::kXread:
    case CommandId::kXreadgroup:
      why = "ERR slipring: the BLOCK option is not supported yet";
      return !inside_transaction && has_block(args);
    case CommandId::kSort:
    case CommandId::kSortRo:
      why = "ERR slipring: BY and GET patterns of SORT name keys of other nodes and are not supported yet";
      return has_foreign_pattern(args);
    case CommandId::kCopy:
      why = "ERR slipring: only database 0 is served";
      return copies_elsewhere(args);
    default:
      return false;
  }
}

}  // namespace slipring::router
