// anchor: AnchorHash. Members are buckets in ordinal order, of a fixed capacity; members of weight 0 are removed ones.
//
// Guarantee: even shares; adding or removing any node moves only its share, as long as nodes come back in the reverse
// of the order in which they went: the option `removed` keeps that order (default: ordinal order). Members are
// appended, never taken out of the list. Weights are 0 or 1. Cost: O((1 + ln(capacity / alive))^2), 16 bytes a bucket.
// Source: Mendelson et al., AnchorHash, IEEE/ACM ToN 2021, arXiv 1812.09674.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& anchor_scheme();

}  // namespace slipring
