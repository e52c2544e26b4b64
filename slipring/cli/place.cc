// `slipring place`: where keys lie under a scheme, without any server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <istream>
#include <ostream>

#include "slipring/base/parse.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/config.h"
#include "slipring/cli/node_spec.h"
#include "slipring/cli/placement_options.h"
#include "slipring/placement/bounded_load.h"
#include "slipring/placement/registry.h"

namespace slipring::cli {
namespace {

constexpr size_t kPlacedKeyBytesMax = size_t{1} << 20;
constexpr size_t kKeysAtOnce = 1024;

struct PlaceOptions {
  PlacementOptions placement;
  std::string config;  // file with a pool, instead of the placement
  std::string pool;
  uint32_t replicas = 1;
  std::string epsilon;  // of a bounded load; empty: none
};

// One line a key, its end cut off; false at the end of input.
Result<bool> read_key(std::istream& in, uint64_t number, std::string& key) {
  if (!std::getline(in, key)) return false;
  if (key.size() > kPlacedKeyBytesMax) {
    return fail(Code::kInvalidArgument, fmt::format("key {}: longer than {} bytes", number, kPlacedKeyBytesMax));
  }
  return true;
}

// Every key is a load of 1 and goes to the first node of its list that has room.
Status place_bounded(const PlaceOptions& options, std::shared_ptr<const Scheme> scheme,
                     const std::vector<Member>& members, Console& console) {
  auto epsilon = parse_milli(options.epsilon, 1, 1'000'000);
  if (!epsilon) {
    return fail(Code::kInvalidArgument,
                fmt::format("--bounded-load \"{}\": must be 0.001 to 1000, at most three places", options.epsilon));
  }
  SLIPRING_ASSIGN(const BoundedLoad bounded, BoundedLoad::make(std::move(scheme), members, *epsilon));
  std::vector<uint64_t> loads(members.size());
  std::string key;
  for (uint64_t number = 1;; ++number) {
    SLIPRING_ASSIGN(const bool more, read_key(console.in, number, key));
    if (!more) return {};
    const NodeIndex node = bounded.owner(key, loads);
    if (node != kNoNode) ++loads[node];
    console.out << key << '\t' << (node == kNoNode ? std::string_view("-") : members[node].name) << '\n';
  }
}

class Placer {
 public:
  Placer(const Scheme& scheme, std::span<const Member> members, uint32_t replicas, std::ostream& out)
      : scheme_(scheme), members_(members), replicas_(replicas), out_(out) {}

  void add(std::string key) {
    keys_.push_back(std::move(key));
    if (keys_.size() == kKeysAtOnce) flush();
  }

  void flush() {
    replicas_ == 1 ? write_owners() : write_lists();
    keys_.clear();
  }

 private:
  std::string_view name_of(NodeIndex node) const {
    return node == kNoNode ? std::string_view("-") : std::string_view(members_[node].name);
  }

  void write_owners() {
    const std::vector<std::string_view> views(keys_.begin(), keys_.end());
    std::vector<NodeIndex> owners(keys_.size());
    scheme_.owners(views, owners);
    for (size_t i = 0; i < owners.size(); ++i) out_ << keys_[i] << '\t' << name_of(owners[i]) << '\n';
  }

  void write_lists() {
    std::vector<NodeIndex> list(std::min<size_t>(replicas_, members_.size()));
    for (const std::string& key : keys_) {
      const size_t count = scheme_.preference_list(key, list);
      out_ << key << '\t' << name_of(count == 0 ? kNoNode : list[0]);
      for (size_t i = 1; i < count; ++i) out_ << ',' << name_of(list[i]);
      out_ << '\n';
    }
  }

