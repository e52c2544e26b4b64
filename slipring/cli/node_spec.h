// Nodes of a placement as people write them: a list on the command line, a file with one node a line, or TOML.
//
//   NAME[=LABEL][*WEIGHT][@ZONE][;ATTRIBUTE=VALUE]...     nodes of a list are parted by commas
//   a,b*2,c=10.0.0.3:11211@dc1/rack2;tokens=5
//
// LABEL is what the scheme hashes instead of the name. A backslash takes the next character as it is. In a file empty
// lines and lines that start with '#' are skipped, and commas part nothing. A file whose name ends in .toml holds
// [[node]] tables with name, label, weight, zone and attributes.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/scheme.h"

namespace slipring::cli {

inline constexpr size_t kNodeFileBytesMax = size_t{64} << 20;

// kInvalidArgument: not of this form; the message quotes the node. Whether the scheme takes it is checked later.
Result<std::vector<Member>> parse_node_list(std::string_view text);
// Errors carry "line N: ".
Result<std::vector<Member>> parse_node_lines(std::string_view text);
Result<std::vector<Member>> parse_node_toml(std::string_view text);

// The file of that name if there is one, else the text as a list. kInvalidArgument also for a file that cannot be read
// or is larger than kNodeFileBytesMax.
Result<std::vector<Member>> read_nodes(const std::string& list_or_file);

}  // namespace slipring::cli
