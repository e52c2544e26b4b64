#include "slipring/placement/npm_ketama.h"

#include <cmath>

#include "slipring/hash/load.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/sha.h"
#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

// Flipping the top bit makes the order of signed numbers that of unsigned ones.
template <typename Digest>
uint32_t signed_order(const Digest& digest) {
  return load_be32(digest.data()) ^ 0x80000000u;
}

KeyHash32 ketama_hash(std::string_view name) {
  if (name == "md5") return [](std::string_view s) { return signed_order(md5(s)); };
  if (name == "sha256") return [](std::string_view s) { return signed_order(sha256(s)); };
  return [](std::string_view s) { return signed_order(sha1(s)); };
}

Result<std::unique_ptr<const Scheme>> make_npm_ketama(const SchemeInput& input) {
  const ServerList servers = listed_servers(input);
  SLIPRING_TRY(check_distinct_labels(servers));
  const KeyHash32 hash = ketama_hash(input.options.text("algorithm"));
  Points32 points;
  for (const Server& server : servers) {
    const double wanted = static_cast<double>(server.weight_milli) / 1000 * 50;
    const auto count = static_cast<uint64_t>(std::floor(wanted + 0.5));
    SLIPRING_TRY(check_points(points.size() + count));
    for (uint64_t j = count; j > 0; --j) {
      std::string text(server.label);
      text.push_back('\0');
      points.push_back({hash(text + std::to_string(j)), server.member});
    }
  }
  if (points.empty()) return fail(Code::kInvalidArgument, "weights: too small, no node has a point");
  return make_hashed_ring(input, std::move(points), Ties::kKeepInOrder, hash);
}

}  // namespace

std::vector<NodeIndex> npm_ketama_nodes(const Scheme& scheme, std::span<const Member> members, std::string_view key,
                                        size_t count) {
  std::vector<NodeIndex> all;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].weight_milli > 0) all.push_back(static_cast<NodeIndex>(i));
  }
  if (count >= all.size()) return all;
  std::vector<NodeIndex> list(count);
  list.resize(scheme.preference_list(key, list));
  return list;
}

const SchemeDefinition& npm_ketama_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "npm-ketama",
               .system = "npm ketama 1.0.0",
               .source = "ketama 1.0.0: dist/index.js",
               .summary = "ring of signed 32-bit points, 50 for each unit of weight",
               .options = {{"algorithm", ParameterType::kChoice, "sha1", "sha1|md5|sha256",
                            "digest of points and keys"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "only the keys of the node that comes or goes",
               .cost = "one digest and one ring search, about 12 bytes a point"},
      .make = make_npm_ketama};
  return definition;
}

}  // namespace slipring
