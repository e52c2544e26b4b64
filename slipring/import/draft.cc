#include "slipring/import/draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"

namespace slipring::import {
namespace {

constexpr size_t kNameBytesMax = 64;

bool in_names(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

PoolKind kind_of(Protocol protocol) {
  return protocol == Protocol::kMemcached || protocol == Protocol::kHttp ? PoolKind::kCache : PoolKind::kStore;
}

}  // namespace

std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kNameBytesMax)) {
    if (in_names(c)) {
      name.push_back(c);
    } else if (!name.empty() && name.back() != '-') {
      name.push_back('-');
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "n" : name;
}

tl::unexpected<Error> Draft::error(Code code, Mark at, std::string_view what) const {
  if (at.line == 0) return fail(code, fmt::format("{}: {}", file_, what));
  return fail(code, fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
}

tl::unexpected<Error> Draft::broken(Mark at, std::string_view what) const {
  return error(Code::kInvalidArgument, at, what);
}

tl::unexpected<Error> Draft::refused(Mark at, std::string_view what) const {
  return error(Code::kFailedPrecondition, at, fmt::format("cannot be carried over: {}", what));
}

void Draft::note(Mark at, std::string text) {
  if (imported_.notes.size() == kNotesMax) {
    ++notes_left_out_;
    return;
  }
  imported_.notes.push_back({at.line, at.column, std::move(text)});
}

std::string Draft::unused_name(std::string_view wanted) {
  const std::string first = as_name(wanted);
  std::string name = first;
  for (size_t i = 2; !names_.insert(name).second; ++i) {
    const std::string tail = fmt::format("-{}", i);
    name = first.substr(0, kNameBytesMax - tail.size()) + tail;
  }
  return name;
}

Result<Node*> Draft::add_node(Mark at, std::string_view old_name, std::string_view address, std::string_view label) {
  if (imported_.pool.layout.nodes.size() == kNodesPerPoolMax)
    return broken(at, fmt::format("more than {} servers", kNodesPerPoolMax));
  const auto parsed = parse_host_port(address);
  if (!parsed) return broken(at, fmt::format("server \"{}\": {}", address.substr(0, 200), parsed.error().message));
  Node& node = imported_.pool.layout.nodes.emplace_back();
  node.name = unused_name(old_name);
  node.instance.address = format_host_port(*parsed);
  if (label != node.name) node.label = label;
  imported_.old_names.emplace_back(old_name);
  return &node;
}

void Draft::set_pool_name(std::string_view name) {
  imported_.pool.name = as_name(name);
}

Result<Imported> Draft::finish(const Options& options) && {
  Pool& pool = imported_.pool;
  if (pool.layout.nodes.empty()) return broken(servers_at, "no servers");
  if (!options.name.empty()) pool.name = options.name;
  if (pool.name.empty()) pool.name = "main";
  pool.kind = options.kind.value_or(kind_of(imported_.protocol));
  std::stable_sort(imported_.notes.begin(), imported_.notes.end(),
                   [](const Note& a, const Note& b) { return a.line < b.line; });
  if (notes_left_out_ > 0)
    imported_.notes.push_back({0, 0, fmt::format("{} more notes are left out", notes_left_out_)});
  const Status ok = validate(Snapshot{Epoch{1}, "0000000000000000", {pool}});
  if (!ok) return broken(servers_at, ok.error().message);
  return std::move(imported_);
}

Result<int64_t> weight_of(const Draft& draft, Mark at, std::string_view text) {
  auto milli = parse_milli(text, 0, kWeightMilliMax);
  if (milli) return *milli;
  if (text.empty() || text.find_first_not_of("0123456789.") != text.npos)
    return draft.broken(at, fmt::format("weight \"{}\": is no number", text.substr(0, 64)));
  return draft.refused(
      at, fmt::format("weight \"{}\": Slipring holds 0 to 1000 with at most three places", text.substr(0, 64)));
}

Result<size_t> choose(const Draft& draft, std::string_view what, std::span<const std::string> names,
                      const std::string& chosen) {
  const std::string listed = fmt::format("{}", fmt::join(names.first(std::min<size_t>(names.size(), 20)), ", "));
  if (names.empty()) return draft.broken({}, fmt::format("no {} with servers", what));
  if (chosen.empty()) {
    if (names.size() == 1) return 0;
    return draft.broken({}, fmt::format("several {}s, choose one with --pool: {}", what, listed));
  }
  const auto it = std::find(names.begin(), names.end(), chosen);
  if (it == names.end()) return draft.broken({}, fmt::format("no {} \"{}\", there is: {}", what, chosen, listed));
  return static_cast<size_t>(it - names.begin());
}

}  // namespace slipring::import
