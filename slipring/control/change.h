// A change that an operator asked for, as the layout it leads to. Pure.
#pragma once

#include "slipring/base/result.h"
#include "slipring/control/service.h"
#include "slipring/topology/snapshot.h"

namespace slipring::control {

// The pool's layout after the change; a pool under `slots` gets the table in which the fewest slots change hands. A
// node that joins gets `generation`, which must not have been used before. kInvalidArgument: a name, address or weight
// that is wrong in any state; kAlreadyExists: the name or address is taken; kNotFound: no such node;
// kFailedPrecondition: the change would change nothing, or leave nothing that owns keys.
Result<Layout> apply_change(const Layout& layout, const Change& change, uint64_t generation);

}  // namespace slipring::control
