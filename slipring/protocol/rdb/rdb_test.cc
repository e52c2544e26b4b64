// The parts of the decoder one by one: checksum, LZF, packed encodings, frames; and what digests must and must not tell
// apart. Whole payloads of real servers are in corpus_test.cc.
#include <gtest/gtest.h>

#include <bit>

#include "slipring/protocol/rdb/crc64.h"
#include "slipring/protocol/rdb/digest.h"
#include "slipring/protocol/rdb/frame.h"
#include "slipring/protocol/rdb/lzf.h"
#include "slipring/protocol/rdb/packed.h"
#include "slipring/protocol/rdb/value.h"

namespace slipring::rdb {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int v : values) out.push_back(static_cast<char>(v));
  return out;
}

// A short string as RDB writes it.
std::string str(std::string_view s) {
  return static_cast<char>(s.size()) + std::string(s);
}

std::string score(double v) {
  const auto bits = std::bit_cast<uint64_t>(v);
  std::string out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
  return out;
}

// A listpack of short strings.
std::string listpack(const std::vector<std::string>& items) {
  std::string body;
  for (const std::string& item : items) {
    body += static_cast<char>(0x80 | item.size());
    body += item + static_cast<char>(item.size() + 1);
  }
  const size_t total = 6 + body.size() + 1;
  return bytes(
             {static_cast<int>(total & 0xff), static_cast<int>(total >> 8), 0, 0, static_cast<int>(items.size()), 0}) +
         body + '\xff';
}

ValueDigest digest_of(const std::string& type_and_value, uint64_t now_ms = 0) {
  const auto d = digest_value(frame_payload(type_and_value, 10), now_ms);
  EXPECT_TRUE(d) << d.error().message;
  return d ? *d : ValueDigest{};
}

std::string error_of(const std::string& type_and_value, const DecodeLimits& limits = {}) {
  ValueVisitor nothing;
  const auto r = decode_value(frame_payload(type_and_value, 10), nothing, limits);
  return r ? "" : r.error().message;
}

template <typename Pack>
std::vector<std::string> items_of(std::string_view blob) {
  Pack pack(blob);
  PackedItem item;
  ItemText text;
  std::vector<std::string> out;
  while (pack.next(item)) out.emplace_back(text(item));
  if (!pack.ok()) out.emplace_back("<malformed>");
  return out;
}

using Strings = std::vector<std::string>;

TEST(Crc64, GivesThePublishedCheckValue) {
  EXPECT_EQ(crc64("123456789"), 0xe9c6d914c4b8d9ca);
  EXPECT_EQ(crc64(""), 0u);
  EXPECT_EQ(crc64(std::string(100, '\0')), 0u);
}

TEST(Crc64, StepsOfEightAndSingleBytesAgree) {
  std::string text = "The quick brown fox jumps over the lazy dog";
  const uint64_t whole = crc64(text);
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(text[i] ^ 1);
    EXPECT_NE(crc64(text), whole) << i;
    text[i] = static_cast<char>(text[i] ^ 1);
  }
}

std::string unpack(const std::string& in, size_t size) {
  std::string out = "<";
  return lzf_decompress(in, size, out) ? out.substr(1) : "<malformed>";
}

TEST(Lzf, LiteralsAndBackReferences) {
  EXPECT_EQ(unpack(bytes({2, 'a', 'b', 'c'}), 3), "abc");
  EXPECT_EQ(unpack(bytes({0, 'a', 0x20 | 0, 0}), 4), "aaaa");                 // 1 literal, 3 from 1 back
  EXPECT_EQ(unpack(bytes({1, 'a', 'b', 0xe0, 3, 1}), 14), "ababababababab");  // long match, overlapping
  EXPECT_EQ(unpack(bytes({0, 'a', 0xe0, 255, 0}), 265), std::string(265, 'a'));
}

TEST(Lzf, NeverLeavesItsInputOrOutput) {
  EXPECT_EQ(unpack(bytes({2, 'a', 'b'}), 3), "<malformed>");       // literals beyond the input
  EXPECT_EQ(unpack(bytes({2, 'a', 'b', 'c'}), 2), "<malformed>");  // more than announced
  EXPECT_EQ(unpack(bytes({2, 'a', 'b', 'c'}), 4), "<malformed>");  // less than announced
  EXPECT_EQ(unpack(bytes({0, 'a', 0x20, 1}), 4), "<malformed>");   // reference before the start
  EXPECT_EQ(unpack(bytes({0, 'a', 0x20}), 4), "<malformed>");      // match without its distance
  EXPECT_EQ(unpack(bytes({0, 'a', 0xe0}), 12), "<malformed>");     // long match without its length
  EXPECT_EQ(unpack("", 1), "<malformed>");
  EXPECT_EQ(unpack(bytes({0, 'a'}), 1u << 30), "<malformed>");  // a claim no input can meet
}

