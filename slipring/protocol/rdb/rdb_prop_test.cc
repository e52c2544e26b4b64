// Whatever a value is and however a server wrote it: equal values have equal digests, other values others; and no byte
// string, however damaged, leads the decoder out of its bounds.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "slipring/protocol/rdb/digest.h"
#include "slipring/protocol/rdb/frame.h"

namespace slipring::rdb {
namespace {

// 64-bit length: legal for every string.
std::string long_str(std::string_view s) {
  std::string out = "\x81";
  for (int i = 7; i >= 0; --i) out.push_back(static_cast<char>(uint64_t{s.size()} >> (8 * i)));
  return out.append(s);
}
std::string count(size_t n) {
  return long_str(std::string(n, 'x')).substr(0, 9);
}

// A listpack of strings of any length below 4 GB, with 32-bit lengths.
std::string long_listpack(const std::vector<std::string>& items) {
  std::string body;
  for (const std::string& item : items) {
    const size_t entry = body.size();
    body += '\xf0';
    for (int i = 0; i < 4; ++i) body.push_back(static_cast<char>(item.size() >> (8 * i)));
    body += item;
    const size_t n = body.size() - entry;
    if (n > 127) body.push_back(static_cast<char>(n >> 7));
    body.push_back(static_cast<char>(n > 127 ? n | 128 : n));
  }
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>((body.size() + 7) >> (8 * i)));
  for (int i = 0; i < 2; ++i) out.push_back(static_cast<char>(items.size() >> (8 * i)));
  return out + body + '\xff';
}

ValueDigest digest_or_fail(const std::string& type_and_value) {
  const auto d = digest_value(frame_payload(type_and_value, 12), 0);
  RC_ASSERT(d.has_value());
  return *d;
}

using Hash = std::map<std::string, std::string>;

// Sizes such that a back length takes two bytes at most.
rc::Gen<std::string> small_string() {
  return rc::gen::map(rc::gen::arbitrary<std::string>(), [](std::string s) { return s.substr(0, 10'000); });
}
rc::Gen<Hash> random_hash() {
  return rc::gen::nonEmpty(rc::gen::container<Hash>(small_string(), small_string()));
}

std::string as_table(const Hash& hash, bool backwards) {
  std::vector<std::string> parts;
  for (const auto& [field, value] : hash) parts.push_back(long_str(field) + long_str(value));
  if (backwards) std::reverse(parts.begin(), parts.end());
  std::string out = "\x04" + count(parts.size());
  for (const std::string& part : parts) out += part;
  return out;
}

std::string as_listpack(const Hash& hash) {
  std::vector<std::string> items;
  for (const auto& [field, value] : hash) items.insert(items.end(), {field, value});
  return "\x10" + long_str(long_listpack(items));
}

TEST(DigestProperty, AHashHasOneDigestInEveryFormAndOrder) {
  EXPECT_TRUE(rc::check([] {
    const Hash hash = *random_hash();
    const ValueDigest digest = digest_or_fail(as_table(hash, false));
    RC_ASSERT(digest == digest_or_fail(as_table(hash, true)));
    RC_ASSERT(digest == digest_or_fail(as_listpack(hash)));
    RC_ASSERT(digest.elements == hash.size());
  }));
}

TEST(DigestProperty, OtherHashesHaveOtherDigests) {
  EXPECT_TRUE(rc::check([] {
    const Hash a = *random_hash(), b = *random_hash();
    RC_ASSERT((a == b) == (digest_or_fail(as_table(a, false)) == digest_or_fail(as_table(b, false))));
  }));
}

TEST(DigestProperty, AListIsItsItemsHoweverTheyAreCutIntoNodes) {
  EXPECT_TRUE(rc::check([] {
    const auto items = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(small_string()));
    const size_t cut = *rc::gen::inRange<size_t>(0, items.size());
    const auto middle = items.begin() + static_cast<long>(cut);
    std::string plain = "\x01" + count(items.size());
    for (const std::string& item : items) plain += long_str(item);
    const std::string nodes = "\x12" + count(2) + count(2) + long_str(long_listpack({items.begin(), middle})) + count(2) +
                              long_str(long_listpack({middle, items.end()}));
    RC_ASSERT(digest_or_fail(plain) == digest_or_fail(nodes));
  }));
}

TEST(DecodeProperty, DamagedBytesAreReadWithinBoundsOrRefused) {
  EXPECT_TRUE(rc::check([] {
    std::string value = *rc::gen::arbitrary<bool>() ? as_listpack(*random_hash()) : as_table(*random_hash(), false);
    const int changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      value[*rc::gen::inRange<size_t>(0, value.size())] = *rc::gen::arbitrary<char>();
    }
    const auto r = digest_value(frame_payload(value, 12), 0);
    RC_ASSERT((r.has_value() || r.error().code == Code::kDataLoss || r.error().code == Code::kUnimplemented));
  }));
}

}  // namespace
}  // namespace slipring::rdb
