// The C interface answers what the C++ library answers, refuses bad input with a reason, and leaves nothing half made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <thread>

#include "slipring/capi/slipring.h"
#include "slipring/topology/routing.h"
#include "slipring/topology/snapshot_file.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

using ::testing::HasSubstr;

slipring_member member(const char* name, int64_t weight_milli = 1000) {
  return {.name = name, .label = nullptr, .zone = nullptr, .weight_milli = weight_milli, .attributes = nullptr};
}

struct Handle {
  ~Handle() { slipring_placement_free(placement); }
  slipring_placement* placement = nullptr;
};

TEST(CApi, SaysWhichVersionItIs) {
  EXPECT_EQ(slipring_abi_version(), SLIPRING_ABI_VERSION);
}

TEST(CApi, APlacementAnswersAsTheLibraryDoes) {
  const slipring_member members[] = {member("n1"), member("n2", 2500), member("n3")};
  const char* const options[] = {"vnodes=64", "seed=7", nullptr};
  Handle h;
  ASSERT_EQ(slipring_placement_new("ring", options, members, 3, &h.placement), SLIPRING_OK);
  const std::vector<Member> list = {{.name = "n1"}, {.name = "n2", .weight_milli = 2500}, {.name = "n3"}};
  const auto ring = *make_scheme({.options = {{"vnodes", "64"}, {"seed", "7"}}}, list);
  std::vector<std::string> keys;
  for (int i = 0; i < 700; ++i) keys.push_back("key:" + std::to_string(i));
  keys.push_back("");
  keys.push_back(std::string("a\0b", 3));
  std::vector<const void*> pointers;
  std::vector<size_t> sizes;
  for (const std::string& key : keys) {
    pointers.push_back(key.data());
    sizes.push_back(key.size());
  }
  std::vector<uint32_t> owners(keys.size());
  slipring_placement_owners(h.placement, pointers.data(), sizes.data(), keys.size(), owners.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = keys[i];
    EXPECT_EQ(owners[i], ring->owner(key));
    EXPECT_EQ(slipring_placement_owner(h.placement, key.data(), key.size()), ring->owner(key));
    uint32_t nodes[5];
    NodeIndex expected[5];
    ASSERT_EQ(slipring_placement_list(h.placement, key.data(), key.size(), nodes, 5), 3u);
    ASSERT_EQ(ring->preference_list(key, expected), 3u);
    EXPECT_TRUE(std::equal(nodes, nodes + 3, expected));
    char point[128];
    char range[128];
    ASSERT_EQ(slipring_placement_explain(h.placement, key.data(), key.size(), point, 128, range, 128), SLIPRING_OK);
    EXPECT_EQ(point, ring->explain(key).point);
    EXPECT_EQ(range, ring->explain(key).range);
  }
}

TEST(CApi, LabelsZonesAndAttributesReachTheScheme) {
  const char* const tokens[3][2] = {{"tokens=40", nullptr}, {"tokens=150", nullptr}, {"tokens=280", nullptr}};
  slipring_member members[] = {member("A"), member("B"), member("C")};
  for (int i = 0; i < 3; ++i) members[i].attributes = tokens[i];
  const char* const options[] = {"hash=decimal", "space=360", nullptr};
  Handle h;
  ASSERT_EQ(slipring_placement_new("ring", options, members, 3, &h.placement), SLIPRING_OK);
  EXPECT_EQ(slipring_placement_owner(h.placement, "10", 2), 0u);
  EXPECT_EQ(slipring_placement_owner(h.placement, "120", 3), 1u);
}

