// What the schemes of meshes, databases and libraries promise over random fleets: total and stable answers, distinct
// lists that begin with the owner, and no more movement than their headers say.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "slipring/base/random.h"
#include "slipring/placement/fleet_for_test.h"
#include "slipring/placement/registry.h"

namespace slipring {
namespace {

void expect_foreign_holds(bool held) {
  EXPECT_TRUE(held);
}

// Labels that cannot clash, random tokens and hashes: enough for every scheme below.
std::vector<Member> foreign_fleet(size_t n, Random* random) {
  std::vector<Member> members;
  for (size_t i = 0; i < n; ++i) {
    members.push_back({.name = "n" + std::to_string(i), .label = "n" + std::to_string(random->next()) + "."});
    members.back().zone = "dc" + std::to_string(random->below(2)) + "/r" + std::to_string(random->below(3));
  }
  return members;
}

// Small tables and few points keep the checks fast.
std::vector<SchemeSpec> specs() {
  return {
      {.name = "buraksezer", .options = {{"replication_factor", "64"}}},
      {.name = "cassandra", .options = {{"replication_factor", "3"}}},
      {.name = "cassandra", .options = {{"strategy", "network"}, {"replication", "dc0:2,dc1:2"}}},
      {.name = "cassandra", .options = {{"partitioner", "random"}}},
      {.name = "cilium-maglev", .options = {{"table_size", "251"}}},
      {.name = "codis", .options = {}},
      {.name = "couchbase", .options = {}},
      {.name = "dynomite", .options = {}},
      {.name = "envoy-maglev", .options = {{"table_size", "251"}}},
      {.name = "envoy-ring-hash", .options = {{"min_ring_size", "128"}}},
      {.name = "ex-hash-ring", .options = {{"replicas", "16"}}},
      {.name = "go-jump", .options = {}},
      {.name = "groupcache", .options = {{"replicas", "16"}}},
      {.name = "grpc-ring-hash", .options = {{"min_ring_size", "128"}}},
      {.name = "katran", .options = {{"table_size", "251"}}},
      {.name = "mcrouter-ch3", .options = {}},
      {.name = "mcrouter-rendezvous", .options = {}},
      {.name = "mcrouter-weighted-ch3", .options = {}},
      {.name = "mcrouter-weighted-furc", .options = {}},
      {.name = "mcrouter-weighted-rendezvous", .options = {}},
      {.name = "redis-cluster", .options = {}},
      {.name = "stathat", .options = {}},
  };
}

// The members with the attributes that a scheme asks for. `seed` fixes them.
std::vector<Member> fitted(const SchemeSpec& spec, std::vector<Member> members, uint64_t seed) {
  for (Member& member : members) {
    Random random(seed ^ std::hash<std::string>()(member.label));
    if (spec.name == "katran") member.attributes["hash"] = std::to_string(random.next());
    if (spec.name == "cassandra" || spec.name == "dynomite") {
      member.attributes["tokens"] =
          std::to_string(random.below(UINT32_MAX)) + "," + std::to_string(random.below(UINT32_MAX));
    }
  }
  return members;
}

std::unique_ptr<const Scheme> made(const SchemeSpec& spec, const std::vector<Member>& members, uint64_t seed) {
  return *make_scheme(spec, fitted(spec, members, seed));
}

TEST(ForeignSchemes, AnswersAreTotalStableDistinctAndBeginWithTheOwner) {
  expect_foreign_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = foreign_fleet(2 + random.below(12), &random);
    members[0].zone = "dc0/r0";
    for (const SchemeSpec& spec : specs()) {
      const auto scheme = made(spec, members, seed);
      const auto again = made(spec, members, seed);
      for (int i = 0; i < 10; ++i) {
        const std::string key = "k" + std::to_string(random.next());
        const NodeIndex owner = scheme->owner(key);
        RC_ASSERT(owner < members.size());
        RC_ASSERT(owner == again->owner(key));
        const auto list = list_for_test(*scheme, key, members.size() + 2);
        RC_ASSERT(list.front() == owner);
        RC_ASSERT(list_for_test(*scheme, key, 1).front() == owner);
        RC_ASSERT(std::set<NodeIndex>(list.begin(), list.end()).size() == list.size());
        RC_ASSERT(list.size() == members.size());
        RC_ASSERT(!scheme->explain(key).point.empty());
      }
    }
  }));
}

// Schemes in which the last member may come and go and only its keys move.
TEST(ForeignSchemes, AnAppendedNodeTakesOnlyItsShare) {
  expect_foreign_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    const auto after = foreign_fleet(2 + random.below(12), &random);
    const std::vector<Member> before(after.begin(), after.end() - 1);
    for (const SchemeSpec& spec : specs()) {
      static const std::set<std::string> kSuch = {"ex-hash-ring",       "go-jump", "groupcache",
                                                  "mcrouter-ch3",       "stathat", "mcrouter-weighted-rendezvous",
                                                  "mcrouter-rendezvous"};
      if (!kSuch.contains(spec.name)) continue;
      const auto old_scheme = made(spec, before, seed);
      const auto new_scheme = made(spec, after, seed);
      for (int i = 0; i < 50; ++i) {
        const std::string key = "k" + std::to_string(random.next());
        const NodeIndex owner = new_scheme->owner(key);
        RC_ASSERT(owner == before.size() || owner == old_scheme->owner(key));
      }
    }
  }));
}

// A random token never goes to a member of another data centre than those that hold replicas.
TEST(ForeignSchemes, CassandraPlacesOwnersOnlyWhereReplicasAre) {
  expect_foreign_holds(rc::check([](uint64_t seed) {
    Random random(seed);
    auto members = foreign_fleet(2 + random.below(12), &random);
    members[0].zone = "dc1/r0";
    const SchemeSpec spec{.name = "cassandra", .options = {{"strategy", "network"}, {"replication", "dc1:2"}}};
    const auto scheme = made(spec, members, seed);
    for (int i = 0; i < 50; ++i) {
      RC_ASSERT(members[scheme->owner("k" + std::to_string(random.next()))].zone.starts_with("dc1/"));
    }
  }));
}

}  // namespace
}  // namespace slipring
