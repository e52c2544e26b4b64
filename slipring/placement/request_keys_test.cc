// What mcrouter and Envoy's redis_proxy hash of a key that is sent to them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slipring/hash/murmur.h"
#include "slipring/placement/scheme.h"

namespace slipring {
namespace {

std::vector<Member> request_members(size_t n) {
  std::vector<Member> out(n);
  for (size_t i = 0; i < n; ++i) out[i].name = "n" + std::to_string(i);
  return out;
}

std::unique_ptr<const Scheme> made(const std::string& name, std::map<std::string, std::string> options) {
  auto scheme = make_scheme(SchemeSpec{name, std::move(options)}, request_members(7));
  EXPECT_TRUE(scheme) << scheme.error().message;
  return std::move(*scheme);
}

TEST(McrouterKey, OnlyWhatStandsBeforeTheHashStopDecides) {
  for (const char* name : {"mcrouter-ch3", "mcrouter-weighted-ch3", "mcrouter-weighted-furc", "mcrouter-rendezvous",
                           "mcrouter-weighted-rendezvous"}) {
    const auto stopped = made(name, {{"hash_stop", "true"}});
    const auto whole = made(name, {});
    size_t differing = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string front = "user:" + std::to_string(i);
      const std::string key = front + "|#|more|#|" + std::to_string(i * 31);
      EXPECT_EQ(stopped->tag(key), front);
      EXPECT_EQ(stopped->owner(key), whole->owner(front)) << name;
      if (whole->owner(key) != stopped->owner(key)) ++differing;
    }
    EXPECT_GT(differing, 100u) << name;
  }
}

TEST(EnvoyKey, RedisProxyHashesTheTagByMurmur) {
  const std::map<std::string, std::string> options = {{"key_hash", "murmur2"}, {"tag", "redis"}};
  const auto ring = made("envoy-ring-hash", options);
  const auto maglev = made("envoy-maglev", options);
  const auto plain = made("envoy-ring-hash", {{"key_hash", "murmur2"}});
  for (int i = 0; i < 200; ++i) {
    const std::string tag = "t" + std::to_string(i);
    const std::string key = "a{" + tag + "}b";
    EXPECT_EQ(ring->tag(key), tag);
    EXPECT_EQ(ring->explain(key).point, fmt::format("{:016x}", murmur2_64a(tag, 0xc70f6907)));
    EXPECT_EQ(ring->owner(key), plain->owner(tag));
    EXPECT_EQ(maglev->owner(key), maglev->owner(tag));
  }
}

}  // namespace
}  // namespace slipring
