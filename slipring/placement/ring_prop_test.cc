// The four properties of Karger et al. (balance, monotonicity, spread, load) and minimal movement, over random fleets.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>

#include "slipring/base/random.h"
#include "slipring/placement/ring.h"

namespace slipring {
namespace {

std::vector<Member> ring_fleet(size_t n, Random* random) {
  std::vector<Member> members;
  for (size_t i = 0; i < n; ++i) {
    members.push_back({.name = "node-" + std::to_string(i) + "-" + std::to_string(random->below(1'000'000))});
  }
  return members;
}

std::string random_key(Random* random) {
  return "key:" + std::to_string(random->next());
}

SchemeSpec spec(uint64_t vnodes, uint64_t seed) {
  return {.options = {{"vnodes", std::to_string(vnodes)}, {"seed", std::to_string(seed)}}};
}

// Share of the circle by member, exact.
std::vector<double> shares(const Scheme& ring) {
  const OwnershipMap map = *ring.ownership();
  std::vector<double> share(ring.member_count());
  uint64_t previous = map.ranges.back().end;
  for (const OwnedRange& range : map.ranges) {
    share[range.owner] += static_cast<double>(range.end - previous) * 0x1p-64;
    previous = range.end;
  }
  return share;
}

void expect_ring_holds(bool held) {
  EXPECT_TRUE(held);
}

TEST(RingProperties, SharesAreBalancedInProportionToWeight) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = ring_fleet(2 + random.below(60), &random);
    int64_t total = 0;
    for (Member& m : members) total += m.weight_milli = static_cast<int64_t>(500 + random.below(2500));
    const auto ring = *make_scheme(spec(512, seed), members);
    const std::vector<double> share = shares(*ring);
    for (size_t i = 0; i < members.size(); ++i) {
      const double fair = static_cast<double>(members[i].weight_milli) / static_cast<double>(total);
      const double tokens = static_cast<double>(vnode_count(512, members[i].weight_milli));
      RC_ASSERT(std::abs(share[i] / fair - 1) < 6 / std::sqrt(tokens));
    }
  }));
}

TEST(RingProperties, AddingANodeMovesKeysOnlyToIt) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = ring_fleet(1 + random.below(30), &random);
    const SchemeSpec same = spec(64, seed);
    const auto old_ring = *make_scheme(same, members);
    members.push_back({.name = "the-new-one"});
    const auto new_ring = *make_scheme(same, members);
    const NodeIndex added = static_cast<NodeIndex>(members.size() - 1);
    for (int i = 0; i < 300; ++i) {
      const std::string key = random_key(&random);
      const NodeIndex owner = new_ring->owner(key);
      RC_ASSERT(owner == added || owner == old_ring->owner(key));
    }
  }));
}

TEST(RingProperties, RemovingANodeMovesOnlyItsKeys) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto members = ring_fleet(2 + random.below(30), &random);
    const size_t gone = random.below(members.size());
    auto fewer = members;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(gone));
    const auto old_ring = *make_scheme(spec(64, seed), members);
    const auto new_ring = *make_scheme(spec(64, seed), fewer);
    for (int i = 0; i < 300; ++i) {
      const std::string key = random_key(&random);
      const NodeIndex was = old_ring->owner(key);
      if (was != gone) RC_ASSERT(fewer[new_ring->owner(key)].name == members[was].name);
    }
  }));
}

TEST(RingProperties, AChangeOfWeightMovesKeysOnlyToOrFromThatNode) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = ring_fleet(2 + random.below(20), &random);
    for (Member& m : members) m.weight_milli = static_cast<int64_t>(1 + random.below(3000));
    const auto before = *make_scheme(spec(100, seed), members);
    const auto changed = static_cast<NodeIndex>(random.below(members.size()));
    const int64_t old_weight = members[changed].weight_milli;
    members[changed].weight_milli = static_cast<int64_t>(random.below(3000));
    const bool grew = members[changed].weight_milli >= old_weight;
    const auto after = *make_scheme(spec(100, seed), members);
    for (int i = 0; i < 300; ++i) {
      const std::string key = random_key(&random);
      const NodeIndex was = before->owner(key);
      const NodeIndex is = after->owner(key);
      RC_ASSERT(was == is || (grew ? is : was) == changed);
    }
  }));
}

