// decode(encode(x)) == x and apply_edits(diff(a, b), a) == b for anything that the types can hold.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "slipring/topology/codec.h"
#include "slipring/topology/diff.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::random_snapshot;

TEST(CodecProperty, DecodeGivesWhatWasEncoded) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const Snapshot snapshot = random_snapshot(seed);
    const std::string bytes = encode_snapshot(snapshot);
    auto back = decode_snapshot(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == snapshot);
    RC_ASSERT(encode_snapshot(*back) == bytes);
  }));
}

TEST(CodecProperty, AnyDamageIsRefused) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    std::string bytes = encode_snapshot(random_snapshot(seed));
    const std::string whole = bytes;
    for (uint64_t n = 1 + random.below(4); n > 0; --n) bytes[random.below(bytes.size())] ^= char(1 + random.below(255));
    RC_PRE(bytes != whole);
    RC_ASSERT(!decode_snapshot(bytes));
    RC_ASSERT(!decode_snapshot(whole.substr(0, random.below(whole.size()))));
  }));
}

TEST(CodecProperty, AnyBytesAreAnsweredWithoutHarm) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) { RC_ASSERT(!decode_snapshot("SLPRSNAP" + bytes)); }));
}

TEST(DiffProperty, ApplyingTheDifferenceGivesTheOther) {
  EXPECT_TRUE(rc::check([](uint64_t seed_a, uint64_t seed_b) {
    const Snapshot a = random_snapshot(seed_a);
    const Snapshot b = random_snapshot(seed_b);
    auto applied = apply_edits(diff(a, b), a);
    RC_ASSERT(applied.has_value());
    RC_ASSERT(*applied == b);
    RC_ASSERT(diff(a, a).empty());
  }));
}

TEST(DiffProperty, SmallChangesComeBackToo) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    const Snapshot a = random_snapshot(seed);
    Snapshot b = a;
    for (uint64_t n = random.below(6); n > 0; --n) testing::mutate(b, random);
    const std::vector<Edit> edits = diff(a, b);
    auto applied = apply_edits(edits, a);
    RC_ASSERT(applied.has_value());
    RC_ASSERT(*applied == b);
    RC_ASSERT(edits.empty() == (a == b));
    for (const Edit& edit : edits) RC_ASSERT(!to_string(edit).empty());
  }));
}

TEST(SnapshotProperty, ValidSnapshotsStayValidOverTheirEncoding) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const Snapshot snapshot = testing::valid_snapshot(seed);
    const Status ok = validate(snapshot);
    RC_ASSERT(ok.has_value());
    RC_ASSERT(validate(*decode_snapshot(encode_snapshot(snapshot))).has_value());
  }));
}

}  // namespace
}  // namespace slipring
