#include "slipring/placement/trafficserver.h"

#include <algorithm>
#include <cmath>

#include "slipring/hash/siphash.h"
#include "slipring/placement/point_scheme.h"
#include "slipring/placement/server_list.h"

namespace slipring {
namespace {

uint64_t sip(std::string_view text) {
  return siphash24(text, 0, 0);
}

class ParentRing final : public PointScheme<uint64_t> {
 public:
  ParentRing(size_t member_count, PointRing<uint64_t> points, bool with_query)
      : PointScheme(member_count, std::move(points)), with_query_(with_query) {}

 protected:
  // /path;params?query#fragment: the path always counts with one slash in front, the query with its mark even if empty.
  uint64_t point_of(std::string_view key) const override {
    key = key.substr(0, key.find('#'));
    const size_t question = std::min(key.find('?'), key.size());
    std::string_view path = key.substr(0, question);
    path = path.substr(0, path.find(';'));
    if (path.starts_with('/')) path.remove_prefix(1);
    std::string text = "/";
    text.append(path);
    if (with_query_) text.append(key.substr(question));
    return sip(text);
  }

 private:
  bool with_query_;
};

Result<std::unique_ptr<const Scheme>> make_trafficserver(const SchemeInput& input) {
  std::vector<RingPoint<uint64_t>> points;
  for (const Server& server : listed_servers(input)) {
    const auto weight = static_cast<float>(static_cast<double>(server.weight_milli) / 1000);
    const auto count = static_cast<uint64_t>(std::round(1024 * weight));
    SLIPRING_TRY(check_points(points.size() + count));
    for (uint64_t j = 0; j < count; ++j) points.push_back({sip(fmt::format("{}-{}", j, server.label)), server.member});
  }
  if (points.empty()) return fail(Code::kInvalidArgument, "weights: too small, no parent has a point");
  return std::make_unique<ParentRing>(input.members.size(), PointRing<uint64_t>(std::move(points), Ties::kKeepFirst),
                                      input.options.text("qstring") == "consider");
}

}  // namespace

const SchemeDefinition& trafficserver_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "trafficserver",
               .system = "Apache Traffic Server 9.2.9, round_robin=consistent_hash",
               .source = "trafficserver 9.2.9: src/tscore/ConsistentHash.cc, proxy/ParentConsistentHash.cc",
               .summary = "64-bit ring of SipHash points over the parents' hosts",
               .options = {{"qstring", ParameterType::kChoice, "consider", "consider|ignore",
                            "whether the query is hashed"}},
               .weights = Weights::kUsed,
               .preference_lists = true,
               .disruption = "only the keys of the parent that comes or goes",
               .cost = "one SipHash and one ring search, about 16 bytes a point"},
      .make = make_trafficserver};
  return definition;
}

}  // namespace slipring
