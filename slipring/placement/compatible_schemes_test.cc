// What every scheme of another system's proxy or client promises, whatever its rule: the contract of Scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "slipring/placement/registry.h"
#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const std::vector<std::string> kNames = {
    "dalli",         "haproxy",       "libmemcached",  "nginx",         "npm-consistent-hash",
    "npm-hashring",  "npm-ketama",    "npm-memcached", "php-memcache",  "perl-cache-memcached",
    "php-memcached", "pylibmc",       "pymemcache",    "squid-carp",    "perl-cache-memcached-fast",
    "spymemcached",  "trafficserver", "twemproxy",     "varnish-shard", "python-memcached",
};

class Compatible : public ::testing::TestWithParam<std::string> {
 protected:
  SchemeSpec spec() const { return {GetParam(), {}}; }
};

TEST_P(Compatible, AnswersAreTotalStableDistinctAndBeginWithTheOwner) {
  for (const size_t n : {1, 2, 5, 40}) {
    const std::vector<Member> members = fleet_of(n);
    const auto scheme = scheme_of(spec(), members);
    const auto again = scheme_of(spec(), members);
    for (const std::string& key : some_keys()) {
      const NodeIndex owner = scheme->owner(key);
      ASSERT_LT(owner, n);
      ASSERT_EQ(owner, again->owner(key));
      std::vector<NodeIndex> list(n + 2);
      list.resize(scheme->preference_list(key, list));
      ASSERT_EQ(list.size(), n);
      ASSERT_EQ(list.front(), owner);
      ASSERT_EQ(std::set<NodeIndex>(list.begin(), list.end()).size(), n);
      ASSERT_FALSE(scheme->explain(key).point.empty());
    }
  }
}

TEST_P(Compatible, ManyAtOnceAreAsOneByOne) {
  const auto scheme = scheme_of(spec(), fleet_of(7));
  const std::vector<std::string> keys = some_keys();
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<NodeIndex> owners(keys.size());
  scheme->owners(views, owners);
  EXPECT_EQ(owners, owners_of(spec(), fleet_of(7)));
}

// HAProxy's servers get explicit ids here: automatic ones are counted, weight or not.
// Others take 0 for "not given", or count a server that owns nothing; their own tests say what they do.
TEST_P(Compatible, AMemberOfWeightZeroIsAsIfItWereNotInTheList) {
  const bool counted = GetParam() == "dalli" || find_scheme(GetParam())->info.zero_weight_may_own;
  if (counted) return;
  std::vector<Member> drained = fleet_of(5);
  for (size_t i = 0; i < drained.size() && GetParam() == "haproxy"; ++i)
    drained[i].attributes["id"] = std::to_string(i + 1);
  std::vector<Member> without = drained;
  without.erase(without.begin() + 2);
  drained[2].weight_milli = 0;
  EXPECT_EQ(owner_labels(spec(), drained), owner_labels(spec(), without));
  const auto scheme = scheme_of(spec(), drained);
  for (const std::string& key : some_keys()) {
    std::vector<NodeIndex> list(5);
    list.resize(scheme->preference_list(key, list));
    EXPECT_EQ(list.size(), 4u);
    EXPECT_EQ(std::count(list.begin(), list.end(), 2u), 0);
  }
}

TEST_P(Compatible, IsDescribedAndRefusesNonsense) {
  const SchemeDefinition* definition = find_scheme(GetParam());
  ASSERT_NE(definition, nullptr);
  EXPECT_NE(definition->info.system, "slipring");
  for (const std::string_view text :
       {definition->info.source, definition->info.summary, definition->info.disruption, definition->info.cost})
    EXPECT_FALSE(text.empty());
  EXPECT_NE(refusal(spec(), {}).find("no nodes"), std::string::npos);
  SchemeSpec odd = spec();
  odd.options["colour"] = "red";
  EXPECT_NE(refusal(odd, fleet_of(2)).find("\"colour\": unknown"), std::string::npos);
  std::vector<Member> members = fleet_of(2);
  members[1].attributes["colour"] = "red";
  EXPECT_NE(refusal(spec(), members).find("\"colour\": unknown"), std::string::npos);
  EXPECT_NE(refusal(spec(), weighted(fleet_of(2), {0, 0})).find("weight 0"), std::string::npos);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Schemes, Compatible, ::testing::ValuesIn(kNames), test_name);

}  // namespace
}  // namespace slipring
