#include "slipring/placement/dynomite.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"
#include "slipring/hash/murmur.h"
#include "slipring/placement/index_set.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/token_list.h"

namespace slipring {
namespace {

// As twemproxy: between the first `open` and the first `close` after it, if there is anything; else the whole key.
std::string_view tag_between(std::string_view key, char open, char close) {
  const size_t begin = key.find(open);
  if (begin == std::string_view::npos) return key;
  const size_t end = key.find(close, begin + 1);
  return end == std::string_view::npos || end == begin + 1 ? key : key.substr(begin + 1, end - begin - 1);
}

struct Rack {
  std::string zone;
  PointRing<uint32_t> ring;
};

class Dynomite final : public Scheme {
 public:
  // REQUIRES: racks is not empty and none of its rings is; the local rack comes first.
  Dynomite(size_t members, std::vector<Rack> racks, std::string_view hash_tag)
      : Scheme(members), racks_(std::move(racks)), hash_tag_(hash_tag) {}

  NodeIndex owner(std::string_view key) const override { return owner_in(racks_.front(), tag(key)); }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const std::string_view hashed = tag(key);
    size_t filled = 0;
    IndexSet listed;
    const auto append = [&](NodeIndex node) {
      if (listed.insert(node)) out[filled++] = node;
    };
    for (size_t i = 0; i < racks_.size() && filled < out.size(); ++i) append(owner_in(racks_[i], hashed));
    for (NodeIndex i = 0; i < member_count() && filled < out.size(); ++i) append(i);
    return filled;
  }

  std::string_view tag(std::string_view key) const override {
    return hash_tag_.empty() ? key : tag_between(key, hash_tag_[0], hash_tag_[1]);
  }

  Explanation explain(std::string_view key) const override {
    const uint32_t token = dynomite_token(tag(key));
    const PointRing<uint32_t>& ring = racks_.front().ring;
    const size_t at = ring.wrap(ring.at_or_after(token));
    return {.point = fmt::format("{}", token),
            .range = fmt::format("({}, {}]", ring.point(ring.before(at)), ring.point(at))};
  }

 private:
  static NodeIndex owner_in(const Rack& rack, std::string_view hashed) {
    return rack.ring.member(rack.ring.wrap(rack.ring.at_or_after(dynomite_token(hashed))));
  }

  std::vector<Rack> racks_;
  std::string hash_tag_;
};

// The tokens of one rack while they are collected.
struct RackTokens {
  std::string_view zone;
  std::vector<RingPoint<uint32_t>> points;
};

RackTokens& rack_of(std::vector<RackTokens>& racks, std::string_view zone) {
  for (RackTokens& rack : racks) {
    if (rack.zone == zone) return rack;
  }
  racks.push_back({zone, {}});
  return racks.back();
}

Status check_distinct(std::span<const Member> members, RackTokens& rack) {
  std::stable_sort(rack.points.begin(), rack.points.end(), [](auto a, auto b) { return a.point < b.point; });
  const auto same = [](const auto& a, const auto& b) { return a.point == b.point; };
  const auto twice = std::adjacent_find(rack.points.begin(), rack.points.end(), same);
  if (twice == rack.points.end()) return {};
  return fail(Code::kInvalidArgument, fmt::format("token {}: named by {} and by {} of one rack", twice->point,
                                                  members[twice->member].name, members[std::next(twice)->member].name));
}

Result<std::vector<RackTokens>> collect(const SchemeInput& input) {
  std::vector<RackTokens> racks;
  for (NodeIndex i = 0; i < input.members.size(); ++i) {
    RackTokens& rack = rack_of(racks, input.members[i].zone);
    const auto parse = [](std::string_view text) { return parse_u64(text, 0, UINT32_MAX); };
    const auto take = [&](uint64_t token) { rack.points.push_back({static_cast<uint32_t>(token), i}); };
    auto taken = for_each_token(input.attributes[i].text("tokens"), parse, take);
    if (!taken) return fail_in(fmt::format("node {}", input.members[i].name), taken.error());
  }
  for (RackTokens& rack : racks) SLIPRING_TRY(check_distinct(input.members, rack));
  return racks;
}

Result<std::unique_ptr<const Scheme>> make_dynomite(const SchemeInput& input) {
  const std::string_view hash_tag = input.options.text("hash_tag");
  if (!hash_tag.empty() && hash_tag.size() != 2) {
    return fail(Code::kInvalidArgument, fmt::format("option hash_tag: \"{}\": must be two characters", hash_tag));
  }
  SLIPRING_ASSIGN(std::vector<RackTokens> tokens, collect(input));
  std::vector<Rack> racks;
  for (RackTokens& rack : tokens) {
    racks.push_back({std::string(rack.zone), PointRing<uint32_t>(std::move(rack.points), Ties::kKeepInOrder)});
  }
  if (input.options.given("rack")) {
    const std::string_view local = input.options.text("rack");
    const auto it = std::find_if(racks.begin(), racks.end(), [&](const Rack& rack) { return rack.zone == local; });
    if (it == racks.end()) return fail(Code::kInvalidArgument, fmt::format("option rack: no node in \"{}\"", local));
    std::rotate(racks.begin(), it, std::next(it));
  }
  return std::make_unique<Dynomite>(input.members.size(), std::move(racks), hash_tag);
}

}  // namespace

uint32_t dynomite_token(std::string_view key) {
  const auto length = static_cast<uint32_t>(key.size());
  return murmur2_32(key, 0xdeadbeef * length);
}

const SchemeDefinition& dynomite_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "dynomite",
               .system = "Dynomite (Netflix/dynomite 2046b05e)",
               .source = "hashkit/dyn_murmur.c and dyn_vnode.c of Dynomite",
               .summary = "given 32-bit tokens; every rack holds all keys under its own tokens",
               .options = {{"hash_tag", ParameterType::kText, "", "", "two characters around the part that is hashed"},
                           {"rack", ParameterType::kText, "", "",
                            "zone \"dc/rack\" whose node is the owner; default the "
                            "first node's"}},
               .attributes = {{"tokens", ParameterType::kText, "", "", "the node's tokens, 0 to 4294967295: \"5,77\""}},
               .zones = true,
               .preference_lists = true,
               .disruption = "only the range before a token that comes or goes",
               .cost = "O(log tokens) a rack, 6 bytes a token"},
      .make = make_dynomite};
  return definition;
}

}  // namespace slipring
