// Every hash gives its published answers: those of its standard or author, and SMHasher's verification value, which
// covers all lengths from 0 to 255 under as many seeds.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/hash/hsieh.h"
#include "slipring/hash/jenkins.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/murmur.h"
#include "slipring/hash/sha.h"
#include "slipring/hash/simple.h"
#include "slipring/hash/siphash.h"
#include "slipring/hash/spooky.h"
#include "slipring/hash/xx.h"

namespace slipring {
namespace {

template <typename Bytes>
std::string hex(const Bytes& bytes) {
  std::string text;
  for (const uint8_t b : bytes) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

// The hash of the hashes of the keys "", "\0", "\0\1", ... with seeds 256, 255, ...; its first 32 bits.
template <typename Word>
uint32_t verification(const std::function<Word(std::string_view, uint32_t seed)>& hash) {
  std::string key;
  std::string hashes;
  for (uint32_t i = 0; i < 256; ++i) {
    const Word h = hash(key, 256 - i);
    hashes.append(reinterpret_cast<const char*>(&h), sizeof h);
    key.push_back(static_cast<char>(i));
  }
  const Word last = hash(hashes, 0);
  uint32_t first = 0;
  std::memcpy(&first, &last, sizeof first);
  return first;
}

TEST(Md5, GivesTheAnswersOfRfc1321) {
  EXPECT_EQ(hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(hex(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890")),
            "57edf4a22be3c955ac49da2e2107b67a");
  EXPECT_EQ(md5_words("abc")[0], 0x98500190u);
}

// One chain over all lengths around the block borders: each link is the hash of the link before and the text so far.
template <typename Hash>
std::string chain(Hash hash) {
  std::string text;
  std::string link;
  for (int i = 0; i < 200; ++i) {
    link = hex(hash(link + text));
    text += static_cast<char>(i);
  }
  return link;
}

TEST(Md5, PadsEveryLength) {
  EXPECT_EQ(chain(md5), "17113a6c4348be9bb46741cd57b5e641");
}

TEST(Sha, GivesTheAnswersOfFips180) {
  EXPECT_EQ(hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha, PadsEveryLength) {
  EXPECT_EQ(chain(sha1), "fd96affca0de41e811810903cba9edfabf19a1e2");
  EXPECT_EQ(chain(sha256), "cb880c01b907b727e0b40d3c8993e1c34603cf48d660a323d20b0a630945db2f");
}

TEST(Crc, GivesTheCheckValues) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("a"), 0xe8b7be43u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
  EXPECT_EQ(crc16_xmodem("123456789"), 0x31c3u);
  EXPECT_EQ(crc16_xmodem(""), 0u);
  EXPECT_EQ(crc16_xmodem("foo"), 0xaf96u);
}

TEST(Fnv, GivesItsPublishedAnswers) {
  EXPECT_EQ(fnv1_32(""), 0x811c9dc5u);
  EXPECT_EQ(fnv1_32("a"), 0x050c5d7eu);
  EXPECT_EQ(fnv1a_32("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1a_32("foobar"), 0xbf9cf968u);
  EXPECT_EQ(fnv1_64("a"), 0xaf63bd4c8601b7beu);
  EXPECT_EQ(fnv1a_64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a_64("foobar"), 0x85944171f73967e8u);
}

TEST(Murmur, GivesTheVerificationValues) {
  EXPECT_EQ(verification<uint32_t>(murmur2_32), 0x27864c1eu);
  EXPECT_EQ(verification<uint64_t>(murmur2_64a), 0x1f0d3804u);
  EXPECT_EQ(verification<uint32_t>(murmur3_32), 0xb0f57ee3u);
  using Pair = std::array<uint64_t, 2>;
  EXPECT_EQ(verification<Pair>(murmur3_x64_128), 0x6384ba69u);
}

TEST(Murmur, GivesWellKnownAnswers) {
  EXPECT_EQ(murmur3_32("hello", 0), 0x248bfa47u);
  EXPECT_EQ(murmur3_32("Hello, world!", 0x9747b28c), 0x24884cbau);
  EXPECT_EQ(murmur3_x64_128("hello", 0)[0], 0xcbd8a7b341bd9b02u);
  EXPECT_EQ(murmur3_x64_128("hello", 0)[1], 0x5b1e906a48ae1d19u);
}

TEST(Jenkins, GivesTheAnswersOfItsAuthor) {
  EXPECT_EQ(jenkins_lookup3("", 0), 0xdeadbeefu);
  EXPECT_EQ(jenkins_lookup3("", 0xdeadbeef), 0xbd5b7ddeu);
  EXPECT_EQ(jenkins_lookup3("Four score and seven years ago", 0), 0x17770551u);
  EXPECT_EQ(jenkins_lookup3("Four score and seven years ago", 1), 0xcd628161u);
  EXPECT_EQ(verification<uint32_t>(jenkins_lookup3), 0x3d83917au);
  EXPECT_EQ(one_at_a_time("a"), 0xca2e9442u);
  EXPECT_EQ(one_at_a_time("The quick brown fox jumps over the lazy dog"), 0x519e91f5u);
}

// Recorded from a model that agrees with twemproxy on every server of its vectors.
TEST(Hsieh, GivesTwemproxysAnswersForEveryTail) {
  EXPECT_EQ(hsieh(""), 0u);
  EXPECT_EQ(hsieh("a"), 0x93642e87u);
  EXPECT_EQ(hsieh("ab"), 0x5b8c0ec3u);
  EXPECT_EQ(hsieh("abc"), 0xe5186b3au);
  EXPECT_EQ(hsieh("abcd"), 0x3ab452d8u);
  EXPECT_EQ(hsieh("user:1001"), 0xda3b9063u);
  EXPECT_EQ(hsieh("abcdab\x80"), 0xf2aceedbu);
}

TEST(SipHash, GivesTheAnswersOfThePaper) {
  std::string input;
  for (int i = 0; i < 15; ++i) input.push_back(static_cast<char>(i));
  EXPECT_EQ(siphash24(input, 0x0706050403020100, 0x0f0e0d0c0b0a0908), 0xa129ca6149be45e5u);
  EXPECT_EQ(siphash24("", 0x0706050403020100, 0x0f0e0d0c0b0a0908), 0x726fdb47dd0e0e31u);
}

TEST(Simple, HashesFollowTheirRecurrence) {
  EXPECT_EQ(djb2(""), 5381u);
  EXPECT_EQ(djb2("a"), 177670u);
  EXPECT_EQ(sdbm("a"), 97u);
  EXPECT_EQ(sdbm("ab"), 97u * 65599 + 98);
  EXPECT_EQ(wt6(""), 0xa53c965au ^ 0x5ca6953au);
}

TEST(Spooky, GivesTheVerificationValues) {
  EXPECT_EQ(verification<uint32_t>(spooky2_32), 0xa48be265u);
  EXPECT_EQ(verification<uint64_t>([](std::string_view s, uint32_t seed) { return spooky2_64(s, seed); }), 0x972c4bdcu);
  using Pair = std::array<uint64_t, 2>;
  EXPECT_EQ(verification<Pair>([](std::string_view s, uint32_t seed) { return spooky2_128(s, seed, seed); }),
            0x893cfcbeu);
}

TEST(Xx, GivesTheAnswersOfItsAuthor) {
  EXPECT_EQ(xxh32(""), 0x02cc5d05u);
  EXPECT_EQ(xxh64(""), 0xef46db3751d8e999u);
  EXPECT_EQ(xxh64("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(xxh3_64(""), 0x2d06800538d394c2u);
}

}  // namespace
}  // namespace slipring