TEST(CApi, BadPlacementsAreRefusedWithTheReason) {
  const slipring_member one[] = {member("a")};
  const slipring_member twice[] = {member("a"), member("a")};
  slipring_placement* const untouched = reinterpret_cast<slipring_placement*>(&errno);
  slipring_placement* out = untouched;
  EXPECT_EQ(slipring_placement_new("rong", nullptr, one, 1, &out), SLIPRING_INVALID_ARGUMENT);
  EXPECT_THAT(slipring_last_error(), HasSubstr("scheme \"rong\": unknown"));
  EXPECT_EQ(slipring_placement_new("ring", nullptr, twice, 2, &out), SLIPRING_INVALID_ARGUMENT);
  EXPECT_THAT(slipring_last_error(), HasSubstr("named twice"));
  EXPECT_EQ(slipring_placement_new("ring", nullptr, nullptr, 0, &out), SLIPRING_INVALID_ARGUMENT);
  EXPECT_THAT(slipring_last_error(), HasSubstr("no nodes"));
  const char* const no_value[] = {"vnodes", nullptr};
  EXPECT_EQ(slipring_placement_new("ring", no_value, one, 1, &out), SLIPRING_INVALID_ARGUMENT);
  const char* const doubled[] = {"vnodes=1", "vnodes=2", nullptr};
  EXPECT_EQ(slipring_placement_new("ring", doubled, one, 1, &out), SLIPRING_INVALID_ARGUMENT);
  EXPECT_THAT(slipring_last_error(), HasSubstr("given twice"));
  EXPECT_EQ(slipring_placement_new(nullptr, nullptr, one, 1, &out), SLIPRING_INVALID_ARGUMENT);
  EXPECT_EQ(slipring_placement_new("ring", nullptr, one, 1, nullptr), SLIPRING_INVALID_ARGUMENT);
  EXPECT_EQ(out, untouched);
}

TEST(CApi, ABufferThatIsTooSmallIsLeftAlone) {
  const slipring_member one[] = {member("a")};
  Handle h;
  ASSERT_EQ(slipring_placement_new("ring", nullptr, one, 1, &h.placement), SLIPRING_OK);
  char point[128] = "untouched";
  char range[128] = "untouched";
  EXPECT_EQ(slipring_placement_explain(h.placement, "k", 1, point, 128, range, 5), SLIPRING_OUT_OF_RANGE);
  EXPECT_EQ(slipring_placement_explain(h.placement, "k", 1, point, 16, range, 128), SLIPRING_OUT_OF_RANGE);
  EXPECT_STREQ(point, "untouched");
  EXPECT_STREQ(range, "untouched");
  EXPECT_THAT(slipring_last_error(), HasSubstr("17 are needed"));
}

TEST(CApi, ErrorsBelongToTheirThread) {
  slipring_placement* out = nullptr;
  EXPECT_NE(slipring_placement_new("here", nullptr, nullptr, 0, &out), SLIPRING_OK);
  std::string other;
  std::thread([&] {
    slipring_placement_new("there", nullptr, nullptr, 0, &out);
    other = slipring_last_error();
  }).join();
  EXPECT_THAT(other, HasSubstr("there"));
  EXPECT_THAT(slipring_last_error(), HasSubstr("here"));
}

TEST(CApi, AllOfNullIsHandled) {
  slipring_snapshot_close(nullptr);
  slipring_placement_free(nullptr);
  EXPECT_EQ(slipring_snapshot_epoch(nullptr), 0u);
  EXPECT_EQ(slipring_snapshot_pool_count(nullptr), 0u);
  EXPECT_EQ(slipring_snapshot_pool_name(nullptr, 0), nullptr);
  EXPECT_EQ(slipring_placement_owner(nullptr, "k", 1), SLIPRING_NO_NODE);
  slipring_location where;
  EXPECT_EQ(slipring_snapshot_locate(nullptr, 0, "k", 1, &where), SLIPRING_INVALID_ARGUMENT);
  EXPECT_EQ(slipring_snapshot_open(nullptr, nullptr), SLIPRING_INVALID_ARGUMENT);
}

class SnapshotFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ =
        ::testing::TempDir() + "capi-" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".snapshot";
    snapshot_.epoch = Epoch{41};
    snapshot_.cluster_id = "0123456789abcdef";
    snapshot_.pools.push_back({.name = "main", .layout = testing::make_layout(5, 7001, "ring")});
    ASSERT_TRUE(write_snapshot_file(path_, snapshot_));
  }
  void TearDown() override {
    slipring_snapshot_close(open_);
    std::remove(path_.c_str());
  }

  std::string path_;
  Snapshot snapshot_;
  slipring_snapshot* open_ = nullptr;
};

