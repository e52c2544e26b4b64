// A snapshot survives its encoding unchanged, and nothing but an encoding is taken for one.
#include "slipring/topology/codec.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include "slipring/base/bytes.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using testing::make_planned_snapshot;
using testing::make_snapshot;

// A body with a header and checksum that hold, so only the body can be at fault.
std::string seal(std::string_view body, uint16_t format = 1) {
  ByteWriter out;
  out.raw("SLPRSNAP");
  out.u16(format);
  out.u64(body.size());
  out.raw(body);
  const XXH128_hash_t hash = XXH3_128bits(out.bytes().data(), out.bytes().size());
  out.u64(hash.low64);
  out.u64(hash.high64);
  return out.take();
}

std::string body_of(const Snapshot& snapshot) {
  const std::string bytes = encode_snapshot(snapshot);
  return bytes.substr(18, bytes.size() - 18 - 16);
}

TEST(Codec, DecodeGivesWhatWasEncoded) {
  for (const Snapshot& snapshot : {Snapshot{}, make_snapshot(3), make_planned_snapshot(3, 256)}) {
    auto back = decode_snapshot(encode_snapshot(snapshot));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, snapshot);
  }
}

TEST(Codec, TheFormIsFixed) {
  // Written once by this code and kept: a change of these bytes needs a new format number.
  const std::string bytes = encode_snapshot(make_snapshot(1, 7));
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  EXPECT_EQ(hex,
            "534c5052534e4150"                          // magic
            "0100"                                      // format
            "7900000000000000"                          // bytes of body
            "0700000000000000"                          // epoch
            "1000000030313233343536373839616263646566"  // cluster id
            "01000000"                                  // pools
            "040000006d61696e000000000000"              // name, kind, fence, prefix
            "060000006d6f64756c6f00000000"              // scheme, options
            "01000000"                                  // replicas
            "01000000"                                  // nodes
            "020000006e310000000000000000"              // name, label, zone
            "e80300000000000000000000"                  // weight, attributes
            "0e0000003132372e302e302e313a37303031"      // address
            "0100000000000000"                          // generation
            "00"                                        // no plan
            "58f913af716fcb281fab33cc61489ec0");        // checksum
  EXPECT_EQ(bytes, seal(body_of(make_snapshot(1, 7))));
}

TEST(Codec, EveryFlippedByteIsRefused) {
  std::string bytes = encode_snapshot(make_planned_snapshot(2, 16));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      auto back = decode_snapshot(bytes);
      ASSERT_FALSE(back) << "byte " << i;
      EXPECT_EQ(back.error().code, Code::kDataLoss);
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
    }
  }
}

TEST(Codec, EveryTruncationAndEveryAdditionIsRefused) {
  const std::string bytes = encode_snapshot(make_planned_snapshot(2, 16));
  for (size_t n = 0; n < bytes.size(); ++n) ASSERT_FALSE(decode_snapshot(bytes.substr(0, n))) << n;
  EXPECT_FALSE(decode_snapshot(bytes + '\0'));
  EXPECT_FALSE(decode_snapshot('\0' + bytes));
  EXPECT_FALSE(decode_snapshot(bytes + bytes));
}

TEST(Codec, ForeignBytesAreNamedSo) {
  EXPECT_EQ(decode_snapshot("{\"epoch\": 1}").error().message, "not a snapshot of Slipring");
  EXPECT_EQ(decode_snapshot("").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_snapshot(std::string(1000, '\0')).error().code, Code::kDataLoss);
}

TEST(Codec, ALaterFormatIsNamedAndNotRead) {
  const auto back = decode_snapshot(seal(body_of(make_snapshot(1)), 2));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Code::kUnimplemented);
  EXPECT_EQ(back.error().message, "snapshot: format 2, this program reads format 1");
}

TEST(Codec, ASealedBodyMustFollowTheFormatToItsEnd) {
  const std::string body = body_of(make_planned_snapshot(1, 1));
  ASSERT_TRUE(decode_snapshot(seal(body)));
  EXPECT_FALSE(decode_snapshot(seal(body + '\0')));
  for (size_t n = 0; n < body.size(); ++n) ASSERT_FALSE(decode_snapshot(seal(body.substr(0, n)))) << n;
}

TEST(Codec, ACountBeyondTheInputIsRefusedBeforeMemoryIsTaken) {
  ByteWriter pools;
  pools.u64(1);
  pools.str("0123456789abcdef");
  pools.u32(0xffffffff);
  EXPECT_FALSE(decode_snapshot(seal(pools.bytes())));
}

TEST(Codec, MovesMustPointIntoTheTable) {
  Snapshot snapshot = make_planned_snapshot(1, 1);
  std::string body = body_of(snapshot);
  // The last 13 bytes are the only move: source, target, slice, owner.
  ASSERT_EQ(snapshot.pools[0].plan->moves.size(), 1u);
  for (const size_t at : {size_t{13}, size_t{9}}) {
    std::string bad = body;
    bad[bad.size() - at] = 2;
    EXPECT_FALSE(decode_snapshot(seal(bad))) << at;
  }
  body.back() = 2;
  EXPECT_FALSE(decode_snapshot(seal(body))) << "an owner is 0 or 1";
}

TEST(Codec, MoreBytesThanAnySnapshotAreRefusedAtOnce) {
  EXPECT_FALSE(decode_snapshot(std::string(kSnapshotBytesMax + 1, 'S')));
}

TEST(Codec, AMillionMovesFitTheBound) {
  const auto bytes = [](size_t moves) {
    Snapshot snapshot = make_planned_snapshot(2, 4096);
    snapshot.pools[0].plan->moves.resize(moves);
    return encode_snapshot(snapshot).size();
  };
  EXPECT_LT(bytes(1000) + (bytes(2000) - bytes(1000)) * (kMovesPerPlanMax / 1000), kSnapshotBytesMax);
}

TEST(Codec, TheDumpReadsLikeAList) {
  Snapshot snapshot = make_planned_snapshot(1, 16);
  snapshot.pools[0].fence = PoolFence::kNames;
  snapshot.pools[0].key_prefix = "app:";
  snapshot.pools[0].layout.scheme.options["seed"] = "42";
  snapshot.pools[0].layout.nodes[0].zone = "a";
  snapshot.pools[0].layout.nodes[0].weight_milli = 1500;
  snapshot.pools[0].plan->moves[3].target_owns = true;
  EXPECT_EQ(dump(snapshot),
            "epoch 2 cluster 0123456789abcdef\n"
            "pool main kind store fence names prefix app:\n"
            "  scheme modulo replicas 1 seed=42\n"
            "  node n1 127.0.0.1:7001 generation 1 weight 1.5 zone a\n"
            "  plan 1 slices 16 moves 16, target owns 1\n"
            "    scheme modulo replicas 1\n"
            "    node n1 127.0.0.1:7001 generation 1 weight 1\n"
            "    node n2 127.0.0.1:7002 generation 1 weight 1\n");
}

TEST(Codec, TheDumpCutsLongValues) {
  Snapshot snapshot = make_snapshot(1);
  snapshot.pools[0].layout.nodes[0].attributes["tokens"] = std::string(500, '7');
  EXPECT_NE(dump(snapshot).find("tokens=" + std::string(64, '7') + "...\n"), std::string::npos);
}

}  // namespace
}  // namespace slipring
