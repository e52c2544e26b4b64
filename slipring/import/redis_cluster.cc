// What CLUSTER NODES and CLUSTER SHARDS answer: as the server writes it, or as redis-cli shows it.
#include "slipring/placement/redis_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slipring/base/parse.h"
#include "slipring/import/text_words.h"

namespace slipring::import {
namespace {

Status add_owner(Mark at, const std::string& id, const std::string& address, const std::string& slots, Draft& draft) {
  SLIPRING_ASSIGN(Node * node, draft.add_node(at, address, address, id));
  node->attributes["slots"] = slots;
  return {};
}

void append_slots(std::string_view range, std::string& slots) {
  slots += fmt::format("{}{}", slots.empty() ? "" : ",", range);
}

// "0-5460" or "7". kInvalidArgument: none of a slot's form.
Status check_range(std::string_view range, Mark at, const Draft& draft) {
  const size_t dash = range.find('-');
  const auto first = parse_u64(range.substr(0, dash), 0, kRedisClusterSlots - 1);
  const auto last = dash == range.npos ? first : parse_u64(range.substr(dash + 1), 0, kRedisClusterSlots - 1);
  if (first && last && *first <= *last) return {};
  return draft.broken(at, fmt::format("slots \"{}\": must be 0 to {}", range.substr(0, 64), kRedisClusterSlots - 1));
}

// ---- CLUSTER NODES
// ---------------------------------------------------------------------------------------------------

// "ip:port@bus,hostname" -> "ip:port"; IPv6 has no brackets there.
std::string node_address(std::string_view text) {
  const std::string_view front = text.substr(0, text.find_first_of("@,"));
  const size_t colon = front.rfind(':');
  if (colon == front.npos || front.find(':') == colon) return std::string(front);
  return fmt::format("[{}]{}", front.substr(0, colon), front.substr(colon));
}

Status read_node_line(std::string_view line, size_t number, Draft& draft) {
  TextWords words(line, number);
  std::vector<std::pair<Mark, std::string>> fields;
  while (words.skip_blanks()) {
    const Mark at = words.here();
    fields.emplace_back(at, words.take_word());
  }
  if (fields.empty()) return {};
  const Mark at = fields[0].first;
  if (fields.size() < 8)
    return draft.broken(at, "no line of CLUSTER NODES: id, address, flags and five more must stand here");
  const std::string flags = "," + fields[2].second + ",";
  const std::string address = node_address(fields[1].second);
  if (flags.find(",slave,") != flags.npos || flags.find(",replica,") != flags.npos) {
    draft.note(at, fmt::format("{}: a replica, not carried over", address));
    return {};
  }
  std::string slots;
  for (size_t i = 8; i < fields.size(); ++i) {
    if (fields[i].second.starts_with('['))
      return draft.refused(fields[i].first, fmt::format("{}: a slot is being moved: end that first", fields[i].second));
    SLIPRING_TRY(check_range(fields[i].second, fields[i].first, draft));
    append_slots(fields[i].second, slots);
  }
  if (slots.empty()) {
    draft.note(at, fmt::format("{}: owns no slot, not carried over", address));
    return {};
  }
  if (flags.find("fail") != flags.npos) draft.note(at, fmt::format("{}: was down: {}", address, fields[2].second));
  if (draft.servers_at.line == 0) draft.servers_at = at;
  return add_owner(fields[1].first, fields[0].second, address, slots, draft);
}

// ---- CLUSTER SHARDS
// --------------------------------------------------------------------------------------------------

struct Value {
  Mark at;
  std::string text;
};

// The values of an answer, one after another, without the numbering and types that redis-cli writes for people.
std::vector<Value> values_of(std::string_view text) {
  std::vector<Value> values;
  static_cast<void>(for_each_line(text, [&](std::string_view line, size_t number) -> Status {
    TextWords words(line, number);
    while (words.skip_blanks()) {
      Value value{words.here(), ""};
      if (words.take("\"")) {
        value.text = words.take_until("\"");
        words.take("\"");
        values.push_back(std::move(value));
        continue;
      }
      value.text = words.take_word();
      const bool numbering = value.text.size() > 1 && (value.text.ends_with(')') || value.text.ends_with('#')) &&
                             value.text.find_first_not_of("0123456789") == value.text.size() - 1;
      if (numbering || value.text == "(integer)" || value.text == "=>" || value.text == "(empty") continue;
      if (value.text == "array)" || value.text == "list" || value.text == "set)") continue;
      values.push_back(std::move(value));
    }
    return {};
  }));
  return values;
}

class ShardReader {
 public:
  ShardReader(std::vector<Value> values, Draft& draft) : values_(std::move(values)), draft_(draft) {}

