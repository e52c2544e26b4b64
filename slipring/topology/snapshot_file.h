// A snapshot on disk: what a router starts from when the controller is away, and the export of the metadata.
//
// Invariant: the file is whole at any moment, also over a crash: it is written beside itself, synced and renamed.
// Thread-safety: callers of one path take turns.
#pragma once

#include <string>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring {

// Mode 0600. On an error the old file stays as it was, and nothing is left beside it. kUnavailable: the system's
// reason.
Status write_snapshot_file(const std::string& path, const Snapshot& snapshot);

// Decoded and validated. kNotFound: no such file; kDataLoss: damaged or foreign; kInvalidArgument: well-formed, but not
// valid. Every message starts with the file's name; the file is never changed.
Result<Snapshot> read_snapshot_file(const std::string& path);

}  // namespace slipring
