// What value.cc and stream.cc share: reading the parts of a value and reporting the first thing that is wrong. Not for
// use outside of this module.
// Thread-safety: one owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/protocol/rdb/cursor.h"
#include "slipring/protocol/rdb/hash128.h"
#include "slipring/protocol/rdb/packed.h"
#include "slipring/protocol/rdb/value.h"

namespace slipring::rdb {

// The members of a set, hash or sorted set must differ.
class UniqueMembers {
 public:
  void add(std::string_view member) { hashes_.push_back(hash128(member, 0)); }
  size_t size() const { return hashes_.size(); }
  // Sorts what was added.
  bool all_differ();

 private:
  std::vector<Hash128> hashes_;
};

class ValueReader {
 public:
  ValueReader(std::string_view value, ValueVisitor& visitor, const DecodeLimits& limits)
      : in_(value), visitor_(visitor), limits_(limits) {}

  // Each reads a value of its type(s) to the end and answers false at the first fault.
  bool read_string_value();
  bool read_list();                         // 1
  bool read_ziplist_list();                 // 10
  bool read_quicklist(bool has_container);  // 14, 18
  bool read_set();                          // 2
  bool read_zset(bool binary_scores);       // 3, 5
  bool read_hash(bool has_ttl);             // 4, 24
  template <typename Pack>
  bool read_packed_set();  // 11, 20
  template <typename Pack>
  bool read_packed_zset();  // 12, 17
  template <typename Pack>
  bool read_packed_hash();      // 9, 13, 16
  bool read_packed_ttl_hash();  // 25
  bool read_stream(int type);   // 15, 19, 21

  // Status of a read that answered false, or of the bytes left over.
  Status status() const;

 private:
  struct StreamNode;
  using Pending = std::vector<StreamPending>;

  bool bad(const char* why);
  bool read_length(uint64_t& n);
  // As read_length(), or the number of a special encoding.
  bool read_length_or_encoding(uint64_t& n, bool& is_encoding);
  bool read_compressed(std::string& scratch, std::string_view& out);
  // The view points into the payload, or into `scratch`, which it replaces.
  bool read_string(std::string& scratch, std::string_view& out);
  // A count of items of at least `min_bytes` each; 0 is refused.
  bool read_count(uint64_t& n, uint64_t min_bytes);
  bool read_score(bool binary, double& score);
  template <typename Pack>
  bool add_list_node(std::string_view blob);
  bool all_members_differ();

  bool read_stream_node();
  bool read_node_header(Listpack& pack, StreamNode& node);
  bool read_node_entry(Listpack& pack, StreamNode& node);
  bool read_entry_fields(Listpack& pack, const StreamNode& node, bool same_fields);
  bool report_entry(StreamId id);
  bool read_id(StreamId& id);
  bool read_raw_id(StreamId& id);
  bool read_group(int type);
  bool read_group_pending(Pending& pending);
  bool read_consumer(int type, uint32_t index, Pending& pending, std::string& name);
  void apply_old_stream_rules(StreamGroup& group) const;

  Cursor in_;
  ValueVisitor& visitor_;
  const DecodeLimits& limits_;
  const char* why_ = nullptr;
  bool too_large_ = false;
  std::string scratch_;
  std::string other_scratch_;
  UniqueMembers members_;
  uint64_t list_items_ = 0;

  // Of a stream.
  StreamInfo stream_;
  StreamId first_entry_;
  std::vector<std::string_view> views_;
  std::vector<PackedItem> items_;
  std::string numbers_;
};

}  // namespace slipring::rdb
