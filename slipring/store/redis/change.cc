#include "slipring/store/redis/change.h"

#include <array>

namespace slipring::redis {
namespace {

using resp::CommandId;

// Commands of a stream that change no key.
bool changes_nothing(CommandId id) {
  switch (id) {
    case CommandId::kPing:
    case CommandId::kReplconf:
    case CommandId::kMulti:
    case CommandId::kExec:
    case CommandId::kPublish:
    case CommandId::kSpublish:
    case CommandId::kSelect:
      return true;
    default:
      return false;
  }
}

// FUNCTION LOAD and SCRIPT LOAD concern the server, not its keys.
bool is_about_code(const resp::Args& command) {
  return resp::equals_lower(command[0], "function") || resp::equals_lower(command[0], "script");
}

FeedKind kind_of(CommandId id) {
  if (id == CommandId::kDel || id == CommandId::kUnlink) return FeedKind::kRemove;
  if (id == CommandId::kRestore) return FeedKind::kRestore;
  return FeedKind::kWrite;
}

}  // namespace

void classify_change(const resp::Args& command, uint32_t database, std::vector<resp::KeyRef>& scratch, FeedSink& sink) {
  if (command.empty() || is_about_code(command)) return;
  const resp::CommandInfo* info = nullptr;
  const resp::CommandCheck check = resp::resolve_command(command, info);
  if (check != resp::CommandCheck::kOk) return sink.on_unclear(command[0]);
  if (changes_nothing(info->id)) return;
  if (info->id == CommandId::kSwapdb) return sink.on_unusable("SWAPDB");
  if (info->id == CommandId::kFlushall) return sink.on_flush();
  if (database != 0) return sink.on_unusable("a write in a database other than 0");
  if (info->id == CommandId::kFlushdb) return sink.on_flush();
  if (!resp::extract_keys(*info, command, scratch) || scratch.empty()) return sink.on_unclear(info->name);
  const FeedKind kind = kind_of(info->id);
  for (const resp::KeyRef& key : scratch) {
    if (key.writes()) sink.on_change(kind, command[key.index]);
  }
}

}  // namespace slipring::redis
