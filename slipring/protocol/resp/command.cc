#include "slipring/protocol/resp/command.h"

#include <array>

#include "slipring/protocol/resp/write.h"

namespace slipring::resp {
namespace {

constexpr KeySpec kKeySpecs[] = {
#define SLIPRING_KEY_SPEC(flags, keyword, begin, find, last, step, limit) \
  {flags, keyword, begin, find, last, step, limit},
#include "slipring/protocol/resp/command_table.inc"
#undef SLIPRING_KEY_SPEC
};

constexpr CommandInfo kCommands[] = {
#define SLIPRING_COMMAND(id, name, arity, flags, first_spec, specs, subcommands, rule, group, since) \
  {CommandId::id, name, arity, flags, first_spec, specs, subcommands, rule, group, since},
#include "slipring/protocol/resp/command_table.inc"
#undef SLIPRING_COMMAND
};
constexpr size_t kCommandCount = sizeof kCommands / sizeof kCommands[0];

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr uint32_t name_hash(std::string_view name) {
  uint32_t h = 2166136261u;
  for (const char c : name) h = (h ^ static_cast<uint8_t>(c | 0x20)) * 16777619u;
  return h ^ (h >> 15);
}

// Open addressing over the names without subcommands, at most a third full; kEmpty ends a search.
constexpr size_t kSlots = 1024;
constexpr uint16_t kEmpty = 0xffff;
constexpr std::array<uint16_t, kSlots> kIndex = [] {
  std::array<uint16_t, kSlots> index{};
  for (uint16_t& slot : index) slot = kEmpty;
  for (size_t i = 0; i < kCommandCount; i += 1u + kCommands[i].subcommand_count) {
    size_t slot = name_hash(kCommands[i].name) % kSlots;
    while (index[slot] != kEmpty) slot = (slot + 1) % kSlots;
    index[slot] = static_cast<uint16_t>(i);
  }
  return index;
}();

constexpr size_t kErrorArgsBytesMax = 128;

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  return out;
}

std::string unknown_command_text(const Args& args) {
  std::string text = "ERR unknown command '";
  text.append(args[0].substr(0, kErrorArgsBytesMax)).append("', with args beginning with: ");
  const size_t start = text.size();
  for (size_t i = 1; i < args.size() && text.size() - start < kErrorArgsBytesMax; ++i) {
    const size_t room = kErrorArgsBytesMax - (text.size() - start);
    text.append("'").append(args[i].substr(0, room)).append("' ");
  }
  return text;
}

}  // namespace

bool equals_lower(std::string_view text, std::string_view lower_text) {
  if (text.size() != lower_text.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_text[i]) return false;
  }
  return true;
}

std::span<const KeySpec> CommandInfo::key_specs() const {
  return {kKeySpecs + first_spec, spec_count};
}
std::span<const CommandInfo> CommandInfo::subcommands() const {
  return {this + 1, subcommand_count};
}

bool CommandInfo::is_single_key() const {
  if (spec_count != 1) return false;
  const KeySpec& spec = kKeySpecs[first_spec];
  const bool listed = rule == KeyRule::kSpecs || rule == KeyRule::kSet || rule == KeyRule::kBitfield;
  return listed && spec.find == KeyFind::kRange && spec.keyword.empty() && spec.begin == 1 && spec.last == 0 &&
         (spec.flags & kKeyNotKey) == 0;
}

std::span<const CommandInfo> command_table() {
  return kCommands;
}
const CommandInfo& command(CommandId id) {
  return kCommands[static_cast<size_t>(id)];
}

const CommandInfo* find_command(std::string_view name) {
  for (size_t slot = name_hash(name) % kSlots; kIndex[slot] != kEmpty; slot = (slot + 1) % kSlots) {
    const CommandInfo& info = kCommands[kIndex[slot]];
    if (equals_lower(name, info.name)) return &info;
  }
  return nullptr;
}

const CommandInfo* find_subcommand(const CommandInfo& container, std::string_view name) {
  for (const CommandInfo& info : container.subcommands()) {
    if (equals_lower(name, info.name.substr(container.name.size() + 1))) return &info;
  }
  return nullptr;
}

CommandCheck resolve_command(const Args& args, const CommandInfo*& info) {
  info = find_command(args[0]);
  if (info == nullptr) return CommandCheck::kUnknown;
  if (info->is_container() && args.size() > 1) {
    const CommandInfo* sub = find_subcommand(*info, args[1]);
    if (sub == nullptr) return CommandCheck::kUnknownSubcommand;
    info = sub;
  }
  return info->arity_fits(args.size()) ? CommandCheck::kOk : CommandCheck::kWrongArity;
}

void append_check_error(std::string& out, CommandCheck check, const CommandInfo* info, const Args& args) {
  switch (check) {
    case CommandCheck::kOk:
      return;
    case CommandCheck::kUnknown:
      return append_error(out, unknown_command_text(args));
    case CommandCheck::kUnknownSubcommand:
      return append_error(out, "ERR unknown subcommand '" + std::string(args[1].substr(0, kErrorArgsBytesMax)) +
                                   "'. Try " + upper(info->name) + " HELP.");
    case CommandCheck::kWrongArity:
      return append_error(out, "ERR wrong number of arguments for '" + std::string(info->name) + "' command");
  }
}

}  // namespace slipring::resp
