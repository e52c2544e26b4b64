// Comma lists of tokens, as members of Cassandra and Dynomite name theirs: "-6274129949448168847,2070131853577930207".
// Thread-safety: pure functions.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "slipring/base/result.h"

namespace slipring {

// Calls take(token) for every item of the list; parse(item) answers a Result of its value. kInvalidArgument: an empty
// list or item, or what `parse` refuses; the message names the item.
template <typename Parse, typename Take>
Status for_each_token(std::string_view list, Parse parse, Take take) {
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    auto token = parse(item);
    if (!token) {
      return fail(Code::kInvalidArgument, fmt::format("token \"{}\": {}", item.substr(0, 64), token.error().message));
    }
    take(*token);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  return {};
}

}  // namespace slipring