  Status read() {
    while (at_ < values_.size()) SLIPRING_TRY(read_shard());
    return {};
  }

 private:
  Mark here() const { return at_ < values_.size() ? values_[at_].at : values_.back().at; }
  bool stands(std::string_view word) const { return at_ < values_.size() && values_[at_].text == word; }

  Status read_shard() {
    const Mark start = here();
    if (!stands("slots")) return draft_.broken(start, "\"slots\" must stand here");
    ++at_;
    std::string slots;
    while (at_ < values_.size() && !stands("nodes")) {
      const std::string range = at_ + 1 < values_.size() ? values_[at_].text + "-" + values_[at_ + 1].text : "";
      SLIPRING_TRY(check_range(range, here(), draft_));
      append_slots(range, slots);
      at_ += 2;
    }
    if (!stands("nodes")) return draft_.broken(here(), "\"nodes\" must stand here");
    ++at_;
    bool owned = slots.empty();
    while (stands("id")) SLIPRING_TRY(read_node(slots, owned));
    if (!owned) return draft_.broken(start, "a shard with slots, but without a master");
    return {};
  }

  Status read_node(const std::string& slots, bool& owned) {
    const Mark start = here();
    std::map<std::string, std::string> fields;
    while (at_ + 1 < values_.size() && !stands("slots") && !(stands("id") && fields.contains("id"))) {
      fields[values_[at_].text] = values_[at_ + 1].text;
      at_ += 2;
    }
    if (at_ + 1 == values_.size()) return draft_.broken(here(), "a field without a value");
    const std::string host = fields["ip"].empty() ? fields["endpoint"] : fields["ip"];
    const std::string address =
        fmt::format("{}:{}", host.find(':') == host.npos ? host : "[" + host + "]", fields["port"]);
    if (fields["role"] != "master") {
      draft_.note(start, fmt::format("{}: a replica, not carried over", address));
      return {};
    }
    if (slots.empty()) {
      draft_.note(start, fmt::format("{}: owns no slot, not carried over", address));
      return {};
    }
    if (owned) return draft_.broken(start, "a shard with two masters");
    owned = true;
    if (!fields["health"].empty() && fields["health"] != "online")
      draft_.note(start, fmt::format("{}: was {}", address, fields["health"]));
    if (draft_.servers_at.line == 0) draft_.servers_at = start;
    return add_owner(start, fields["id"], address, slots, draft_);
  }

  std::vector<Value> values_;
  Draft& draft_;
  size_t at_ = 0;
};

}  // namespace

Status read_redis_cluster(std::string_view text, const Options&, Draft& draft) {
  draft.set_scheme("redis-cluster");
  draft.set_protocol(Protocol::kRedis);
  std::vector<Value> values = values_of(text);
  if (values.empty()) return draft.broken({}, "holds nothing");
  if (values.front().text == "slots") {
    SLIPRING_TRY(ShardReader(std::move(values), draft).read());
  } else {
    SLIPRING_TRY(
        for_each_line(text, [&](std::string_view line, size_t number) { return read_node_line(line, number, draft); }));
  }
  draft.note({},
             "servers in cluster mode answer only for their own slots: the pool serves look-ups, and a move needs "
             "servers with cluster-enabled no");
  return {};
}

}  // namespace slipring::import
