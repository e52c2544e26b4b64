// The packed encodings inside RDB values: listpack, ziplist, intset, zipmap. Each is read item by item from a blob; the
// headers (size, count, tail), the links between entries and the end mark are all checked against what was read.
//
//   while (pack.next(item)) ...;  if (!pack.ok()) -> malformed
//
// Thread-safety: one owner. Items point into the blob.
#pragma once

#include <cstdint>
#include <string_view>

#include "slipring/protocol/rdb/cursor.h"

namespace slipring::rdb {

// A byte string, or an integer that stands for its decimal text.
struct PackedItem {
  std::string_view bytes;
  int64_t number = 0;
  bool is_number = false;
};

// The text of an item; a number's is written into this object and lives until the next call.
class ItemText {
 public:
  std::string_view operator()(const PackedItem& item) { return item.is_number ? of(item.number) : item.bytes; }
  std::string_view of(int64_t number);

 private:
  char text_[24];
};

class Listpack {
 public:
  explicit Listpack(std::string_view blob);
  bool next(PackedItem& item);
  bool ok() const { return ended_ && !in_.bad(); }

 private:
  void read_value(PackedItem& item);
  bool finish();

  Cursor in_;
  uint64_t seen_ = 0;
  uint16_t count_ = 0;
  bool ended_ = false;
};

class Ziplist {
 public:
  explicit Ziplist(std::string_view blob);
  bool next(PackedItem& item);
  bool ok() const { return ended_ && !in_.bad(); }

 private:
  void read_value(PackedItem& item);
  bool finish();

  Cursor in_;
  size_t size_ = 0;
  size_t tail_ = 0;          // place of the last entry, as the header says
  size_t last_ = 0;          // place of the last entry read
  uint64_t last_bytes_ = 0;  // its size; 0 before the first
  uint64_t seen_ = 0;
  uint16_t count_ = 0;
  bool ended_ = false;
};

// Strictly ascending, so without duplicates.
class Intset {
 public:
  explicit Intset(std::string_view blob);
  bool next(PackedItem& item);
  bool ok() const { return left_ == 0 && in_.done(); }

 private:
  Cursor in_;
  int width_ = 0;
  uint64_t left_ = 0;
  bool first_ = true;
  int64_t last_ = 0;
};

// Fields and values in turn.
class Zipmap {
 public:
  explicit Zipmap(std::string_view blob);
  bool next(PackedItem& item);
  bool ok() const { return ended_ && !in_.bad(); }

 private:
  bool read_length(uint64_t& n);

  Cursor in_;
  uint8_t count_ = 0;
  uint64_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace slipring::rdb
