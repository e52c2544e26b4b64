// nginx 1.22.1's `hash KEY` and `hash KEY consistent` in an upstream, key for key.
//
// A member's label is the text of its `server` directive: host:port, host, or unix:/path; a name is hashed as the name.
// `hash`: 15 bits of the CRC-32 modulo weighted slots; a server that is down is passed by hashing again. `consistent`:
// 160 chained CRC-32 points for each unit of weight; a server that is down keeps its points and the walk goes on point
// by point. What nginx gives to round robin (an empty key, more than 20 tries) goes to the heaviest server that is up.
//
// Guarantee: shares in proportion to the weights. Cost: one CRC-32, one table access or ring search; about 12 bytes a
// point. Disruption: `hash` nearly all keys when a server comes or goes; `consistent` about 1/n, and only its own.
// Source: behaviour of nginx 1.22.1; its ngx_http_upstream_hash_module.c.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& nginx_scheme();

}  // namespace slipring
