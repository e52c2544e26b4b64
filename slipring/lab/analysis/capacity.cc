#include "slipring/lab/analysis/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "slipring/placement/ring.h"
#include "slipring/placement/zones.h"
#include "slipring/topology/codec.h"

namespace slipring::lab {
namespace {

constexpr uint64_t kBytesPerRingToken = 16;

struct Token {
  uint64_t point;
  NodeIndex node;
};

// A ring with preference lists by zone, by position instead of by key.
class ZoneRing {
 public:
  ZoneRing(const std::vector<Member>& members, uint64_t vnodes, uint64_t seed) : members_(members) {
    std::vector<bool> owns;
    for (NodeIndex m = 0; m < members.size(); ++m) {
      const uint64_t count = vnode_count(vnodes, members[m].weight_milli);
      owns.push_back(count > 0);
      for (uint32_t j = 0; j < count; ++j) tokens_.push_back({ring_token(members[m].name, j, seed), m});
    }
    std::sort(tokens_.begin(), tokens_.end(), [](const Token& a, const Token& b) { return a.point < b.point; });
    zones_ = Zones(members, owns);
    for (NodeIndex m = 0; m < members.size(); ++m) {
      if (owns[m]) zone_names_.insert(members[m].zone.empty() ? "\n" + members[m].name : members[m].zone);
    }
  }

  NodeIndex member(size_t at) const { return tokens_[at].node; }
  size_t wrap(size_t at) const { return at == tokens_.size() ? 0 : at; }
  const std::vector<Token>& tokens() const { return tokens_; }
  size_t zone_count() const { return zone_names_.size(); }

  // Members that hold the keys at `point`.
  std::vector<NodeIndex> holders(uint64_t point, uint32_t replicas) const {
    const auto it =
        std::lower_bound(tokens_.begin(), tokens_.end(), point, [](const Token& t, uint64_t p) { return t.point < p; });
    std::vector<NodeIndex> list(replicas);
    list.resize(zones_.preference_list(*this, wrap(static_cast<size_t>(it - tokens_.begin())), list));
    return list;
  }
  // A member without a zone is its own.
  std::string zone_of(NodeIndex m) const {
    return members_[m].zone.empty() ? "\n" + members_[m].name : members_[m].zone;
  }
  const std::string& name_of(NodeIndex m) const { return members_[m].name; }

