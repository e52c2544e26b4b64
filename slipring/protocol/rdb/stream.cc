// Streams: nodes (a first ID and a listpack each), counters, consumer groups.
#include <algorithm>

#include "slipring/protocol/rdb/value_reader.h"

namespace slipring::rdb {
namespace {

constexpr int64_t kNodeEntriesMax = INT32_MAX;
constexpr int64_t kFlagDeleted = 1;
constexpr int64_t kFlagSameFields = 2;
constexpr size_t kRawIdBytes = 16;
constexpr int kTypeFirst = 15;       // no counters
constexpr int kTypeWithActive = 21;  // consumers have an active time
// A pending entry is an ID, a time, a count; a consumer a name, a time, a count.
constexpr uint64_t kPendingBytesMin = kRawIdBytes + 8 + 1;
constexpr uint64_t kConsumerBytesMin = 1 + 8 + 1;

bool next_number(Listpack& pack, int64_t& number) {
  PackedItem item;
  if (!pack.next(item) || !item.is_number) return false;
  number = item.number;
  return true;
}

}  // namespace

// Listpack of a node: live count, deleted count, field count F, F names, 0; then the entries.
struct ValueReader::StreamNode {
  StreamId first;
  int64_t live = 0;
  int64_t deleted = 0;
  int64_t live_seen = 0;
  int64_t deleted_seen = 0;
  std::vector<PackedItem> names;
};

bool ValueReader::read_node_header(Listpack& pack, StreamNode& node) {
  int64_t names = 0, end = 0;
  const bool counts = next_number(pack, node.live) && next_number(pack, node.deleted) && next_number(pack, names);
  const auto fits = [](int64_t n) { return n >= 0 && n <= kNodeEntriesMax; };
  if (!counts || !fits(node.live) || !fits(node.deleted) || !fits(names))
    return bad("malformed counts of a stream node");
  for (; names > 0; --names) {
    PackedItem item;
    if (!pack.next(item)) return bad("stream node ends inside its field names");
    node.names.push_back(item);
  }
  return (next_number(pack, end) && end == 0) || bad("field names of a stream node do not end");
}

// Fills items_ with field, value, field, value, ...
bool ValueReader::read_entry_fields(Listpack& pack, const StreamNode& node, bool same_fields) {
  items_.clear();
  PackedItem item;
  int64_t fields = static_cast<int64_t>(node.names.size());
  if (!same_fields && (!next_number(pack, fields) || fields < 0 || fields > kNodeEntriesMax))
    return bad("malformed field count of an entry");
  for (int64_t i = 0; i < fields; ++i) {
    if (same_fields) {
      items_.push_back(node.names[static_cast<size_t>(i)]);
    } else {
      if (!pack.next(item)) return bad("entry ends inside its fields");
      items_.push_back(item);
    }
    if (!pack.next(item)) return bad("entry ends inside its fields");
    items_.push_back(item);
  }
  // Number of items of this entry, itself not counted; readers walking backwards need it.
  const int64_t size = same_fields ? fields + 3 : 2 * fields + 4;
  int64_t said = 0;
  return (next_number(pack, said) && said == size) || bad("entry of a stream has a wrong item count");
}

bool ValueReader::report_entry(StreamId id) {
  if (stream_.entries > 0 && id <= stream_.last_id) return bad("stream entries out of order");
  if (stream_.entries == 0) first_entry_ = id;
  ++stream_.entries;
  stream_.last_id = id;
  // Numbers become text in one buffer that does not move any more once views point into it.
  constexpr size_t kNumberBytesMax = 20;
  numbers_.clear();
  numbers_.reserve(items_.size() * kNumberBytesMax);
  views_.clear();
  ItemText text;
  for (const PackedItem& item : items_) {
    if (!item.is_number) {
      views_.push_back(item.bytes);
      continue;
    }
    const size_t at = numbers_.size();
    numbers_.append(text(item));
    views_.push_back(std::string_view(numbers_).substr(at));
  }
  visitor_.on_stream_entry(id, views_);
  return true;
}

// flags, ms and sequence relative to the node's first ID (wrapping), the fields, the item count.
bool ValueReader::read_node_entry(Listpack& pack, StreamNode& node) {
  int64_t flags = 0, ms = 0, seq = 0;
  if (!next_number(pack, flags) || !next_number(pack, ms) || !next_number(pack, seq)) {
    return bad("malformed head of a stream entry");
  }
  if (flags < 0 || flags > (kFlagDeleted | kFlagSameFields)) return bad("unknown flags of a stream entry");
  const bool same_fields = (flags & kFlagSameFields) != 0;
  if (!read_entry_fields(pack, node, same_fields)) return false;
  if ((flags & kFlagDeleted) != 0) {
    ++node.deleted_seen;
    return true;
  }
  ++node.live_seen;
  const StreamId id{node.first.ms + static_cast<uint64_t>(ms), node.first.seq + static_cast<uint64_t>(seq)};
  return report_entry(id);
}

bool ValueReader::read_stream_node() {
  std::string_view key, blob;
  if (!read_string(other_scratch_, key)) return false;
  if (key.size() != kRawIdBytes) return bad("key of a stream node is no ID");
  StreamNode node;
  Cursor id(key);
  node.first = {id.big(8), id.big(8)};
  if (!read_string(scratch_, blob)) return false;
  Listpack pack(blob);
  if (!read_node_header(pack, node)) return false;
  while (node.live_seen + node.deleted_seen < node.live + node.deleted) {
    if (!read_node_entry(pack, node)) return false;
  }
  PackedItem item;
  if (pack.next(item) || !pack.ok()) return bad("malformed listpack of a stream node");
  return node.live_seen == node.live || bad("counts of a stream node do not match");
}

bool ValueReader::read_id(StreamId& id) {
  return read_length(id.ms) && read_length(id.seq);
}

bool ValueReader::read_raw_id(StreamId& id) {
  id.ms = in_.big(8);
  id.seq = in_.big(8);
  return !in_.bad();
}

bool ValueReader::read_group_pending(Pending& pending) {
  uint64_t n = 0;
  if (!read_length(n)) return false;
  if (n > in_.left() / kPendingBytesMin) return bad("count larger than the value");
  pending.reserve(static_cast<size_t>(n));
  for (; n > 0; --n) {
    StreamPending entry;
    entry.consumer = UINT32_MAX;
    if (!read_raw_id(entry.id)) return false;
    in_.bytes(8);  // delivery time
    if (!read_length(entry.deliveries)) return false;
    if (!pending.empty() && entry.id <= pending.back().id) return bad("pending entries out of order");
    pending.push_back(entry);
  }
  return true;
}

// Name, seen time, active time (from type 21 on), the IDs that it owns: each must be pending in the group, once.
bool ValueReader::read_consumer(int type, uint32_t index, Pending& pending, std::string& name) {
  std::string_view text;
  if (!read_string(scratch_, text)) return false;
  name = text;
  in_.bytes(type >= kTypeWithActive ? 16 : 8);
  uint64_t n = 0;
  if (!read_length(n)) return false;
  if (n > in_.left() / kRawIdBytes) return bad("count larger than the value");
  for (; n > 0; --n) {
    StreamId id;
    if (!read_raw_id(id)) return false;
    const auto at = std::lower_bound(pending.begin(), pending.end(), id,
                                     [](const StreamPending& p, const StreamId& wanted) { return p.id < wanted; });
    if (at == pending.end() || at->id != id) return bad("a consumer owns what is not pending");
    if (at->consumer != UINT32_MAX) return bad("two consumers own one pending entry");
    at->consumer = index;
  }
  return true;
}

// What a server from 7.0 on makes of a group without counters (measured; dump-corpus/README.md).
void ValueReader::apply_old_stream_rules(StreamGroup& group) const {
  if (stream_.entries == 0) {
    group.entries_read = 0;
  } else if (group.last_delivered == stream_.last_id) {
    group.entries_read = stream_.entries;
  } else if (group.last_delivered > stream_.last_id) {
    group.entries_read = kEntriesReadUnknown;
  } else if (group.last_delivered < first_entry_) {
    group.entries_read = 0;
  } else {
    group.entries_read = group.last_delivered == first_entry_ ? 1 : kEntriesReadUnknown;
  }
}

bool ValueReader::read_group(int type) {
  std::string name_scratch;
  StreamGroup group;
  if (!read_string(name_scratch, group.name) || !read_id(group.last_delivered)) return false;
  if (type == kTypeFirst) {
    apply_old_stream_rules(group);
  } else if (!read_length(group.entries_read)) {
    return false;
  }
  members_.add(group.name);
  Pending pending;
  uint64_t consumers = 0;
  if (!read_group_pending(pending) || !read_length(consumers)) return false;
  if (consumers > in_.left() / kConsumerBytesMin) return bad("count larger than the value");
  std::vector<std::string> names(static_cast<size_t>(consumers));
  UniqueMembers unique;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!read_consumer(type, static_cast<uint32_t>(i), pending, names[i])) return false;
    unique.add(names[i]);
  }
  if (!unique.all_differ()) return bad("the same consumer twice");
  for (const StreamPending& entry : pending) {
    if (entry.consumer == UINT32_MAX) return bad("a pending entry without consumer");
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  group.consumers = views;
  group.pending = pending;
  visitor_.on_stream_group(group);
  return true;
}

bool ValueReader::read_stream(int type) {
  uint64_t nodes = 0, entries = 0, groups = 0;
  if (!read_length(nodes)) return false;
  for (; nodes > 0; --nodes) {
    if (in_.left() == 0) return bad("count larger than the value");
    if (!read_stream_node()) return false;
  }
  StreamId last_id, first_id;
  if (!read_length(entries) || !read_id(last_id)) return false;
  if (entries != stream_.entries) return bad("number of stream entries does not match");
  if (entries > 0 && last_id < stream_.last_id) return bad("last ID of a stream below its last entry");
  stream_.last_id = last_id;
  stream_.entries_added = entries;
  if (type != kTypeFirst) {
    if (!read_id(first_id) || !read_id(stream_.max_deleted_id) || !read_length(stream_.entries_added)) return false;
  }
  visitor_.on_stream(stream_);
  if (!read_length(groups)) return false;
  for (; groups > 0; --groups) {
    if (in_.left() == 0) return bad("count larger than the value");
    if (!read_group(type)) return false;
  }
  return members_.all_differ() || bad("the same group twice");
}

}  // namespace slipring::rdb
