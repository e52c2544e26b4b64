#include "slipring/placement/squid_carp.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

const SchemeSpec kCarp = {"squid-carp", {}};

std::vector<std::string> urls() {
  std::vector<std::string> list;
  for (int i = 0; i < 2000; ++i) list.push_back("http://h.example/user:" + std::to_string(i));
  return list;
}

// The hash runs on from peer to peer, so the same peers in another order place most keys elsewhere.
TEST(SquidCarp, OwnersDependOnTheOrderOfEqualPeers) {
  const std::vector<Member> members = labelled({"p1", "p2", "p3", "p4", "p5"});
  const std::vector<Member> reversed = labelled({"p5", "p4", "p3", "p2", "p1"});
  EXPECT_NE(owner_labels(kCarp, members, urls()), owner_labels(kCarp, reversed, urls()));
}

TEST(SquidCarp, PeersAreSortedByWeightSoTheFileOrderOfUnequalOnesDoesNotMatter) {
  const std::vector<Member> members = weighted(labelled({"p1", "p2", "p3"}), {3, 1, 2});
  const std::vector<Member> other = weighted(labelled({"p2", "p3", "p1"}), {1, 2, 3});
  EXPECT_EQ(owner_labels(kCarp, members, urls()), owner_labels(kCarp, other, urls()));
}

TEST(SquidCarp, SharesFollowWeights) {
  const auto owners = owners_of(kCarp, weighted(labelled({"p1", "p2", "p3", "p4"}), {1, 2, 3, 4}), urls());
  for (NodeIndex m = 0; m < 4; ++m)
    EXPECT_NEAR(static_cast<double>(std::count(owners.begin(), owners.end(), m)), 200.0 * (m + 1), 80);
}

TEST(SquidCarp, TheCarpKeySelectsPartsOfTheUrl) {
  const std::vector<Member> members = labelled({"p1", "p2", "p3", "p4", "p5"});
  const auto one = [&](const std::string& parts, const std::string& url) {
    return owners_of({"squid-carp", {{"carp_key", parts}}}, members, {url});
  };
  for (int i = 0; i < 50; ++i) {
    const std::string path = "/x" + std::to_string(i);
    EXPECT_EQ(one("path", "http://h" + path + "?q=1"), one("", path));
    EXPECT_EQ(one("params", "http://h" + path + "?q=" + std::to_string(i)), one("", "?q=" + std::to_string(i)));
    EXPECT_EQ(one("params", "http://h" + path), one("", "http://h" + path));
    EXPECT_EQ(one("host,port", "http://h:8080" + path), one("", "h:8080"));
    EXPECT_EQ(one("host,port", "https://h" + path), one("", "h:443"));
    EXPECT_EQ(one("scheme,host,port,path,params", "http://h" + path + "?q"),
              one("scheme,host,port,path,params", "HTTP://H:80" + path + "?q"));
  }
  EXPECT_NE(refusal({"squid-carp", {{"carp_key", "path,colour"}}}, members).find("colour"), std::string::npos);
}

TEST(SquidCarp, TheHostIsHashedInLowerCaseAndThePortOfTheSchemeNotAtAll) {
  const std::vector<Member> members = labelled({"p1", "p2", "p3", "p4", "p5"});
  const auto of = [&](const std::string& url) { return owners_of(kCarp, members, {url}); };
  std::vector<std::string> differ;
  for (int i = 0; i < 50; ++i) {
    const std::string path = "/X" + std::to_string(i);
    EXPECT_EQ(of("http://WWW.Example:80" + path), of("http://www.example" + path));
    EXPECT_EQ(of("https://h:443" + path), of("https://h" + path));
    EXPECT_EQ(of("http://h"), of("http://h/"));
    if (of("http://h:443" + path) != of("http://h" + path)) differ.push_back(path);
    if (of("http://h" + path) != of("http://h/x" + std::to_string(i))) differ.push_back(path);
  }
  EXPECT_GT(differ.size(), 40u);
}

// A share below 0.001 counts as 0, which breaks the recurrence: the next peer's multiplier is infinite and takes all.
TEST(SquidCarp, AVeryLightPeerMakesTheNextOneTakeEverything) {
  const auto owners = owners_of(kCarp, weighted(labelled({"light", "next", "last"}), {1, 1000, 1000}), urls());
  EXPECT_EQ(owners, std::vector<NodeIndex>(urls().size(), 1));
}

}  // namespace
}  // namespace slipring
