// Which connections of routers may carry requests to servers that are fenced by names (design/0008). A router asks after
// the server has confirmed the connection's name; so a connection that was permitted before its generation was barred
// is on the server's list when the fence looks there.
//
// Invariant: a generation that was barred, or was not yet given out, gets no permit; a process that was not admitted
// is used by nobody. Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "slipring/channel/messages.h"

namespace slipring::channel {

class Permits {
 public:
  // This process holds what the server should hold. It stays admitted until another one of the address is.
  void admit(const std::string& address, const std::string& run_id);
  // From now on no generation up to `newest` that is not in `keep` gets a permit, and none that was barred before.
  void bar(std::span<const uint64_t> keep, uint64_t newest);

  // `given`: the generation that the router was told to serve by last; `attempt`: who is asked to acknowledge the open
  // attempt, ascending, or nullptr.
  PermitAnswer judge(const PermitRequest& request, uint64_t given,
                              const std::vector<uint64_t>* attempt) const;
  bool is_barred(uint64_t generation) const;

 private:
  std::map<std::string, std::string> admitted_;  // run id by address
  // Of the generations up to the first only the others may get permits.
  uint64_t barred_through_ = 0;
  std::set<uint64_t> kept_;
};

}  // namespace slipring::channel
