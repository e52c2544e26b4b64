// The mover's sessions against a real redis-server: what a batch may hold, and that nothing is left out by it.
#include "slipring/store/redis/redis_session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "slipring/base/random.h"
#include "tests/support/redis_server.h"

namespace slipring::redis {
namespace {

using testing::RedisServer;

constexpr size_t kValueBytes = 1u << 20;

class RedisSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.start();
    const Endpoint endpoint{server_.address(), server_.admin_user(), server_.admin_password(), "slipring/test"};
    client_ = Client::connect(endpoint).value();
    session_ = RedisSession::connect(endpoint).value();
  }
  // Values that do not compress, so that payloads are as large as they are.
  void fill(size_t count, size_t bytes) {
    for (size_t i = 0; i < count; ++i) {
      names_.push_back(fmt::format("k{}", i));
      std::string value(bytes, '\0');
      for (size_t at = 0; at + 8 <= bytes; at += 8) {
        const uint64_t word = random_.next();
        std::memcpy(value.data() + at, &word, 8);
      }
      ASSERT_TRUE(client_.call({"SET", names_.back(), value}));
    }
    keys_.assign(names_.begin(), names_.end());
  }

  Random random_{1};
  RedisServer server_;
  Client client_;
  std::unique_ptr<RedisSession> session_;
  std::vector<std::string> names_;
  std::vector<std::string_view> keys_;
};

TEST_F(RedisSessionTest, ABatchOfLargeValuesIsReadInPartsThatFit) {
  fill(90, kValueBytes);
  std::span<const std::string_view> left = keys_;
  std::set<std::string_view> read;
  while (!left.empty()) {
    const auto values = session_->read(left, true, 8u << 20);
    ASSERT_TRUE(values) << values.error().message;
    uint64_t bytes = 0;
    size_t done = 0;
    while (done < left.size() && (*values)[done].state == StoredKey::State::kPresent) {
      bytes += (*values)[done].payload.size();
      read.insert(left[done++]);
    }
    for (size_t i = done; i < left.size(); ++i) ASSERT_EQ((*values)[i].state, StoredKey::State::kUnread);
    ASSERT_GT(done, 0u);
    // One pipeline begins while there is room; the first one has not seen how large the values are.
    EXPECT_LE(bytes, StoreSession::kReadBytesMax + 64 * kValueBytes);
    left = left.subspan(done);
  }
  EXPECT_EQ(read.size(), keys_.size());
}

TEST_F(RedisSessionTest, ADigestLeavesNothingUnread) {
  fill(20, kValueBytes);
  const auto values = session_->digest(keys_, 1'000'000, 8u << 20);
  ASSERT_TRUE(values) << values.error().message;
  for (const StoredKey& value : *values) EXPECT_EQ(value.state, StoredKey::State::kPresent);
  EXPECT_NE(values->front().digest_low, values->back().digest_low);
}

TEST_F(RedisSessionTest, SmallAbsentAndTooLargeKeysAreToldApart) {
  fill(2, 100);
  const std::vector<std::string_view> keys = {"k0", "nothing", "k1"};
  const auto values = session_->read(keys, true, 50);
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0].state, StoredKey::State::kTooBig);
  EXPECT_TRUE((*values)[0].payload.empty());
  EXPECT_EQ((*values)[1].state, StoredKey::State::kAbsent);
  EXPECT_EQ((*session_->read(keys, false, 50))[2].state, StoredKey::State::kPresent);
}

}  // namespace
}  // namespace slipring::redis
