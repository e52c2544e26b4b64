#include "slipring/placement/conformance/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "slipring/placement/conformance/mapping.h"

namespace slipring::conformance {
namespace {

constexpr std::string_view kTwoServers =
    R"("servers":[{"name":null,"host":"a","port":11211,"weight":1},{"name":null,"host":"b","port":11211,"weight":1}])";

std::string line_with(std::string_view system, std::string_view rest) {
  return std::string(R"({"system":")") + std::string(system) + R"(","version":"1","algorithm":"modulo","hash":"crc",)" +
         std::string(kTwoServers) + "," + std::string(rest) + "}";
}

std::string error_of(const std::string& line) {
  const Result<Tally> tally = replay_line(line, 1);
  if (tally) return "none";
  EXPECT_EQ(tally.error().code, Code::kInvalidArgument);
  return tally.error().message;
}

TEST(Replay, CountsAnswersAndNamesTheFirstKeyThatDiffers) {
  const std::string right =
      line_with("python-memcached", R"("options":{"case":"eq2"},"keys":["user:0","user:1"],"owners":[0,1])");
  const Result<Tally> tally = replay_line(right, 7);
  ASSERT_TRUE(tally) << tally.error().message;
  EXPECT_EQ(tally->lines, 1u);
  EXPECT_EQ(tally->answers, 2u);
  EXPECT_EQ(tally->differing, 0u);
  EXPECT_FALSE(tally->first_difference);

  const std::string wrong =
      line_with("python-memcached", R"("options":{},"keys":["user:0","user:1","hex:0a"],"owners":[0,0,1])");
  const Result<Tally> differing = replay_line(wrong, 7);
  ASSERT_TRUE(differing) << differing.error().message;
  ASSERT_TRUE(differing->first_difference);
  EXPECT_EQ(differing->first_difference->key, "user:1");
  EXPECT_EQ(describe(*differing->first_difference), "python-memcached line 7: key \"user:1\": recorded 0, here 1");
}

TEST(Replay, RefusesWhatItDoesNotUnderstandAndSaysWhat) {
  EXPECT_EQ(error_of("{"), "not a JSON object");
  EXPECT_EQ(error_of("[1]"), "not a JSON object");
  EXPECT_EQ(error_of(R"({"version":"1"})"), "\"system\" is missing or no text");
  EXPECT_EQ(error_of(line_with("memcheese", R"("keys":["k"],"owners":[0])")), "system \"memcheese\": unknown");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["k"],"owners":[0],"options":{"spin":1})")),
            "option \"spin\": unknown");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["k"],"owners":[0],"slots":[3])")),
            "field \"slots\": unknown");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["k","l"],"owners":[0])")), "2 keys but 1 answers");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["hex:8"],"owners":[0])")),
            "key \"hex:8\": not hexadecimal");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":[7],"owners":[0])")),
            "\"keys\" holds something else than texts");
}