TEST(RingProperties, WhatMovesToANewNodeIsItsShareAndNoMore) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = ring_fleet(2 + random.below(20), &random);
    const auto before = *make_scheme(spec(128, seed), members);
    members.push_back({.name = "the-new-one"});
    const auto after = *make_scheme(spec(128, seed), members);
    const std::vector<double> old_share = shares(*before);
    const std::vector<double> new_share = shares(*after);
    double lost = 0;
    for (size_t i = 0; i < old_share.size(); ++i) {
      RC_ASSERT(new_share[i] <= old_share[i] + 1e-12);
      lost += old_share[i] - new_share[i];
    }
    RC_ASSERT(std::abs(lost - new_share.back()) < 1e-9);
  }));
}

// Views: clients that each know only some of the nodes. A random subset of at least half of the ring_fleet.
std::vector<Member> view_of(const std::vector<Member>& members, Random* random) {
  std::vector<Member> view;
  while (view.size() * 2 < members.size()) {
    view.clear();
    for (const Member& m : members) {
      if (random->chance(0.7)) view.push_back(m);
    }
  }
  return view;
}

// Owners by view (by name) of the keys key:0 .. key:(n-1).
std::vector<std::vector<std::string>> owners_by_view(const std::vector<Member>& members, size_t views, size_t keys,
                                                     Random* random) {
  std::vector<std::vector<std::string>> owners;
  for (size_t v = 0; v < views; ++v) {
    const auto view = view_of(members, random);
    const auto ring = *make_scheme(spec(64, 0), view);
    auto& row = owners.emplace_back();
    for (size_t k = 0; k < keys; ++k) row.push_back(view[ring->owner("key:" + std::to_string(k))].name);
  }
  return owners;
}

// Each view holds a node with chance 0.7, so the walk from a key's point meets the owner of nearly every view within
// few nodes: beyond 12 nodes with chance 0.3^12 a view.
TEST(RingProperties, SpreadAKeyHasFewOwnersOverAllViews) {
  Random random(7);
  const auto members = ring_fleet(40, &random);
  const auto owners = owners_by_view(members, 100, 500, &random);
  for (size_t k = 0; k < 500; ++k) {
    std::set<std::string> distinct;
    for (const auto& row : owners) distinct.insert(row[k]);
    EXPECT_LE(distinct.size(), 12u) << k;
  }
}

TEST(RingProperties, LoadANodeIsGivenFewDistinctKeysOverAllViews) {
  Random random(8);
  const auto members = ring_fleet(40, &random);
  constexpr size_t kKeys = 2000;
  const auto owners = owners_by_view(members, 100, kKeys, &random);
  std::map<std::string, std::set<size_t>> keys_of;
  for (const auto& row : owners) {
    for (size_t k = 0; k < kKeys; ++k) keys_of[row[k]].insert(k);
  }
  for (const auto& [name, keys] : keys_of) EXPECT_LE(keys.size(), 12 * kKeys / members.size()) << name;
}

TEST(RingProperties, PreferenceListsAreDistinctAndSpreadOverZonesFirst) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = ring_fleet(1 + random.below(20), &random);
    std::set<std::string> zones;
    for (Member& m : members) {
      if (random.chance(0.8)) m.zone = "z" + std::to_string(random.below(4));
      zones.insert(m.zone.empty() ? m.name : m.zone);
    }
    const auto ring = *make_scheme(spec(16, seed), members);
    for (int i = 0; i < 50; ++i) {
      const std::string key = random_key(&random);
      std::vector<NodeIndex> list(1 + random.below(25));
      list.resize(ring->preference_list(key, list));
      RC_ASSERT(list.front() == ring->owner(key));
      RC_ASSERT(std::set<NodeIndex>(list.begin(), list.end()).size() == list.size());
      std::set<std::string> used;
      for (size_t r = 0; r < std::min(list.size(), zones.size()); ++r) {
        const Member& m = members[list[r]];
        RC_ASSERT(used.insert(m.zone.empty() ? m.name : m.zone).second);
      }
    }
  }));
}

