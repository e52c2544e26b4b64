// What the router does with each command of the table. The rule comes from what the table tells (keys, flags); the
// exceptions stand in handling.cc by name.
// Thread-safety: constants.
#pragma once

#include <cstdint>

#include "slipring/protocol/resp/command.h"
#include "slipring/router/pending.h"

namespace slipring::router {

enum class Handling : uint8_t {
  kForward,      // to the node that holds all of its keys
  kSplitValues,  // MGET: split by node, values merged in order
  kSplitSum,     // DEL, UNLINK, EXISTS, TOUCH: split, counts added
  kSplitPairs,   // MSET: split, one OK
  kAnyNode,      // no keys, and the same answer everywhere
  kAnswered,     // by the router itself
  kTransaction,  // MULTI, EXEC, DISCARD
  kLater,        // not supported yet
};

// REQUIRES: info is a row of resp::command_table().
Handling handling_of(const resp::CommandInfo& info);
// For statistics.
CommandClass class_of(const resp::CommandInfo& info);

// True if this call would reach beyond the keys that it names, or block the shared connection: XREAD with BLOCK, SORT
// with patterns, COPY into another database. `why` is then the error to answer.
// `inside_transaction`: nothing blocks there.
bool is_out_of_reach(const resp::CommandInfo& info, const resp::Args& args, bool inside_transaction,
                     std::string_view& why);

}  // namespace slipring::router