TEST_F(SnapshotFile, LocatesAsTheRouterDoes) {
  ASSERT_EQ(slipring_snapshot_open(path_.c_str(), &open_), SLIPRING_OK) << slipring_last_error();
  EXPECT_EQ(slipring_snapshot_epoch(open_), 41u);
  ASSERT_EQ(slipring_snapshot_pool_count(open_), 1u);
  EXPECT_STREQ(slipring_snapshot_pool_name(open_, 0), "main");
  size_t pool = 9;
  ASSERT_EQ(slipring_snapshot_find_pool(open_, nullptr, &pool), SLIPRING_OK);
  ASSERT_EQ(slipring_snapshot_find_pool(open_, "main", &pool), SLIPRING_OK);
  EXPECT_EQ(pool, 0u);
  EXPECT_EQ(slipring_snapshot_find_pool(open_, "other", &pool), SLIPRING_NOT_FOUND);
  const auto routing = *PoolRouting::compile(snapshot_.pools[0]);
  for (int i = 0; i < 500; ++i) {
    const std::string key = "key:" + std::to_string(i);
    slipring_location where;
    ASSERT_EQ(slipring_snapshot_locate(open_, pool, key.data(), key.size(), &where), SLIPRING_OK);
    const Decision d = routing->decide(key);
    EXPECT_EQ(where.node, routing->node_name(d.owner));
    EXPECT_EQ(where.address, routing->instances()[d.owner].address);
    EXPECT_EQ(where.source, nullptr);
    EXPECT_EQ(where.epoch, 41u);
    char point[128];
    char range[128];
    ASSERT_EQ(slipring_snapshot_explain(open_, pool, key.data(), key.size(), point, 128, range, 128), SLIPRING_OK);
    EXPECT_EQ(range, routing->old_scheme().explain(key).range);
  }
}

TEST_F(SnapshotFile, DuringAPlanSaysWhoGivesAndWhoTakes) {
  OpenPlan plan{.id = 1, .next = testing::make_layout(6, 7001, "ring")};
  for (int i = 0; i < 5; ++i) {
    plan.moves.push_back({.source = plan.next.nodes[static_cast<size_t>(i)].instance,
                          .target = plan.next.nodes[5].instance,
                          .slice = 0,
                          .target_owns = i % 2 == 0});
  }
  snapshot_.pools[0].plan = plan;
  ASSERT_TRUE(write_snapshot_file(path_, snapshot_));
  ASSERT_EQ(slipring_snapshot_open(path_.c_str(), &open_), SLIPRING_OK) << slipring_last_error();
  const auto routing = *PoolRouting::compile(snapshot_.pools[0]);
  int moving = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    slipring_location where;
    ASSERT_EQ(slipring_snapshot_locate(open_, 0, key.data(), key.size(), &where), SLIPRING_OK);
    const Decision d = routing->decide(key);
    EXPECT_EQ(where.node, routing->node_name(d.owner));
    if (where.source == nullptr) continue;
    ++moving;
    EXPECT_STREQ(where.target, "n6");
    const bool by_new = std::string_view(where.node) == "n6";
    char point[128];
    char range[128];
    ASSERT_EQ(slipring_snapshot_explain(open_, 0, key.data(), key.size(), point, 128, range, 128), SLIPRING_OK);
    EXPECT_EQ(range, (by_new ? *routing->new_scheme() : routing->old_scheme()).explain(key).range);
  }
  EXPECT_GT(moving, 100);
}

TEST_F(SnapshotFile, ADamagedOrMissingFileIsRefusedByName) {
  EXPECT_EQ(slipring_snapshot_open("/nonexistent/x.snapshot", &open_), SLIPRING_NOT_FOUND);
  EXPECT_THAT(slipring_last_error(), HasSubstr("/nonexistent/x.snapshot"));
  std::FILE* file = std::fopen(path_.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 30, SEEK_SET);
  std::fputc(0xff, file);
  std::fclose(file);
  EXPECT_EQ(slipring_snapshot_open(path_.c_str(), &open_), SLIPRING_DATA_LOSS);
  EXPECT_EQ(open_, nullptr);
}

TEST_F(SnapshotFile, ManyThreadsLookUpAtOnce) {
  ASSERT_EQ(slipring_snapshot_open(path_.c_str(), &open_), SLIPRING_OK);
  std::vector<std::thread> threads;
  std::vector<uint64_t> sums(4);
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([this, t, &sums] {
      for (int i = 0; i < 5000; ++i) {
        const std::string key = std::to_string(i);
        slipring_location where;
        if (slipring_snapshot_locate(open_, 0, key.data(), key.size(), &where) == SLIPRING_OK) {
          sums[t] += static_cast<uint64_t>(where.node[1]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const uint64_t sum : sums) EXPECT_EQ(sum, sums[0]);
}

}  // namespace
}  // namespace slipring
