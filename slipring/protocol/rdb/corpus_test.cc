// Every payload of conformance/dump-corpus is read as the value its server showed, equal values and only they have
// equal digests, and every corrupted payload is refused.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "slipring/protocol/rdb/digest.h"
#include "slipring/protocol/rdb/value.h"

namespace slipring::rdb {
namespace {

using Json = nlohmann::json;

std::string run(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[65536];
  for (size_t n = 0; pipe != nullptr && (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  EXPECT_TRUE(pipe != nullptr && WEXITSTATUS(::pclose(pipe)) == 0) << command;
  return out;
}

std::vector<Json> read_records(const std::string& pattern) {
  const std::string text =
      run("bash -c 'cat " SLIPRING_SOURCE_DIR "/conformance/dump-corpus/" + pattern + ".jsonl.zst | zstd -dcq'");
  std::vector<Json> records;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    records.push_back(Json::parse(text.begin() + static_cast<long>(at), text.begin() + static_cast<long>(end)));
  }
  return records;
}

const std::vector<Json>& valid_records() {
  static const std::vector<Json> records = read_records("{redis,valkey,synthetic}*");
  return records;
}

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string to_hex_text(std::string_view bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

// The value of a record with runs written out.
Json expanded(const Json& value) {
  if (value.is_object() && value.contains("runs")) {
    std::string hex;
    for (const Json& run : value["runs"]) {
      for (int i = 0; i < run[1].get<int>(); ++i) hex += run[0].get<std::string>();
    }
    return hex;
  }
  if (!value.is_structured()) return value;
  Json out = value;
  for (Json& item : out) item = expanded(item);
  return out;
}

std::string id_text(StreamId id) {
  return std::to_string(id.ms) + "-" + std::to_string(id.seq);
}

// Builds what the corpus holds as `value`.
class JsonVisitor : public ValueVisitor {
 public:
  void on_string(std::string_view bytes) override { value_ = to_hex_text(bytes); }
  void on_list_item(std::string_view item) override { value_.push_back(to_hex_text(item)); }
  void on_set_member(std::string_view member) override { value_.push_back(to_hex_text(member)); }
  void on_hash_field(std::string_view field, std::string_view value, uint64_t expire_ms) override {
    Json item = {to_hex_text(field), to_hex_text(value)};
    if (expire_ms != 0) item.push_back(expire_ms);
    value_.push_back(item);
  }
  void on_zset_member(std::string_view member, double score) override {
    char text[64], bits[32];
    std::snprintf(text, sizeof text, "%.17g", score);
    std::snprintf(bits, sizeof bits, "%016llx", static_cast<unsigned long long>(std::bit_cast<uint64_t>(score)));
    value_.push_back({to_hex_text(member), text, bits});
  }
  void on_stream_entry(StreamId id, std::span<const std::string_view> items) override {
    Json fields = Json::array();
    for (const std::string_view item : items) fields.push_back(to_hex_text(item));
    entries_.push_back(Json::array({id_text(id), fields}));
  }
  void on_stream(const StreamInfo& info) override {
    value_ = {{"entries", entries_},
              {"last_id", id_text(info.last_id)},
              {"max_deleted_id", id_text(info.max_deleted_id)},
              {"entries_added", info.entries_added},
              {"groups", Json::array()}};
  }
  void on_stream_group(const StreamGroup& group) override {
    Json pending = Json::array(), consumers = Json::array();
    for (const StreamPending& p : group.pending) {
      pending.push_back({id_text(p.id), to_hex_text(group.consumers[p.consumer]), p.deliveries});
    }
    for (const std::string_view name : group.consumers) consumers.push_back(to_hex_text(name));
    std::sort(consumers.begin(), consumers.end());
    Json read = group.entries_read == kEntriesReadUnknown ? Json() : Json(group.entries_read);
    value_["groups"].push_back({{"name", to_hex_text(group.name)},
                                {"last_delivered", id_text(group.last_delivered)},
                                {"entries_read", read},
                                {"pending", pending},
                                {"consumers", consumers}});
  }
  Json take(ValueKind kind) {
    const bool ordered = kind == ValueKind::kSet || kind == ValueKind::kHash || kind == ValueKind::kZset;
    if (ordered) std::sort(value_.begin(), value_.end());
    return value_;
  }

 private:
  Json value_ = Json();
  Json entries_ = Json::array();
};

TEST(DumpCorpus, EveryValueIsReadAsItsServerShowedIt) {
  ASSERT_EQ(valid_records().size(), 1979u);
  for (const Json& record : valid_records()) {
    JsonVisitor visitor;
    const auto kind = decode_value(from_hex(record["payload"]), visitor);
    ASSERT_TRUE(kind) << record["id"] << ": " << kind.error().message;
    EXPECT_EQ(kind_name(*kind), record["type"].get<std::string>());
    const Json& expected = record.contains("value_upgraded") ? record["value_upgraded"] : record["value"];
    EXPECT_EQ(visitor.take(*kind), expanded(expected)) << record["server"] << " " << record["id"];
  }
}

TEST(DumpCorpus, DigestsAreEqualExactlyForEqualValues) {
  std::map<std::string, std::string> digest_of_group, group_of_digest;
  for (const Json& record : valid_records()) {
    const auto value = digest_value(from_hex(record["payload"]), 0);
    ASSERT_TRUE(value) << record["id"] << ": " << value.error().message;
    const std::string digest = to_hex(value->digest);
    const std::string group = record["same_as"];
    EXPECT_EQ(digest_of_group.try_emplace(group, digest).first->second, digest) << record["id"] << " " << group;
    EXPECT_EQ(group_of_digest.try_emplace(digest, group).first->second, group) << record["id"];
  }
  EXPECT_EQ(digest_of_group.size(), 236u);
}

TEST(DumpCorpus, NearMissesDiffer) {
  std::map<std::string, Digest> of_group;
  for (const Json& record : valid_records()) {
    of_group.emplace(record["same_as"], digest_value(from_hex(record["payload"]), 0)->digest);
  }
  size_t misses = 0;
  for (const Json& record : valid_records()) {
    if (!record.contains("near_miss_of")) continue;
    ++misses;
    const auto other = of_group.find(record["near_miss_of"]);
    ASSERT_NE(other, of_group.end());
    EXPECT_NE(digest_value(from_hex(record["payload"]), 0)->digest, other->second) << record["id"];
  }
  EXPECT_EQ(misses, 402u);
}

TEST(DumpCorpus, AFieldPastItsExpiryIsAbsent) {
  size_t seen = 0;
  for (const Json& record : valid_records()) {
    if (!record.contains("visible_value")) continue;
    ++seen;
    const std::string payload = from_hex(record["payload"]);
    const uint64_t expiry = record["value"][1][2];
    const auto before = digest_value(payload, expiry - 1), after = digest_value(payload, expiry);
    EXPECT_EQ(before->elements, record["value"].size());
    EXPECT_EQ(after->elements, record["visible_value"].size());
    EXPECT_NE(before->digest, after->digest);
  }
  EXPECT_EQ(seen, 4u);
}

TEST(DumpCorpus, EveryCorruptedPayloadIsRefused) {
  const std::vector<Json> records = read_records("corrupt");
  ASSERT_EQ(records.size(), 62u);
  for (const Json& record : records) {
    ValueVisitor nothing;
    const auto kind = decode_value(from_hex(record["payload"]), nothing);
    ASSERT_FALSE(kind) << record["id"] << " " << record["what"];
    EXPECT_TRUE(kind.error().code == Code::kDataLoss || kind.error().code == Code::kUnimplemented)
        << kind.error().to_string();
  }
}

// Every prefix of the small ones.
TEST(DumpCorpus, TruncatedPayloadsAreRefused) {
  for (const Json& record : valid_records()) {
    const std::string payload = from_hex(record["payload"]);
    if (payload.size() > 300) continue;
    ValueVisitor nothing;
    for (size_t n = 0; n < payload.size(); ++n) ASSERT_FALSE(decode_value(payload.substr(0, n), nothing));
  }
}

}  // namespace
}  // namespace slipring::rdb
