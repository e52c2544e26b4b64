#include "slipring/topology/routing.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slipring {
namespace {

// Numbers for instances in order of first appearance.
class InstanceTable {
 public:
  InstanceTable(std::vector<Instance>& instances, std::vector<std::string>& names)
      : instances_(instances), names_(names) {}

  std::vector<InstanceIndex> add(const Layout& layout) {
    std::vector<InstanceIndex> of_member;
    of_member.reserve(layout.nodes.size());
    for (const Node& node : layout.nodes) of_member.push_back(number(node));
    return of_member;
  }

 private:
  InstanceIndex number(const Node& node) {
    const auto [at, fresh] = index_.emplace(node.instance, static_cast<InstanceIndex>(instances_.size()));
    if (fresh) {
      instances_.push_back(node.instance);
      names_.push_back(node.name);
    }
    return at->second;
  }

  std::vector<Instance>& instances_;
  std::vector<std::string>& names_;
  std::map<Instance, InstanceIndex> index_;
};

InstanceIndex instance_of(const std::vector<InstanceIndex>& of_member, NodeIndex member) {
  return member == kNoNode ? kNoInstance : of_member[member];
}

}  // namespace

Result<std::shared_ptr<const PoolRouting>> PoolRouting::compile(const Pool& pool) {
  std::shared_ptr<PoolRouting> routing(new PoolRouting());
  routing->pool_ = pool;
  InstanceTable table(routing->instances_, routing->names_);
  SLIPRING_ASSIGN(routing->old_scheme_, make_scheme(pool.layout));
  routing->old_instance_ = table.add(pool.layout);
  if (pool.plan) {
    if (!is_slice_count(pool.plan->slices)) return fail(Code::kInvalidArgument, "slices: must be 1, 16, 256 or 4096");
    const std::vector<Member> members = members_of(pool.layout);
    SLIPRING_ASSIGN(routing->new_scheme_, remake_scheme({*routing->old_scheme_, pool.layout.scheme, members},
                                                        pool.plan->next.scheme, members_of(pool.plan->next)));
    routing->new_instance_ = table.add(pool.plan->next);
    routing->index_moves();
  }
  return std::shared_ptr<const PoolRouting>(std::move(routing));
}

void PoolRouting::index_moves() {
  std::map<Instance, InstanceIndex> number;
  for (InstanceIndex i = 0; i < instances_.size(); ++i) number.emplace(instances_[i], i);
  const auto index = [&](const Instance& instance) {
    const auto at = number.find(instance);
    return at == number.end() ? kNoInstance : at->second;
  };
  const std::vector<MoveOwner>& moves = pool_.plan->moves;
  for (size_t begin = 0, end = 0; begin < moves.size(); begin = end) {
    while (end < moves.size() && moves[end].source == moves[begin].source && moves[end].target == moves[begin].target) {
      ++end;
    }
    pairs_.push_back({index(moves[begin].source), index(moves[begin].target), static_cast<MoveIndex>(begin),
                      static_cast<MoveIndex>(end)});
  }
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return std::tie(a.source, a.target) < std::tie(b.source, b.target); });
}

MoveIndex PoolRouting::find_move(InstanceIndex source, InstanceIndex target, uint32_t slice) const {
  const auto pair = std::partition_point(pairs_.begin(), pairs_.end(), [&](const Pair& p) {
    return std::tie(p.source, p.target) < std::tie(source, target);
  });
  if (pair == pairs_.end() || pair->source != source || pair->target != target) return kNoMove;
  const std::vector<MoveOwner>& moves = pool_.plan->moves;
  // Plans usually list every slice of a pair, and then it stands at its own offset.
  if (pair->end - pair->begin > slice && moves[pair->begin + slice].slice == slice) return pair->begin + slice;
  const auto begin = moves.begin() + pair->begin;
  const auto end = moves.begin() + pair->end;
  const auto at = std::partition_point(begin, end, [&](const MoveOwner& m) { return m.slice < slice; });
  return at != end && at->slice == slice ? static_cast<MoveIndex>(at - moves.begin()) : kNoMove;
}

Decision PoolRouting::decide(std::string_view key) const {
  const InstanceIndex source = instance_of(old_instance_, old_scheme_->owner(key));
  if (new_scheme_ == nullptr) return {source, source, source, kNoMove};
  const InstanceIndex target = instance_of(new_instance_, new_scheme_->owner(key));
  if (source == target) return {source, source, source, kNoMove};
  const MoveIndex move = find_move(source, target, slice_of(old_scheme_->tag(key), pool_.plan->slices));
  const bool switched = move != kNoMove && pool_.plan->moves[move].target_owns;
  return {switched ? target : source, source, target, move};
}

}  // namespace slipring
