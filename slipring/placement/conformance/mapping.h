// From a vector line to what Slipring is asked: the scheme with its options, the members, the keys, and what must come
// out. One mapping a recorded system; a family of systems shares a file (mapping_x.cc) and mapping.cc holds the table.
//
// Invariant: a mapping only translates names and units; the rules of a system live in its scheme. Thread-safety: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/conformance/vector_line.h"
#include "slipring/placement/scheme.h"

namespace slipring::conformance {

struct Check {
  enum class Kind {
    kRank,   // the member at `rank` of the preference list (rank 0: owner())
    kList,   // the preference list, as long as the recorded one
    kPoint,  // explain(key).point
  };
  Kind kind = Kind::kRank;
  size_t rank = 0;
  Column expected;  // by key: member indices in decimal (-1: nobody), or the text of the point
};

// What a mapping asked itself because no key's owner is asked for: a slot, a token, a table's entry or its checksum.
struct Answer {
  std::string question;  // a key, or "entry 7"
  std::vector<std::string> expected;
  std::vector<std::string> actual;
};

struct VectorCase {
  SchemeSpec spec;
  std::vector<Member> members;
  std::vector<std::string> keys;
  std::vector<Check> checks;
  std::vector<Answer> answers;
};

// Takes the line apart; fields that it leaves are reported by map_line.
using Mapping = Result<VectorCase> (*)(VectorLine& line);

struct MappedSystem {
  std::string_view system;
  Mapping mapping;
};

// Systems of each family, one function per mapping file.
std::vector<MappedSystem> memcached_mappings();
std::vector<MappedSystem> proxy_mappings();
std::vector<MappedSystem> npm_mappings();
std::vector<MappedSystem> database_mappings();
std::vector<MappedSystem> mesh_mappings();
std::vector<MappedSystem> library_mappings();

// The names of all systems that can be replayed, in the order of the table.
std::vector<std::string_view> replayable_systems();

// kInvalidArgument: an unknown system; a field, option or value that its mapping does not know; a column whose length
// is not the number of keys. The message does not carry the line number: the caller knows it.
Result<VectorCase> map_line(VectorLine line);

// For mappings. Member i is named "s<i>", so recorded names may be anything.
std::string member_name(size_t i);
// Takes host and port: "host:port", "[v6]:port", or the host alone if the port is null.
Result<std::string> take_address(Fields* server);
// Takes "weight" (a decimal with at most three places) if it is there.
Status take_weight(Fields* server, Member* member);

}  // namespace slipring::conformance
