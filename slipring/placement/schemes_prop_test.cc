// What every native scheme promises, held over random fleets: total and stable answers, distinct lists that begin with
// the owner, shares by weight, and no more movement than its header says.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "slipring/base/random.h"
#include "slipring/placement/registry.h"

namespace slipring {
namespace {

void expect_holds(bool held) {
  EXPECT_TRUE(held);
}

std::vector<Member> fleet(size_t n, Random* random) {
  std::vector<Member> members;
  for (size_t i = 0; i < n; ++i)
    members.push_back({.name = "n" + std::to_string(i) + "-" + std::to_string(random->below(9999))});
  return members;
}

std::vector<std::string> keys_of(size_t n, Random* random) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < n; ++i) keys.push_back("k" + std::to_string(random->next()));
  return keys;
}

std::vector<SchemeSpec> native_schemes() {
  std::vector<SchemeSpec> specs;
  for (const SchemeDefinition* definition : all_schemes()) {
    if (definition->info.system == "slipring") specs.push_back({.name = std::string(definition->info.name)});
  }
  for (SchemeSpec& spec : specs) {
    if (spec.name == "ring") spec.options["vnodes"] = "64";
    if (spec.name == "maglev") spec.options["table"] = "1009";
    if (spec.name == "dx") spec.options["places"] = "32";
    if (spec.name == "anchor") spec.options["capacity"] = "32";
  }
  return specs;
}

TEST(NativeSchemes, AnswersAreTotalStableDistinctAndBeginWithTheOwner) {
  expect_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto members = fleet(1 + random.below(20), &random);
    for (const SchemeSpec& spec : native_schemes()) {
      const auto scheme = *make_scheme(spec, members);
      const auto again = *make_scheme(spec, members);
      for (const std::string& key : keys_of(20, &random)) {
        const NodeIndex owner = scheme->owner(key);
        RC_ASSERT(owner < members.size());
        RC_ASSERT(owner == again->owner(key));
        RC_ASSERT(owner == scheme->owner("x{" + key + "}y"));
        std::vector<NodeIndex> list(members.size() + 2);
        list.resize(scheme->preference_list(key, list));
        RC_ASSERT(list.size() == members.size());
        RC_ASSERT(list.front() == owner);
        RC_ASSERT(std::set<NodeIndex>(list.begin(), list.end()).size() == list.size());
        RC_ASSERT(!scheme->explain(key).point.empty());
      }
    }
  }));
}

TEST(NativeSchemes, ADrainedNodeOwnsNothingWhereThereAreWeights) {
  expect_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = fleet(2 + random.below(20), &random);
    const size_t drained = random.below(members.size());
    members[drained].weight_milli = 0;
    for (const SchemeSpec& spec : native_schemes()) {
      if (find_scheme(spec.name)->info.weights != Weights::kUsed) continue;
      const auto scheme = *make_scheme(spec, members);
      for (const std::string& key : keys_of(50, &random)) {
        std::vector<NodeIndex> list(members.size());
        list.resize(scheme->preference_list(key, list));
        RC_ASSERT(list.size() == members.size() - 1);
        for (const NodeIndex m : list) RC_ASSERT(m != drained);
      }
    }
  }));
}

// Schemes in which only the share of an appended node moves.
TEST(NativeSchemes, AnAppendedNodeTakesOnlyItsShare) {
  expect_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto before = fleet(1 + random.below(20), &random);
    auto after = before;
    after.push_back({.name = "added"});
    for (const SchemeSpec& spec : native_schemes()) {
      if (spec.name == "modulo" || spec.name == "maglev" || spec.name == "slots") continue;
      const auto old_scheme = *make_scheme(spec, before);
      const auto new_scheme = *make_scheme(spec, after);
      for (const std::string& key : keys_of(100, &random)) {
        const NodeIndex owner = new_scheme->owner(key);
        RC_ASSERT(owner == before.size() || owner == old_scheme->owner(key));
      }
    }
  }));
}

// Schemes in which any node may go (drained, where members keep their ordinal) and only its keys move.
TEST(NativeSchemes, ADrainedNodeGivesAwayOnlyItsShare) {
  expect_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto before = fleet(2 + random.below(20), &random);
    auto after = before;
    const size_t gone = random.below(before.size());
    after[gone].weight_milli = 0;
    for (const SchemeSpec& spec : native_schemes()) {
      if (find_scheme(spec.name)->info.weights != Weights::kUsed) continue;
      if (spec.name == "maglev" || spec.name == "slots") continue;
      const auto old_scheme = *make_scheme(spec, before);
      const auto new_scheme = *make_scheme(spec, after);
      for (const std::string& key : keys_of(100, &random)) {
        const NodeIndex was = old_scheme->owner(key);
        RC_ASSERT(was == gone || was == new_scheme->owner(key));
      }
    }
  }));
}

TEST(NativeSchemes, SharesFollowWeights) {
  Random random(5);
  auto members = fleet(5, &random);
  for (size_t i = 0; i < members.size(); ++i) members[i].weight_milli = static_cast<int64_t>(1000 * (i + 1));
  const auto keys = keys_of(15'000, &random);
  for (const char* name : {"ring", "rendezvous", "maglev", "slots"}) {
    const auto scheme = *make_scheme({.name = name}, members);
    std::vector<int> count(members.size());
    for (const std::string& key : keys) ++count[scheme->owner(key)];
    for (size_t i = 0; i < members.size(); ++i) {
      const double fair = 1000.0 * static_cast<double>(i + 1);
      EXPECT_NEAR(count[i], fair, 0.25 * fair) << name << " " << i;
    }
  }
}

TEST(NativeSchemes, SharesAreEvenWithoutWeights) {
  Random random(6);
  const auto members = fleet(10, &random);
  const auto keys = keys_of(20'000, &random);
  for (const char* name : {"jump", "modulo", "anchor", "dx", "maglev", "rendezvous"}) {
    const auto scheme = *make_scheme({.name = name}, members);
    std::vector<int> count(members.size());
    for (const std::string& key : keys) ++count[scheme->owner(key)];
    for (const int keys_here : count) EXPECT_NEAR(keys_here, 2000, 250) << name;
  }
}

TEST(NativeSchemes, MultiprobeBoundsThePeak) {
  Random random(7);
  const auto members = fleet(100, &random);
  const auto scheme = *make_scheme({.name = "multiprobe"}, members);
  std::vector<int> count(members.size());
  for (const std::string& key : keys_of(50'000, &random)) ++count[scheme->owner(key)];
  EXPECT_LT(*std::max_element(count.begin(), count.end()), 650);
}

TEST(NativeSchemes, MaglevMovesLittleMoreThanTheShare) {
  Random random(8);
  auto members = fleet(20, &random);
  const auto before = *make_scheme({.name = "maglev"}, members);
  members[7].weight_milli = 0;
  const auto after = *make_scheme({.name = "maglev"}, members);
  int others = 0;
  for (const std::string& key : keys_of(10'000, &random)) {
    const NodeIndex was = before->owner(key);
    others += was != 7 && was != after->owner(key);
  }
  EXPECT_LT(others, 600);
}

}  // namespace
}  // namespace slipring