TEST(Replay, RefusesWhatWouldTakeAllMemoryOrStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(error_of(R"({"system":"jump","x":)" + deep), "nested deeper than 8");
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["k"],"owners":[0],"options":{"a":[[[[[[[1]]]]]]]})")),
            "nested deeper than 8");
  std::string servers;
  for (int i = 0; i < 300; ++i) servers += (i > 0 ? "," : "") + std::string(R"({"name":"n","replicas":65536})");
  EXPECT_NE(error_of(R"({"system":"ex_hash_ring","version":"1","algorithm":"ring","hash":"md5","servers":[)" + servers +
                     R"(],"options":{"num":1},"keys":["k"],"owners":[0]})")
                .find("points: at most"),
            std::string::npos);
  // Brackets in texts open nothing.
  EXPECT_EQ(error_of(line_with("python-memcached", R"("keys":["[[[[[[[[[[\"[[["],"owners":[0],"options":{})")), "none");
}

// Its configuration gives servers that the list of weights does not reach 0.5.
TEST(Replay, McrouterServersWithoutWeightHaveAHalf) {
  const auto with = [](const std::string& weights) {
    return R"({"system":"mcrouter","version":"1","algorithm":"weighted-ch3","hash":"h","servers":[],)"
           R"("options":{"pool_size":3,"weights":)" +
           weights + R"(},"keys":["a","b","c","d","e","f","g","h"],"owners":[0,1,2,0,1,2,0,1]})";
  };
  EXPECT_EQ(replay_line(with("[1,0.5,0.5]"), 1)->differing, replay_line(with("[1]"), 1)->differing);
  EXPECT_EQ(describe(*replay_line(with("[1,0.5,0.5]"), 1)->first_difference),
            describe(*replay_line(with("[1]"), 1)->first_difference));
}

TEST(Replay, RefusesAnUnknownHashThroughTheScheme) {
  const std::string line = R"({"system":"twemproxy","version":"1","algorithm":"ketama","hash":"sha9",)" +
                           std::string(kTwoServers) + R"(,"options":{},"keys":["k"],"owners":[0]})";
  EXPECT_NE(error_of(line).find("option hash: \"sha9\""), std::string::npos);
}

TEST(Replay, ErrorsOfAStreamCarryTheLineNumber) {
  std::istringstream in(line_with("python-memcached", R"("keys":["user:0"],"owners":[0])") + "\n\nnonsense\n");
  const Result<Tally> tally = replay_stream(in);
  ASSERT_FALSE(tally);
  EXPECT_EQ(tally.error().message, "line 3: not a JSON object");
}

TEST(Replay, ReadsTheLastLineWithoutAnEndAndEveryNthLine) {
  const std::string line = line_with("python-memcached", R"("keys":["user:0"],"owners":[0])");
  std::istringstream all(line + "\n" + line + "\n" + line);
  EXPECT_EQ(replay_stream(all)->lines, 3u);
  std::istringstream half(line + "\n" + line + "\n" + line);
  EXPECT_EQ(replay_stream(half, 2)->lines, 2u);
}

TEST(VectorLine, FlattensObjectsAndJoinsLists) {
  Result<VectorLine> line = parse_vector_line(
      R"({"system":"s","version":"v","algorithm":"a","hash":"h","servers":[{"tokens":["1","2"],"zone":null}],)"
      R"("options":{"replication":{"dc1":"3"},"load":1.25,"on":true},"keys":["hex:00ff"],"tokens":[["1","2"]]})");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->keys, std::vector<std::string>{std::string("\x00\xff", 2)});
  EXPECT_EQ(line->options.take("replication.dc1"), "3");
  EXPECT_EQ(line->options.take_or("load", ""), "1.25");
  EXPECT_EQ(line->options.take_or("on", ""), "true");
  EXPECT_FALSE(line->options.take("on"));
  EXPECT_EQ(line->servers[0].take("tokens"), "1,2");
  EXPECT_FALSE(line->servers[0].take("zone"));
  EXPECT_EQ(line->take_column("tokens"), (Column{{"1", "2"}}));
  EXPECT_TRUE(line->columns.empty());
}

TEST(Mapping, EverySystemIsListedOnce) {
  const std::vector<std::string_view> names = replayable_systems();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
  EXPECT_GE(names.size(), 20u);
}

// Every vector file in conformance/: where other systems put keys, Slipring puts them.

std::vector<std::filesystem::path> vector_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SLIPRING_SOURCE_DIR "/conformance")) {
    if (entry.path().extension() == ".zst") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string decompressed(const std::filesystem::path& file) {
  std::string text;
  std::FILE* pipe = popen(("zstd -dcq '" + file.string() + "'").c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[65536];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << file;
  return text;
}

// "twemproxy.jsonl.zst" as a name that gtest accepts.
std::string test_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.filename().string();
  name = name.substr(0, name.find('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

class Vectors : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Vectors, NoKeyDiffers) {
  std::istringstream in(decompressed(GetParam()));
  const Result<Tally> tally = replay_stream(in);
  ASSERT_TRUE(tally) << tally.error().message;
  EXPECT_GT(tally->answers, 0u);
  EXPECT_EQ(tally->differing, 0u) << describe(*tally->first_difference);
}

INSTANTIATE_TEST_SUITE_P(Conformance, Vectors, ::testing::ValuesIn(vector_files()), test_name);

}  // namespace
}  // namespace slipring::conformance
