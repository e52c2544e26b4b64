// twemproxy (nutcracker) 0.5.0, key for key: distributions ketama and modula with its 12 hashes.
//
// A member's label is the server's name in nutcracker's configuration; a server without a name gives its address in the
// attribute `address` instead, which counts without its port if that is 11211. A member with `ejected` true is one that
// auto_eject_hosts has taken out. The pool is sorted first: shorter identity before longer, then by bytes.
//
// Guarantee: ketama gives a server about weight/total of 160 points each; modula weight/total of the slots.
// Cost: one hash, one ring search; about 12 bytes a point. Disruption: ketama moves about 1/n of the keys when a server
// comes or goes, and few others where the point counts round differently; modula moves nearly all. Source: behaviour of
// nutcracker 0.5.0 on amd64; its source, src/hashkit and src/nc_conf.c.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& twemproxy_scheme();

}  // namespace slipring
