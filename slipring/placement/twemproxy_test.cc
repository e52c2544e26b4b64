#include "slipring/placement/twemproxy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "slipring/placement/scheme_testing.h"

namespace slipring {
namespace {

using namespace slipring::testing;  // NOLINT: test vocabulary

SchemeSpec twemproxy(const std::string& distribution, const std::string& hash) {
  return {"twemproxy", {{"distribution", distribution}, {"hash", hash}}};
}

TEST(Twemproxy, ThePoolIsSortedSoTheOrderInTheFileDoesNotMatter) {
  std::vector<Member> members = labelled({"zz", "aaaa", "a", "Zebra", "b"});
  members[1].weight_milli = 3000;
  std::vector<Member> reversed(members.rbegin(), members.rend());
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i].name = "r" + std::to_string(i);
  for (const char* distribution : {"ketama", "modula"}) {
    const SchemeSpec spec = twemproxy(distribution, "fnv1a_64");
    EXPECT_EQ(owner_labels(spec, members), owner_labels(spec, reversed)) << distribution;
  }
}

// Slot 0 is the server of the shortest identity; an empty key has hash 0.
TEST(Twemproxy, AnEmptyKeyHasHashZeroWhateverTheFunction) {
  const std::vector<Member> members = labelled({"long-name", "b", "a"});
  for (const char* hash : {"md5", "jenkins", "fnv1a_64", "murmur", "crc16", "hsieh"})
    EXPECT_EQ(owners_of(twemproxy("modula", hash), members, {""}), std::vector<NodeIndex>{2}) << hash;
}

TEST(Twemproxy, AnUnnamedServerCountsWithoutPort11211) {
  std::vector<Member> unnamed = labelled({"", ""});
  unnamed[0].attributes["address"] = "h1:11211";
  unnamed[1].attributes["address"] = "h2:11212";
  const std::vector<Member> named = labelled({"h1", "h2:11212"});
  EXPECT_EQ(owners_of(twemproxy("ketama", "md5"), unnamed), owners_of(twemproxy("ketama", "md5"), named));
}

// nutcracker takes the text up to the port, and a path has none.
TEST(Twemproxy, AnUnnamedUnixSocketIsHashedWithAColonBehindItsPath) {
  std::vector<Member> unnamed = labelled({"", ""});
  unnamed[0].attributes["address"] = "/run/a.sock";
  unnamed[1].attributes["address"] = "/run/b.sock";
  EXPECT_EQ(owners_of({"twemproxy", {}}, unnamed),
            owners_of({"twemproxy", {}}, labelled({"/run/a.sock:", "/run/b.sock:"})));
}

TEST(Twemproxy, EjectedServersAreAsIfTheyWereNotInThePool) {
  std::vector<Member> ejected = weighted(labelled({"a", "b", "c", "d"}), {1, 2, 3, 4});
  std::vector<Member> without = {ejected[0], ejected[1], ejected[3]};
  ejected[2].attributes["ejected"] = "true";
  for (const char* distribution : {"ketama", "modula"}) {
    const SchemeSpec spec = twemproxy(distribution, "fnv1_32");
    EXPECT_EQ(owner_labels(spec, ejected), owner_labels(spec, without)) << distribution;
  }
}

TEST(Twemproxy, Crc32HasFifteenBitsSoKetamaGivesOneServerEveryKey) {
  const std::vector<NodeIndex> owners = owners_of(twemproxy("ketama", "crc32"), fleet_of(5));
  EXPECT_EQ(std::set<NodeIndex>(owners.begin(), owners.end()).size(), 1u);
}

TEST(Twemproxy, OnlyTheTextBetweenTheTagCharactersIsHashed) {
  SchemeSpec spec = twemproxy("ketama", "md5");
  spec.options["hash_tag"] = "$}";
  const auto scheme = scheme_of(spec, fleet_of(5));
  EXPECT_EQ(scheme->tag("a$user}b"), "user");
  EXPECT_EQ(scheme->tag("a$us$er}b}"), "us$er");
  EXPECT_EQ(scheme->tag("$}x"), "$}x");
  EXPECT_EQ(scheme->tag("a}b$c"), "a}b$c");
  EXPECT_EQ(scheme->owner("a$user}b"), scheme->owner("user"));
  spec.options["hash_tag"] = "$$";
  EXPECT_EQ(scheme_of(spec, fleet_of(5))->tag("a$user$b"), "user");
}

TEST(Twemproxy, RefusesWhatNutcrackerCannotPlace) {
  const SchemeSpec ketama = twemproxy("ketama", "md5");
  EXPECT_NE(refusal(ketama, labelled({"a", "a"})).find("listed twice"), std::string::npos);
  EXPECT_NE(refusal(ketama, labelled({std::string(84, 'x'), "b"})).find("identity too long"), std::string::npos);
  EXPECT_EQ(refusal(twemproxy("modula", "md5"), labelled({std::string(84, 'x'), "b"})), "accepted");
  std::vector<Member> fraction = fleet_of(2);
  fraction[1].weight_milli = 1500;
  EXPECT_NE(refusal(ketama, fraction).find("node s1: weight 1.5: must be a whole number"), std::string::npos);
  std::vector<Member> none = fleet_of(2);
  for (Member& member : none) member.attributes["ejected"] = "true";
  EXPECT_NE(refusal(ketama, none).find("every server is ejected"), std::string::npos);
  SchemeSpec tag = ketama;
  tag.options["hash_tag"] = "{";
  EXPECT_NE(refusal(tag, fleet_of(2)).find("must be two characters"), std::string::npos);
  EXPECT_NE(refusal(twemproxy("random", "md5"), fleet_of(2)).find("ketama|modula"), std::string::npos);
}

}  // namespace
}  // namespace slipring
