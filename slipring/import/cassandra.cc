// What `nodetool ring` prints: a line a token, under the name of its data centre.
#include "slipring/placement/cassandra.h"

#include <fmt/format.h>

#include <map>

#include "slipring/import/text_words.h"

namespace slipring::import {
namespace {

constexpr size_t kTokensMax = 1'000'000;
constexpr int kNativePort = 9042;

struct RingNode {
  Mark at;
  std::string zone;
  std::vector<std::string> tokens;
};

struct Columns {
  Mark at;
  std::vector<std::string> words;
};

class RingReader {
 public:
  explicit RingReader(Draft& draft) : draft_(draft) {}

  Status take_line(std::string_view line, size_t number) {
    TextWords text(line, number);
    Columns columns;
    while (text.skip_blanks()) {
      if (columns.words.empty()) columns.at = text.here();
      columns.words.push_back(text.take_word());
    }
    const std::vector<std::string>& words = columns.words;
    if (words.empty() || words[0].starts_with("==")) return {};
    if (words[0] == "Datacenter:") {
      if (words.size() != 2) return draft_.broken(columns.at, "Datacenter: a name must follow");
      dc_ = words[1];
      return {};
    }
    // The head of the table; the lone token above it, which is the last one again; what nodetool says to people.
    const bool talk = words[0] == "Address" || words[0] == "Note:" || words[0] == "Warning:" || words[0] == "To" ||
                      words[0] == "non-system" || words[0] == "you";
    if (talk || (words.size() == 1 && is_token(words[0]))) return {};
    return take_node(columns);
  }

  Status end() {
    if (nodes_.empty()) return draft_.broken({}, "no node in it");
    draft_.set_scheme("cassandra");
    const bool random = random_only_;
    draft_.scheme_options()["partitioner"] = random ? "random" : "murmur3";
    draft_.note({}, fmt::format("partitioner: taken as {} by the tokens", random ? "random" : "murmur3"));
    for (const auto& address : order_) {
      const RingNode& node = nodes_[address];
      const std::string full =
          fmt::format("{}:{}", address.find(':') == address.npos ? address : "[" + address + "]", kNativePort);
      SLIPRING_ASSIGN(Node * made, draft_.add_node(node.at, address, full));
      made->zone = node.zone;
      made->attributes["tokens"] = fmt::format("{}", fmt::join(node.tokens, ","));
    }
    draft_.servers_at = nodes_[order_.front()].at;
    return {};
  }

 private:
  static bool is_token(const std::string& text) {
    return parse_cassandra_token(CassandraPartitioner::kMurmur3, text).has_value() ||
           parse_cassandra_token(CassandraPartitioner::kRandom, text).has_value();
  }

  // Address Rack Status State Load Unit [Owns] Token; a load that is not known is one word.
  Status take_node(const Columns& columns) {
    const std::vector<std::string>& words = columns.words;
    if (words.size() < 6 || dc_.empty())
      return draft_.broken(columns.at,
                           "no line of `nodetool ring`: address, rack, status, state, load, owns and token");
    if (words[3] != "Normal")
      return draft_.refused(columns.at, fmt::format("{}: is {}: wait until every node is Normal", words[0], words[3]));
    if (words[2] != "Up") draft_.note(columns.at, fmt::format("{}: was {}", words[0], words[2]));
    const std::string& token = words.back();
    if (!is_token(token)) return draft_.broken(columns.at, fmt::format("\"{}\": no token", token.substr(0, 64)));
    if (!parse_cassandra_token(CassandraPartitioner::kMurmur3, token)) random_only_ = true;
    if (++tokens_ > kTokensMax) return draft_.broken(columns.at, fmt::format("more than {} tokens", kTokensMax));
    RingNode& node = nodes_[words[0]];
    if (node.tokens.empty()) {
      order_.push_back(words[0]);
      node.at = columns.at;
      node.zone = fmt::format("{}/{}", dc_, words[1]);
    }
    node.tokens.push_back(token);
    return {};
  }

  Draft& draft_;
  std::string dc_;
  std::map<std::string, RingNode> nodes_;
  std::vector<std::string> order_;
  size_t tokens_ = 0;
  bool random_only_ = false;  // a token that only the random partitioner has
};

}  // namespace

Status read_cassandra(std::string_view text, const Options&, Draft& draft) {
  RingReader reader(draft);
  SLIPRING_TRY(
      for_each_line(text, [&](std::string_view line, size_t number) { return reader.take_line(line, number); }));
  SLIPRING_TRY(reader.end());
  draft.set_protocol(Protocol::kCassandra);
  draft.note({}, "the owner is the first replica on the ring; the replication factor is not in the text");
  draft.note({}, fmt::format("no port is in the text: {}; the pool serves look-ups, Cassandra's servers are no Redis "
                             "servers",
                             kNativePort));
  return {};
}

}  // namespace slipring::import