TEST(RingProperties, TheOrderOfMembersDoesNotMatter) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto members = ring_fleet(2 + random.below(20), &random);
    auto shuffled = members;
    for (size_t i = shuffled.size() - 1; i > 0; --i) std::swap(shuffled[i], shuffled[random.below(i + 1)]);
    const auto a = *make_scheme(spec(32, seed), members);
    const auto b = *make_scheme(spec(32, seed), shuffled);
    for (int i = 0; i < 200; ++i) {
      const std::string key = random_key(&random);
      RC_ASSERT(members[a->owner(key)].name == shuffled[b->owner(key)].name);
    }
  }));
}

// One random change of a ring_fleet: nodes come, go, change weight, zone or label, in another order.
std::vector<Member> changed(std::vector<Member> members, Random* random) {
  for (uint64_t step = 0; step < 1 + random->below(4); ++step) {
    Member& some = members[random->below(members.size())];
    switch (random->below(6)) {
      case 0:
        members.push_back({.name = "new-" + std::to_string(step) + "-" + std::to_string(random->below(1'000'000))});
        break;
      case 1:
        if (members.size() > 1)
          members.erase(members.begin() + static_cast<std::ptrdiff_t>(random->below(members.size())));
        break;
      case 2:
        some.weight_milli = static_cast<int64_t>(1 + random->below(4000));
        break;
      case 3:
        some.label = "label-" + std::to_string(random->next());
        break;
      case 4:
        some.zone = "z" + std::to_string(random->below(3));
        break;
      default:
        std::swap(some, members.back());
    }
  }
  return members;
}

void assert_equal(const Scheme& a, const Scheme& b, Random* random) {
  const OwnershipMap x = *a.ownership();
  const OwnershipMap y = *b.ownership();
  RC_ASSERT(x.space == y.space && x.ranges.size() == y.ranges.size());
  for (size_t i = 0; i < x.ranges.size(); ++i) {
    RC_ASSERT(x.ranges[i].end == y.ranges[i].end);
    RC_ASSERT(x.ranges[i].owner == y.ranges[i].owner);
  }
  std::vector<NodeIndex> one(a.member_count());
  std::vector<NodeIndex> other(b.member_count());
  RC_ASSERT(one.size() == other.size());
  for (int i = 0; i < 50; ++i) {
    const std::string key = random_key(random);
    RC_ASSERT(a.owner(key) == b.owner(key));
    RC_ASSERT(a.preference_list(key, one) == b.preference_list(key, other));
    RC_ASSERT(one == other);
  }
}

// The second change starts from a ring that was itself made from another one.
TEST(RingProperties, ARingMadeFromTheOneBeforeEqualsOneMadeAnew) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const SchemeSpec same = spec(1 + random.below(64), seed);
    const auto first = ring_fleet(1 + random.below(40), &random);
    const auto second = changed(first, &random);
    const auto third = changed(second, &random);
    const auto ring = *make_scheme(same, first);
    const auto remade = *remake_scheme({*ring, same, first}, same, second);
    assert_equal(*remade, **make_scheme(same, second), &random);
    assert_equal(**remake_scheme({*remade, same, second}, same, third), **make_scheme(same, third), &random);
  }));
}

// Labels may be equal, so two nodes may have all their tokens in common.
TEST(RingProperties, EqualTokensKeepTheirOrderInARingMadeFromTheOneBefore) {
  expect_ring_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const SchemeSpec same = spec(16, seed);
    auto before = ring_fleet(12, &random);
    for (Member& m : before) m.label = "l" + std::to_string(random.below(3));
    auto after = before;
    after[random.below(12)].weight_milli = static_cast<int64_t>(random.below(3000));
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(random.below(11)));
    after.push_back({.name = "a-first-name", .label = "l1"});
    const auto ring = *make_scheme(same, before);
    assert_equal(**remake_scheme({*ring, same, before}, same, after), **make_scheme(same, after), &random);
  }));
}

}  // namespace
}  // namespace slipring
