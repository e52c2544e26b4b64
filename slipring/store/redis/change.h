// What a command of the replication stream changes. Pure.
#pragma once

#include <vector>

#include "slipring/protocol/resp/command.h"
#include "slipring/store/store_adapter.h"

namespace slipring::redis {

// Tells `sink` which keys the command changes; `scratch` is room for key positions, kept by the caller. A command whose
// keys are not known is reported as unclear, never passed over.
void classify_change(const resp::Args& command, uint32_t database, std::vector<resp::KeyRef>& scratch, FeedSink& sink);

}  // namespace slipring::redis
