#include "slipring/placement/libmemcached.h"

#include <gtest/gtest.h>

#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

SchemeSpec libmemcached(const std::string& distribution, const std::string& hash) {
  return {"libmemcached", {{"distribution", distribution}, {"hash", hash}}};
}

SchemeSpec weighted_ketama(const std::string& hash) {
  SchemeSpec spec = libmemcached("consistent_ketama", hash);
  spec.options["ketama_weighted"] = "true";
  return spec;
}

TEST(Libmemcached, OneWeightAboveOneMakesAConsistentDistributionWeighted) {
  const std::vector<Member> equal = fleet_of(5);
  const std::vector<Member> heavy = weighted(equal, {1, 1, 2, 1, 1});
  EXPECT_EQ(owners_of(libmemcached("consistent", "md5"), heavy), owners_of(weighted_ketama("md5"), heavy));
  EXPECT_NE(owners_of(libmemcached("consistent", "md5"), equal), owners_of(weighted_ketama("md5"), equal));
}

TEST(Libmemcached, ModulaIgnoresWeights) {
  const SchemeSpec modula = libmemcached("modula", "crc");
  EXPECT_EQ(owners_of(modula, fleet_of(5)), owners_of(modula, weighted(fleet_of(5), {1, 2, 3, 5, 8})));
}

TEST(Libmemcached, KetamaWeightedHashesKeysWithMd5UnlessAHashIsSetAfterIt) {
  SchemeSpec unset = {"libmemcached", {{"ketama_weighted", "true"}}};
  EXPECT_EQ(owners_of(unset, fleet_of(5)), owners_of(weighted_ketama("md5"), fleet_of(5)));
  EXPECT_NE(owners_of(unset, fleet_of(5)), owners_of(weighted_ketama("murmur"), fleet_of(5)));
}

TEST(Libmemcached, TheDefaultPortIsNotHashedExceptBySpy) {
  const std::vector<Member> bare = labelled({"a", "b", "c"});
  const std::vector<Member> with_port = labelled({"a:11211", "b:11211", "c:11211"});
  for (const char* distribution : {"consistent", "ketama_spy"})
    EXPECT_EQ(owners_of(libmemcached(distribution, "md5"), bare),
              owners_of(libmemcached(distribution, "md5"), with_port));
  EXPECT_NE(owners_of(libmemcached("consistent", "md5"), bare), owners_of(libmemcached("ketama_spy", "md5"), bare));
}

// Hosts by bytes, then ports by number.
TEST(Libmemcached, SortHostsMakesTheOrderOfTheListIrrelevant) {
  SchemeSpec sorted = libmemcached("modula", "default");
  sorted.options["sort_hosts"] = "true";
  const std::vector<std::string> labels = owner_labels(sorted, labelled({"b:9", "a:1000", "b:10"}));
  EXPECT_EQ(labels, owner_labels(sorted, labelled({"a:1000", "b:10", "b:9"})));
  EXPECT_EQ(labels, owner_labels(libmemcached("modula", "default"), labelled({"a:1000", "b:9", "b:10"})));
}

TEST(Libmemcached, AUnixSocketHasPortZero) {
  EXPECT_EQ(owners_of(libmemcached("consistent", "md5"), labelled({"/run/a", "b:1"})),
            owners_of(libmemcached("consistent", "md5"), labelled({"[/run/a]:0", "b:1"})));
}

// Recorded: the same ring, the same hashes, sign extension included.
TEST(Libmemcached, WeightedKetamaIsTwemproxysKetama) {
  const std::vector<Member> members = weighted(labelled({"10.0.0.1", "10.0.0.2", "10.0.0.3"}), {1, 2, 5});
  const SchemeSpec twemproxy = {"twemproxy", {{"distribution", "ketama"}, {"hash", "fnv1a_64"}}};
  std::vector<std::string> keys = some_keys();
  std::erase(keys, "");
  EXPECT_EQ(owners_of(weighted_ketama("fnv1a_64"), members, keys), owners_of(twemproxy, members, keys));
}

TEST(Libmemcached, ClientsOverItArePresets) {
  const std::vector<Member> members = weighted(fleet_of(4), {1, 3, 1, 2});
  const auto weighted_owners = owners_of(weighted_ketama("md5"), members);
  EXPECT_EQ(owners_of({"php-memcached", {{"algorithm", "libketama_compatible"}}}, members), weighted_owners);
  EXPECT_EQ(owners_of({"pylibmc", {{"algorithm", "ketama_weighted"}}}, members), weighted_owners);
  const auto plain = owners_of(libmemcached("consistent", "default"), fleet_of(4));
  EXPECT_EQ(owners_of({"pylibmc", {{"algorithm", "ketama"}}}, fleet_of(4)), plain);
  EXPECT_EQ(owners_of({"php-memcached", {{"algorithm", "consistent"}}}, fleet_of(4)), plain);
  EXPECT_EQ(owners_of({"php-memcached", {}}, fleet_of(4)), owners_of({"libmemcached", {}}, fleet_of(4)));
}

TEST(Libmemcached, RefusesBadPortsAndUnknownDistributions) {
  EXPECT_NE(refusal(libmemcached("consistent", "md5"), labelled({"a:70000"})), "accepted");
  EXPECT_NE(refusal(libmemcached("random", "md5"), fleet_of(1)), "accepted");
  EXPECT_NE(refusal(libmemcached("modula", "hsieh"), fleet_of(1)), "accepted");
}

TEST(Libmemcached, WeightZeroCountsAsOne) {
  for (const char* distribution : {"modula", "consistent", "consistent_weighted"}) {
    const SchemeSpec spec = libmemcached(distribution, "md5");
    EXPECT_EQ(owners_of(spec, weighted(fleet_of(4), {1, 0, 3, 0})),
              owners_of(spec, weighted(fleet_of(4), {1, 1, 3, 1})));
  }
}

}  // namespace
}  // namespace slipring