TEST(Packed, ListpackReadsEveryEncoding) {
  const std::string body = bytes({5, 1}) + bytes({0xc0 | 0x1f, 0xff, 2}) + bytes({0xf1, 0, 0x80, 3}) +
                           bytes({0xf2, 0xff, 0xff, 0xff, 4}) + bytes({0xf3, 1, 0, 0, 0x80, 5}) +
                           bytes({0xf4, 0, 0, 0, 0, 0, 0, 0, 0x80, 9}) + bytes({0x82, 'h', 'i', 3}) +
                           bytes({0xe0, 2, 'y', 'o', 4}) + bytes({0xf0, 1, 0, 0, 0, 'z', 6});
  const std::string blob = bytes({static_cast<int>(7 + body.size()), 0, 0, 0, 9, 0}) + body + '\xff';
  EXPECT_EQ(items_of<Listpack>(blob),
            (Strings{"5", "-1", "-32768", "-1", "-2147483647", "-9223372036854775808", "hi", "yo", "z"}));
}

TEST(Packed, ZiplistReadsEveryEncoding) {
  const std::string entries[] = {bytes({0, 2, 'h', 'i'}),
                                 bytes({4, 0xf1}),
                                 bytes({2, 0xfd}),
                                 bytes({2, 0xfe, 0x80}),
                                 bytes({3, 0xc0, 0xff, 0x7f}),
                                 bytes({4, 0xf0, 0, 0, 0x80}),
                                 bytes({5, 0xd0, 1, 0, 0, 0}),
                                 bytes({6, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x80}),
                                 bytes({10, 0x40, 1, 'x'}),
                                 bytes({4, 0x80, 0, 0, 0, 1, 'y'})};
  std::string body;
  size_t tail = 10;
  for (const std::string& e : entries) {
    tail = 10 + body.size();
    body += e;
  }
  const std::string blob =
      bytes({static_cast<int>(11 + body.size()), 0, 0, 0, static_cast<int>(tail), 0, 0, 0, 10, 0}) + body + '\xff';
  EXPECT_EQ(items_of<Ziplist>(blob),
            (Strings{"hi", "0", "12", "-128", "32767", "-8388608", "1", "-9223372036854775808", "x", "y"}));
}

TEST(Packed, EveryHeaderAndLinkIsChecked) {
  const std::string good = listpack({"a", "b"});
  EXPECT_EQ(items_of<Listpack>(good), (Strings{"a", "b"}));
  for (size_t i = 0; i < good.size(); ++i) {
    const bool content = i == 7 || i == 10;
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(items_of<Listpack>(changed).back() == "<malformed>", !content) << i;
  }
  EXPECT_EQ(items_of<Listpack>("").back(), "<malformed>");
  EXPECT_EQ(items_of<Ziplist>("").back(), "<malformed>");
  EXPECT_EQ(items_of<Intset>("").back(), "<malformed>");
  EXPECT_EQ(items_of<Zipmap>("").back(), "<malformed>");
}

TEST(Packed, IntsetIsAscending) {
  const auto intset = [](int a, int b) { return bytes({2, 0, 0, 0, 2, 0, 0, 0, a, 0, b, 0}); };
  EXPECT_EQ(items_of<Intset>(intset(1, 2)), (Strings{"1", "2"}));
  EXPECT_EQ(items_of<Intset>(intset(2, 2)).back(), "<malformed>");
  EXPECT_EQ(items_of<Intset>(intset(2, 1)).back(), "<malformed>");
}

TEST(Value, UnknownTypesAndVersionsAreNamed) {
  for (const int type : {6, 7, 8, 22, 23, 26, 250, 255}) {
    EXPECT_EQ(error_of(bytes({type, 1, 'a'})), "cannot decode type " + std::to_string(type));
  }
  ValueVisitor nothing;
  EXPECT_EQ(decode_value(frame_payload(bytes({0, 1, 'a'}), 79), nothing).error().message,
            "cannot decode RDB version 79");
}

