// COMMAND, COMMAND COUNT, DOCS, INFO, LIST and GETKEYS, from the command table. Only commands that the router serves
// are shown, so tools that look there are told the truth. Thread-safety: pure functions.
#pragma once

#include <string>

#include "slipring/protocol/resp/command.h"
#include "slipring/router/session.h"

namespace slipring::router {

// `info`: COMMAND itself or one of the subcommands named above.
void answer_command(const resp::CommandInfo& info, const resp::Args& args, const Session& session, std::string& out);

}  // namespace slipring::router
