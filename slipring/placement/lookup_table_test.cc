// The Maglev family of other systems: Envoy, Cilium, Katran.
#include "slipring/placement/lookup_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipring/placement/cilium_maglev.h"
#include "slipring/placement/envoy_maglev.h"
#include "slipring/placement/fleet_for_test.h"
#include "slipring/placement/katran.h"

namespace slipring {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<size_t> shares(std::span<const NodeIndex> table, size_t members) {
  std::vector<size_t> found(members);
  for (const NodeIndex owner : table) ++found[owner];
  return found;
}

TEST(Primes, AreToldFromOtherNumbers) {
  for (const uint64_t prime : {2, 3, 251, 65537, 5000011}) EXPECT_TRUE(is_prime(prime)) << prime;
  for (const uint64_t other : {0, 1, 4, 9, 65536, 5000013}) EXPECT_FALSE(is_prime(other)) << other;
}

// The table that Envoy's unit test prints for ports 90 to 95.
TEST(EnvoyMaglev, MakesTheTableOfEnvoysUnitTest) {
  std::vector<WeightedHost> hosts;
  for (int port = 90; port < 96; ++port) hosts.push_back({"127.0.0.1:" + std::to_string(port), 1});
  EXPECT_THAT(envoy_maglev_table(hosts, 7), ElementsAre(2, 4, 0, 1, 5, 0, 3));
}

TEST(EnvoyMaglev, SharesFollowTheWeightsAndWeightZeroGetsNone) {
  const std::vector<WeightedHost> hosts = {{"a", 1}, {"b", 3}, {"c", 0}};
  EXPECT_THAT(shares(envoy_maglev_table(hosts, 1009), 3), ElementsAre(253, 756, 0));
}

TEST(EnvoyMaglev, TheOrderOfHostsPlaysNoPart) {
  const std::vector<WeightedHost> one = {{"a", 1}, {"b", 2}, {"c", 5}};
  const std::vector<WeightedHost> other = {{"c", 5}, {"a", 1}, {"b", 2}};
  const auto first = envoy_maglev_table(one, 251);
  const auto second = envoy_maglev_table(other, 251);
  for (size_t i = 0; i < 251; ++i) EXPECT_EQ(one[first[i]].key, other[second[i]].key);
}

TEST(EnvoyMaglev, RetriesGiveThePreferenceListAndItEnds) {
  auto members = addresses_for_test(5);
  members[4].weight_milli = 0;
  const auto scheme = *make_scheme({.name = "envoy-maglev", .options = {{"table_size", "1009"}}}, members);
  auto list = list_for_test(*scheme, "k", 9);
  EXPECT_EQ(list.front(), scheme->owner("k"));
  std::sort(list.begin(), list.end());
  EXPECT_THAT(list, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(error_for_test({.name = "envoy-maglev", .options = {{"table_size", "1000"}}}, members),
              HasSubstr("must be prime"));
}

// The shares that Cilium's unit test asserts.
TEST(CiliumMaglev, SharesAreThoseOfCiliumsUnitTest) {
  const std::vector<CiliumBackend> backends = {{"one", 2}, {"three", 13}, {"two", 111}, {"tzwe", 10}};
  const uint32_t seed = *cilium_murmur_seed("JLfvgnHc2kaSUFaI");
  EXPECT_THAT(shares(cilium_maglev_table(backends, 1021, seed), 4), ElementsAre(16, 98, 832, 75));
}

TEST(CiliumMaglev, TheSeedIsTheFirstFourBytes) {
  EXPECT_EQ(*cilium_murmur_seed("JLfvgnHc2kaSUFaI"), 0x24b7ef82u);
  EXPECT_EQ(*cilium_murmur_seed("AAAAAAAAAAAAAAAA"), 0u);
  EXPECT_EQ(*cilium_murmur_seed("////////////////"), 0xffffffffu);
  for (const char* bad : {"", "JLfvgnHc2kaSUFa", "JLfvgnHc2kaSUFaII", "JLfvgnHc2kaSUFa=", "JLfvgnHc2kaSUF I"}) {
    EXPECT_FALSE(cilium_murmur_seed(bad)) << bad;
  }
}

TEST(CiliumMaglev, OnlyItsOwnTableSizesAndWholeWeightsAreTaken) {
  auto members = addresses_for_test(3);
  EXPECT_THAT(error_for_test({.name = "cilium-maglev", .options = {{"table_size", "1009"}}}, members),
              HasSubstr("must be one of 251, 509"));
  EXPECT_THAT(error_for_test({.name = "cilium-maglev", .options = {{"hash_seed", "x"}}}, members),
              HasSubstr("option hash_seed"));
  members[1].weight_milli = 1500;
  EXPECT_THAT(error_for_test({.name = "cilium-maglev"}, members), HasSubstr("node s1: weight 1.5: must be a whole"));
}

std::vector<KatranReal> reals(std::initializer_list<uint32_t> weights) {
  constexpr uint64_t kHashes[] = {5578856650357675757u, 13363697132214137178u, 4838905155843937496u};
  std::vector<KatranReal> made;
  for (const uint32_t weight : weights) {
    const auto i = static_cast<NodeIndex>(made.size());
    made.push_back({i, kHashes[i], weight});
  }
  return made;
}

TEST(Katran, WeightsCountInTheFirstRoundOnlyInVersion1) {
  EXPECT_THAT(shares(katran_table(reals({100, 10, 1}), 1009, KatranVersion::kMaglev), 3), ElementsAre(400, 309, 300));
  EXPECT_THAT(shares(katran_table(reals({3, 0, 1}), 1009, KatranVersion::kMaglev), 3), ElementsAre(338, 335, 336));
}

TEST(Katran, Version2FollowsTheWeights) {
  EXPECT_THAT(shares(katran_table(reals({100, 10, 1}), 1009, KatranVersion::kMaglevV2), 3), ElementsAre(910, 90, 9));
  EXPECT_THAT(shares(katran_table(reals({3, 0, 1}), 1009, KatranVersion::kMaglevV2), 3), ElementsAre(757, 0, 252));
}

TEST(Katran, FewRealsAreSpecial) {
  EXPECT_THAT(katran_table({}, 7, KatranVersion::kMaglev), Each(kNoNode));
  EXPECT_THAT(katran_table(reals({0}), 7, KatranVersion::kMaglevV2), Each(0u));
  EXPECT_THAT(katran_table(reals({0, 0}), 7, KatranVersion::kMaglevV2), Each(kNoNode));
}

std::vector<Member> katran_fleet() {
  auto members = addresses_for_test(3);
  members[0].attributes["hash"] = "9";
  members[1].attributes["hash"] = "7";
  members[2].attributes["hash"] = "8";
  return members;
}

TEST(Katran, TurnsGoByHashUnlessTheOrderIsGiven) {
  const auto table = [](const SchemeSpec& spec, const std::vector<Member>& members) {
    const auto scheme = *make_scheme(spec, members);
    const auto view = dynamic_cast<const LookupTableScheme&>(*scheme).table();
    return std::vector<NodeIndex>(view.begin(), view.end());
  };
  const SchemeSpec by_hash{.name = "katran", .options = {{"table_size", "251"}}};
  const SchemeSpec given{.name = "katran", .options = {{"table_size", "251"}, {"order", "given"}}};
  EXPECT_EQ(table(by_hash, katran_fleet()),
            katran_table(std::vector<KatranReal>{{1, 7, 1}, {2, 8, 1}, {0, 9, 1}}, 251, KatranVersion::kMaglev));
  EXPECT_EQ(table(given, katran_fleet()),
            katran_table(std::vector<KatranReal>{{0, 9, 1}, {1, 7, 1}, {2, 8, 1}}, 251, KatranVersion::kMaglev));
  auto drained = katran_fleet();
  drained[1].weight_milli = 0;
  EXPECT_EQ(shares(table(by_hash, drained), 3)[1], 0u);
  EXPECT_GT(shares(table(given, drained), 3)[1], 0u);
}

TEST(Katran, EveryRealNeedsItsHash) {
  EXPECT_THAT(error_for_test({.name = "katran"}, addresses_for_test(2)),
              HasSubstr("node s0: needs the attribute hash"));
  EXPECT_THAT(error_for_test({.name = "katran", .options = {{"table_size", "65521000"}}}, katran_fleet()),
              HasSubstr("must be"));
  EXPECT_THAT(error_for_test({.name = "katran", .options = {{"table_size", "100"}}}, katran_fleet()),
              HasSubstr("must be prime"));
}

}  // namespace
}  // namespace slipring
