// Which generations of routers exist: for each router the one it runs on and a spare one on which it may start while
// the controller is away. Kept in the metadata store, so that a new leader knows them; a generation that was fenced or
// replaced is struck out before its users are removed, and its number never comes again.
//
//   generation           the last number given out
//   router/ID            RouterRecord
//
// Invariant: every change is in the store, under the leader's lease, before it takes effect.
// Thread-safety: one owner (the controller's lock).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/channel/messages.h"
#include "slipring/control/lease_keeper.h"
#include "slipring/coordination/metadata_store.h"

namespace slipring::control {

inline constexpr size_t kRoutersMax = 1024;

struct RouterRecord {
  std::string id;
  std::string listen;           // for people
  channel::Credentials active;  // generation 0: none
  channel::Credentials spare;

  bool operator==(const RouterRecord&) const = default;
};

class RouterBook {
 public:
  RouterBook(MetadataStore& store, LeaseKeeper& keeper, std::string cluster_id)
      : store_(store), keeper_(keeper), cluster_id_(std::move(cluster_id)) {}

  Status load();

  // A router says Hello, running on `generation` (0: on none). It keeps a generation that is its own; what it ran on
  // before its spare is struck out; whatever is missing is given out anew. kResourceExhausted: too many routers.
  Result<RouterRecord> enroll(const std::string& id, const std::string& listen, uint64_t generation);
  // Gives a router what is missing: an active generation if `active`, a spare one always.
  Result<RouterRecord> replenish(const std::string& id, bool active);
  // Strikes out every generation that is not in `keep`; answers which were.
  Result<std::vector<uint64_t>> strike_all_but(std::span<const uint64_t> keep);
  // kNotFound: no such router.
  Status forget(const std::string& id);

  // Every credential that servers should know.
  std::vector<channel::Credentials> live() const;
  const std::map<std::string, RouterRecord>& routers() const { return routers_; }
  // The last generation that was given out; none is higher.
  uint64_t newest() const { return last_; }

 private:
  channel::Credentials make(const std::string& id, uint64_t& last) const;
  // Writes the records (and the counter) and takes them over.
  Status write(std::vector<RouterRecord> changed, uint64_t last);

  MetadataStore& store_;
  LeaseKeeper& keeper_;
  const std::string cluster_id_;
  uint64_t last_ = 0;
  std::map<std::string, RouterRecord> routers_;
};

std::string encode(const RouterRecord& record);
// kDataLoss: damaged bytes.
Result<RouterRecord> decode_router(std::string_view bytes);

}  // namespace slipring::control
