// grpc-ring-hash: gRPC's ring_hash policy (A42, A76), ring for ring.
//
// As envoy-ring-hash with XXH64, but endpoints are sorted by hash key first (label), which decides who is cut short
// when the maximum bites, and both sizes are lowered to "ring_size_cap". An endpoint's weight is its own times its
// locality's. The preference list goes on clockwise, as the policy does when an endpoint is not ready.
// Guarantee, cost, disruption: as envoy-ring-hash. Source: gRFC A42 and A76; grpc-go balancer/ringhash.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& grpc_ring_hash_scheme();

}  // namespace slipring