TEST(Value, WhatCannotBeIsRefused) {
  EXPECT_EQ(error_of(bytes({0, 1, 'a', 'b'})), "rdb value: bytes left over behind it");
  EXPECT_EQ(error_of(bytes({0, 2, 'a'})), "rdb value: ends too early");
  EXPECT_EQ(error_of(bytes({2, 0})), "rdb value: empty value");
  EXPECT_EQ(error_of(bytes({2, 2}) + str("a") + str("a")), "rdb value: the same member twice");
  EXPECT_EQ(error_of(bytes({4, 2}) + str("a") + str("1") + str("a") + str("2")), "rdb value: the same member twice");
  EXPECT_EQ(error_of(bytes({5, 1}) + str("a") + score(0.0 / 0.0)), "rdb value: a score is NaN");
  EXPECT_EQ(error_of(bytes({3, 1}) + str("a") + str("1x")), "rdb value: a score is no number");
  EXPECT_EQ(error_of(bytes({2, 0x80, 0xff, 0xff, 0xff, 0xff, 1, 'a'})), "rdb value: count larger than the value");
  EXPECT_EQ(error_of(bytes({2, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'})),
            "rdb value: count larger than the value");
  EXPECT_EQ(error_of(bytes(
                {24, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'f', 1, 'v'})),
            "rdb value: a field's expiry is out of range");
}

TEST(Value, APartAboveTheLimitIsRefusedUnread) {
  const std::string compressed = bytes({0, 0xc3, 5, 0x41, 9, 0, 'a', 0xe0, 255, 0});  // 265 times 'a'
  EXPECT_EQ(error_of(compressed), "");
  EXPECT_EQ(error_of(compressed, {.blob_bytes_max = 264}), "rdb value: a part is above the limit");
}

TEST(Digest, EncodingAndOrderDoNotMatter) {
  const std::string table = bytes({2, 3}) + str("a") + str("12") + bytes({0xc0, 13});
  const std::string other_order = bytes({2, 3}) + str("13") + bytes({0xc0, 12}) + str("a");
  const std::string packed = bytes({20}) + str(listpack({"13", "a", "12"}));
  EXPECT_EQ(digest_of(table), digest_of(other_order));
  EXPECT_EQ(digest_of(table), digest_of(packed));
  EXPECT_EQ(digest_of(table).elements, 3u);
  const std::string hash = bytes({4, 2}) + str("f") + str("1") + str("g") + str("2");
  EXPECT_EQ(digest_of(hash), digest_of(bytes({16}) + str(listpack({"g", "2", "f", "1"}))));
  EXPECT_NE(digest_of(hash), digest_of(bytes({16}) + str(listpack({"g", "1", "f", "2"}))));
}

TEST(Digest, ListsKeepTheirOrderAndTheBordersOfItems) {
  const auto list = [](const Strings& items) { return digest_of(bytes({18, 1, 2}) + str(listpack(items))); };
  EXPECT_NE(list({"a", "b"}), list({"b", "a"}));
  EXPECT_NE(list({"ab", "c"}), list({"a", "bc"}));
  EXPECT_NE(list({"a"}), list({"a", ""}));
  EXPECT_EQ(list({"a", "b"}), digest_of(bytes({18, 2, 1}) + str("a") + bytes({2}) + str(listpack({"b"}))));
}

TEST(Digest, KindsAreApart) {
  const ValueDigest string = digest_of(bytes({0}) + str("a")), set = digest_of(bytes({2, 1}) + str("a")),
                    list = digest_of(bytes({1, 1}) + str("a"));
  EXPECT_NE(string.digest, set.digest);
  EXPECT_NE(set.digest, list.digest);
  EXPECT_NE(string.digest, list.digest);
}

TEST(Digest, MinusZeroIsZeroAsAScore) {
  const auto zset = [](double v) { return digest_of(bytes({5, 1}) + str("a") + score(v)); };
  EXPECT_EQ(zset(-0.0), zset(0.0));
  EXPECT_NE(zset(0.0), zset(5e-324));
  EXPECT_EQ(zset(0.1), digest_of(bytes({3, 1}) + str("a") + str("0.10000000000000001")));
  EXPECT_EQ(zset(0.1), digest_of(bytes({17}) + str(listpack({"a", "0.1"}))));
}

TEST(Digest, AKeyIsItsNameItsValueAndItsExpiry) {
  const ValueDigest a = digest_of(bytes({0}) + str("a")), b = digest_of(bytes({0}) + str("b"));
  const Digest key = digest_key("k", std::nullopt, a);
  EXPECT_EQ(key, digest_key("k", std::nullopt, a));
  EXPECT_NE(key, digest_key("l", std::nullopt, a));
  EXPECT_NE(key, digest_key("k", std::nullopt, b));
  EXPECT_NE(key, digest_key("k", 0, a));
  EXPECT_NE(digest_key("k", 1000, a), digest_key("k", 1001, a));
  EXPECT_EQ(to_hex({1, 0xabcdef0000000000}), "abcdef00000000000000000000000001");
}

TEST(Digest, ARangeAddsUpInAnyOrderAndCanBeTakenBack) {
  const ValueDigest v = digest_of(bytes({0}) + str("a"));
  const Digest k = digest_key("k", std::nullopt, v), l = digest_key("l", std::nullopt, v);
  RangeDigest one, two, half;
  one.add(k, 10);
  one.add(l, 20);
  two.add(l, 20);
  two.add(k, 11);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.bytes, 30u);
  half.add(l, 20);
  one.remove(k, 10);
  EXPECT_EQ(one, half);
  EXPECT_EQ(one.bytes, 20u);
  half.add(l, 20);
  EXPECT_FALSE(one == half);
  one += one;
  EXPECT_EQ(one, half);
}

TEST(Digest, TwiceTheSameKeyIsNotNothing) {
  const ValueDigest v = digest_of(bytes({0}) + str("a"));
  RangeDigest pair, none;
  pair.add(digest_key("k", std::nullopt, v), 1);
  pair.add(digest_key("k", std::nullopt, v), 1);
  EXPECT_NE(pair.sum, none.sum);
}

}  // namespace
}  // namespace slipring::rdb
