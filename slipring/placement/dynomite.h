// dynomite: token = MurmurHash2-32 of the tag or key, owner = the first token >= it in the rack's own ring, wrapping,
// token for token as Dynomite.
//
// Every rack is a complete copy with its own tokens: members name theirs ("tokens", 32 bits) and their rack (zone
// "dc/rack"). The owner is found in the local rack (option "rack", default the first member's); the preference list
// goes on with one node of every other rack, in the order racks appear, then with the rest in ordinal order. The empty
// key has token 0. Option "hash_tag", two characters: as in twemproxy, what stands between them counts if it is not
// empty.
// Guarantee: ring of given tokens. Cost: O(log tokens) in every rack asked for, 6 bytes a token. Disruption: only the
// range before a token that comes or goes. Source: Netflix/dynomite 2046b05e, dyn_murmur.c and dyn_vnode.c; its murmur3
// is declared but empty, so it is not offered.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

// The 32-bit token. Cost: one pass over the key.
uint32_t dynomite_token(std::string_view key);

const SchemeDefinition& dynomite_scheme();

}  // namespace slipring
