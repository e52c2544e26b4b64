// What a router keeps on disk so that it can start while the controller is away: the last snapshot and a spare
// generation, in DIR/router-ID.state, mode 0600. The snapshot alone, without any secret, stands beside it in
// DIR/router-ID.snapshot for programs that look keys up themselves.
//
// Invariant: the file is whole at any moment: written beside, synced, renamed. A damaged file is refused by name and
// left as it is. Thread-safety: one writer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slipring/base/result.h"
#include "slipring/channel/messages.h"
#include "slipring/topology/snapshot.h"

namespace slipring::router {

struct DiskState {
  Snapshot snapshot;
  channel::Credentials spare;  // generation 0: none

  bool operator==(const DiskState&) const = default;
};

std::string encode_disk_state(const DiskState& state);
// kDataLoss: damaged or foreign.
Result<DiskState> decode_disk_state(std::string_view bytes);

std::string disk_state_path(std::string_view dir, std::string_view router_id);
// Written with write_snapshot_file().
std::string shared_snapshot_path(std::string_view dir, std::string_view router_id);
// kUnavailable: the system's reason; the old file is as it was.
Status write_disk_state(const std::string& path, const DiskState& state);
// kNotFound: no such file; kDataLoss: damaged; both messages start with the path.
Result<DiskState> read_disk_state(const std::string& path);

}  // namespace slipring::router
