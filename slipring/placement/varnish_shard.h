// Varnish 7.1.1's shard director (vmod directors), key for key, for healthy backends and without warmup or rampup.
//
// A member's label is the backend's ident or VCL name. A backend has int(replicas * weight) points: the last four
// bytes, little endian, of SHA-256(label + j). Beyond the last point the LAST one owns, not the first; and of two
// points in all always the second. option by: what the key is (key, url, hash); option alt: the N-th further distinct
// backend.
//
// Guarantee: shares in proportion to the weights. Cost: one SHA-256, one bisection; about 12 bytes a point.
// Disruption: only the keys of the backend that comes or goes (alt=0).
// Source: behaviour of varnishd 7.1.1; its vmod_directors_shard_dir.c, vmod_directors_shard_cfg.c.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& varnish_shard_scheme();

}  // namespace slipring
