// pymemcache 3.5.2 (Python), key for key: rendezvous hashing with MurmurHash3.
//
// A member's label is the text of the node, host:port. The score of a node is MurmurHash3-32 of "label-key" in which
// every character is cut to its low 8 bits, so keys that are not ASCII differ from their UTF-8; a key given as bytes is
// hashed as Python writes it, b'...'. The largest score owns; of equal ones the greater label.
//
// Guarantee: even; no weights. Cost: one hash a node. Disruption: only the keys of a removed node move, to all others
// evenly; a new node takes 1/n from all.
// Source: behaviour of pymemcache 3.5.2; its client/rendezvous.py and client/murmur3.py.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& pymemcache_scheme();

}  // namespace slipring