  const Scheme& scheme_;
  std::span<const Member> members_;
  uint32_t replicas_;
  std::ostream& out_;
  std::vector<std::string> keys_;
};

struct GivenPlacement {
  SchemeSpec spec;
  std::vector<Member> members;
};

Result<GivenPlacement> read_pool(const PlaceOptions& options) {
  SLIPRING_ASSIGN(const Config config, load_config(options.config));
  for (const Pool& pool : config.controller.seed) {
    const bool chosen = options.pool.empty() ? config.controller.seed.size() == 1 : pool.name == options.pool;
    if (chosen) return GivenPlacement{pool.layout.scheme, members_of(pool.layout)};
  }
  return fail(Code::kInvalidArgument, options.pool.empty()
                                          ? options.config + ": holds not one pool: --pool says which"
                                          : fmt::format("{}: no pool \"{}\"", options.config, options.pool));
}

Result<GivenPlacement> read_placement(const PlaceOptions& options) {
  if (!options.config.empty()) return read_pool(options);
  if (options.placement.nodes.empty()) return fail(Code::kInvalidArgument, "--nodes or --config is required");
  GivenPlacement placement;
  SLIPRING_ASSIGN(placement.spec, read_spec(options.placement.scheme, options.placement.options));
  SLIPRING_ASSIGN(placement.members, read_nodes(options.placement.nodes));
  return placement;
}

Status place(const PlaceOptions& options, Console& console) {
  SLIPRING_ASSIGN(const GivenPlacement placement, read_placement(options));
  const auto& [spec, members] = placement;
  SLIPRING_ASSIGN(auto scheme, make_scheme(spec, members));
  for (const std::string& warning : placement_warnings(spec, members)) console.err << "warning: " << warning << '\n';
  if (!options.epsilon.empty()) {
    if (options.replicas > 1) return fail(Code::kInvalidArgument, "--bounded-load: places one node a key, no replicas");
    return place_bounded(options, std::move(scheme), members, console);
  }
  Placer placer(*scheme, members, options.replicas, console.out);
  std::string key;
  for (uint64_t number = 1;; ++number) {
    SLIPRING_ASSIGN(const bool more, read_key(console.in, number, key));
    if (!more) break;
    placer.add(std::move(key));
  }
  placer.flush();
  return {};
}

}  // namespace

void add_place(CLI::App& root, Context& context) {
  CLI::App* command = add_command(
      root, "place", "Say where the keys on standard input lie under a scheme: key TAB owner[,replica...]",
      "slipring place --scheme ring --nodes a,b*2,c@zone1 --replicas 2 < keys\n"
      "  slipring place --config pool.toml < keys\n"
      "  slipring place --scheme libmemcached --opt distribution=ketama --nodes 'x=10.0.0.1:11211,y=10.0.0.2:11211' < "
      "k\n"
      "  slipring place --scheme cassandra --nodes nodes.txt < keys\n\n"
      "Nodes are NAME[=LABEL][*WEIGHT][@ZONE][;ATTRIBUTE=VALUE]..., parted by commas. LABEL is what the scheme hashes\n"
      "instead of the name. A backslash takes the next character as it is: ;tokens=5\\,9\n"
      "A file holds one node a line (commas part nothing there, # begins a comment), or, if its name ends in .toml,\n"
      "[[node]] tables with name, label, weight, zone and attributes.\n"
      "Every scheme also takes the options override.key.KEY=NODE, override.tag.TAG=NODE, override.prefix.PREFIX=NODE.\n"
      "`slipring schemes` lists schemes with their options and attributes.");
  const auto options = std::make_shared<PlaceOptions>();
  add_placement_options(*command, options->placement, false);
  command->add_option("--config", options->config, "a configuration file: the keys of its pool")
      ->excludes("--nodes")
      ->excludes("--scheme")
      ->excludes("--opt");
  command->add_option("--pool", options->pool, "which pool of the file")->needs("--config");
  command->add_option("--replicas", options->replicas, "length of the preference list")
      ->check(CLI::Range(uint32_t{1}, static_cast<uint32_t>(kMembersMax)))
      ->capture_default_str();
  command->add_option("--bounded-load", options->epsilon,
                      "E: no node gets more than 1 + E times its share; keys are placed in the order they come and "
                      "spill along their preference list");
  on_run(*command, context, [&context, options] {
    if (const Status placed = place(*options, context.console); !placed) return report(context, placed.error());
    return Exit::kDone;
  });
}

}  // namespace slipring::cli
