// What must always be true, from the view of one who sees everything: the metadata store, every server, every executed
// request. The truth of a key is its value after the last write that its owner executed.
//
// Invariant: violations are reported to the world, which ends the run. Thread-safety: one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slipring/lab/sim/server.h"
#include "slipring/rebalance/plan.h"
#include "slipring/topology/routing.h"

namespace slipring::lab {

class Checker {
 public:
  Checker(World& w, std::vector<std::unique_ptr<Server>>& servers) : world_(w), servers_(servers) {}

  // The current snapshot in the metadata store.
  void on_snapshot(const Snapshot& snapshot);
  Epoch epoch() const { return epoch_; }
  size_t owner(const std::string& key) const;

  // A router's command runs at the server now. The write: before it changes anything.
  void on_write(Server& server, const std::string& key, const std::optional<StoredValue>& value);
  void on_read(Server& server, const std::string& key, const std::optional<StoredValue>& value);
  // The mover writes or removes a key now.
  void on_mover_write(Server& server, const std::string& key, bool merge);
  void on_mover_remove(Server& server, const std::string& key);
  // The server came back; what it lost is lost, but copies of it are precious now.
  void on_restart(Server& server);
  // Somebody changed a copy behind everybody's back.
  void on_foreign_write(const std::string& key) { touched_[key] = true; }
  // An operator has decided: copies are no longer precious.
  void on_decided();
  // The other side is to own these moves as it is: what it holds then is the truth.
  void on_forced(const rebalance::GroupRecord& group);
  // The mover brought back to the owner what it lacked.
  void on_merged(const std::string& key, const StoredValue& value) { truth_[key] = value; }

  // Every key is where it belongs with its last value, and, unless strays were reported, nowhere else.
  void check_end(uint64_t strays);

 private:
  void carry_out_forced(const PoolRouting& before);
  bool same(const std::optional<StoredValue>& a, const std::optional<StoredValue>& b) const;
  std::optional<StoredValue> truth(const std::string& key) const;

  World& world_;
  std::vector<std::unique_ptr<Server>>& servers_;
  Epoch epoch_{0};
  std::shared_ptr<const PoolRouting> routing_;
  std::map<std::string, StoredValue> truth_;
  std::map<std::string, StoredValue> precious_;  // the owner lost it; copies may exist
  std::map<std::string, bool> touched_;
  std::set<MoveIndex> forced_;  // not carried out yet
};

}  // namespace slipring::lab