 private:
  const std::vector<Member>& members_;
  std::vector<Token> tokens_;
  std::set<std::string> zone_names_;
  Zones zones_;
};

Status check(const CapacityInput& input) {
  if (input.replicas < 1) return fail(Code::kInvalidArgument, "replicas: must be 1 or more");
  for (const auto* members : {&input.before, &input.after}) {
    uint64_t tokens = 0;
    std::set<std::string> names;
    for (const Member& m : *members) {
      tokens += vnode_count(input.vnodes, m.weight_milli);
      if (!names.insert(m.name).second)
        return fail(Code::kInvalidArgument, fmt::format("node {}: given twice", m.name));
    }
    if (tokens == 0) return fail(Code::kInvalidArgument, "no node owns anything");
    if (tokens > kTokensMax) return fail(Code::kInvalidArgument, fmt::format("more than {} tokens", kTokensMax));
  }
  return {};
}

// What nodes must gain by weight alone, of one copy.
double least_gain(const CapacityInput& input) {
  std::map<std::string, double> gain;
  for (const auto& [members, sign] : {std::pair(&input.before, -1.0), std::pair(&input.after, 1.0)}) {
    double sum = 0;
    for (const Member& m : *members) sum += static_cast<double>(m.weight_milli);
    for (const Member& m : *members) gain[m.name] += sign * static_cast<double>(m.weight_milli) / sum;
  }
  double least = 0;
  for (const auto& [name, share] : gain) least += std::max(share, 0.0);
  return least;
}

}  // namespace

Result<CapacityOutcome> measure_capacity(const CapacityInput& input) {
  SLIPRING_TRY(check(input));
  const ZoneRing before(input.before, input.vnodes, input.seed);
  const ZoneRing after(input.after, input.vnodes, input.seed);
  CapacityOutcome out;
  out.tokens_before = before.tokens().size();
  out.tokens_after = after.tokens().size();
  out.ideal = least_gain(input);
  // Between two neighbouring tokens of either ring no holder changes.
  std::vector<uint64_t> ends;
  for (const Token& t : before.tokens()) ends.push_back(t.point);
  for (const Token& t : after.tokens()) ends.push_back(t.point);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  out.ranges = ends.size();
  std::map<NodeIndex, double> gains;
  uint64_t previous = ends.back();
  for (const uint64_t end : ends) {
    const double width = ends.size() == 1 ? 1 : static_cast<double>(end - previous) * 0x1.0p-64;
    previous = end;
    std::set<std::string> old_names;
    std::set<std::string> old_zones;
    for (const NodeIndex m : before.holders(end, input.replicas)) {
      old_names.insert(before.name_of(m));
      old_zones.insert(before.zone_of(m));
    }
    std::set<std::string> zones;
    const std::vector<NodeIndex> holders = after.holders(end, input.replicas);
    for (const NodeIndex m : holders) {
      zones.insert(after.zone_of(m));
      if (old_names.contains(after.name_of(m))) continue;
      out.moved += width / input.replicas;
      gains[m] += width / input.replicas;
      if (!old_zones.contains(after.zone_of(m))) out.across_zones += width / input.replicas;
    }
    if (zones.size() < std::min(holders.size(), after.zone_count())) ++out.zone_overlaps;
  }
  for (const auto& [m, gain] : gains) out.largest_gain = std::max(out.largest_gain, gain);
  return out;
}

namespace {

// One range alone, such as the largest of an application: it is on both sides until cleanup.
ReportTable range_table(const CapacityInput& input, const CapacityOutcome& out) {
  ReportTable table{"range",
                    "One range that goes from a node to another",
                    {{"bytes", "bytes", Unit::kBytes},
                     {"time", "time at the cap", Unit::kMillis},
                     {"twice", "stored twice", Unit::kBytes},
                     {"across_zones", "between zones, expected", Unit::kBytes}},
                    {}};
  const double time = input.bytes_per_second > 0 ? input.range_bytes / input.bytes_per_second * 1000 : 0;
  table.add({input.range_bytes, time, input.range_bytes,
             out.moved > 0 ? input.range_bytes * out.across_zones / out.moved : 0});
  return table;
}

// With slices, one after another and each cleaned up before the next, only one of them is stored twice.
Plot slices_plot(double moved_bytes) {
  Plot plot{"Stored twice at the most, by number of slices",
            Plot::Kind::kBars,
            "slices of the plan",
            "GB",
            false,
            {},
            {{"stored twice", {}}}};
  for (const int slices : {1, 16, 256, 4096}) {
    plot.series[0].points.emplace_back(static_cast<double>(plot.labels.size()), moved_bytes / slices / (1u << 30));
    plot.labels.push_back(std::to_string(slices));
  }
  return plot;
}

// What routers are sent: the nodes as they are after the change.
size_t snapshot_bytes(const CapacityInput& input) {
  Pool pool;
  pool.name = "main";
  pool.layout.replicas = std::min(input.replicas, kReplicasMax);
  pool.layout.scheme.options["vnodes"] = std::to_string(input.vnodes);
  for (const Member& m : input.after) {
    pool.layout.nodes.push_back({m.name, m.label, m.zone, m.weight_milli, m.attributes, {"10.0.0.1:6379", 1}});
  }
  return encode_snapshot({Epoch{1}, "0123456789abcdef", {std::move(pool)}}).size();
}

}  // namespace

Result<Report> analyse_capacity(const CapacityInput& input) {
  SLIPRING_ASSIGN(const CapacityOutcome out, measure_capacity(input));
  Report report;
  report.title = fmt::format("Capacity: {} -> {} nodes, {} vnodes, {} replicas", input.before.size(),
                             input.after.size(), input.vnodes, input.replicas);
  const double stored = input.bytes * input.replicas;
  const double moved = stored * out.moved;
  const auto seconds = [&](double bytes) {
    return input.bytes_per_second > 0 ? bytes / input.bytes_per_second * 1000 : 0;
  };
  ReportTable table{"change", "The change", {{"figure", ""}, {"value", "", Unit::kText}}, {}};
  const auto add = [&](const std::string& what, std::string value) { table.add({what, std::move(value)}); };
  add("tokens before", fmt::format("{}", out.tokens_before));
  add("tokens after", fmt::format("{}", out.tokens_after));
  add("ranges whose holders are looked at", fmt::format("{}", out.ranges));
  add("ranges with two replicas in a zone", fmt::format("{}", out.zone_overlaps));
  report.tables.push_back(std::move(table));

  ReportTable bytes{"bytes",
                    "Bytes",
                    {{"figure", ""},
                     {"share", "share of all copies", Unit::kShare},
                     {"bytes", "bytes", Unit::kBytes},
                     {"time", "time at the cap", Unit::kMillis}},
                    {}};
  const Cell none = std::string("-");
  bytes.add({std::string("stored"), 1.0, stored, none});
  bytes.add({std::string("moved"), out.moved, moved, seconds(moved)});
  bytes.add({std::string("least by weight"), out.ideal, stored * out.ideal, seconds(stored * out.ideal)});
  bytes.add(
      {std::string("between zones"), out.across_zones, stored * out.across_zones, seconds(stored * out.across_zones)});
  bytes.add({std::string("stored twice at the most"), out.moved, moved, none});
  bytes.add({std::string("largest gain of a node"), out.largest_gain, stored * out.largest_gain,
             seconds(stored * out.largest_gain)});
  report.tables.push_back(std::move(bytes));
  report.tables.push_back(range_table(input, out));
  report.plots.push_back(slices_plot(moved));
  report.notes.push_back(
      fmt::format("Metadata: {} bytes of snapshot (tokens are derived, not stored), {} bytes of tokens in each router.",
                  snapshot_bytes(input), kBytesPerRingToken * out.tokens_after));
  report.notes.push_back("Until the old copies are cleaned up, what has moved is stored twice.");
  return report;
}

}  // namespace slipring::lab
