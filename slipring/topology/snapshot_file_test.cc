// The file on disk is the last good snapshot or an error that names the file.
#include "slipring/topology/snapshot_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "slipring/topology/codec.h"
#include "slipring/topology/testing.h"

namespace slipring {
namespace {

namespace fs = std::filesystem;

class SnapshotFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "slipring-snapshot-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    path_ = (dir_ / "snapshot").string();
  }
  void TearDown() override { fs::remove_all(dir_); }

  void put(std::string_view bytes) { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()));
  }

  fs::path dir_;
  std::string path_;
};

TEST_F(SnapshotFile, GivesBackWhatWasWrittenLast) {
  ASSERT_TRUE(write_snapshot_file(path_, testing::make_snapshot(3, 1)));
  ASSERT_TRUE(write_snapshot_file(path_, testing::make_planned_snapshot(3)));
  auto back = read_snapshot_file(path_);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, testing::make_planned_snapshot(3));
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
}

TEST_F(SnapshotFile, IsReadableByItsOwnerOnly) {
  put("old");
  ::chmod(path_.c_str(), 0644);
  ASSERT_TRUE(write_snapshot_file(path_, testing::make_snapshot(1)));
  struct stat info = {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(SnapshotFile, AMissingFileIsNotFound) {
  const auto back = read_snapshot_file(path_);
  EXPECT_EQ(back.error().code, Code::kNotFound);
  EXPECT_EQ(back.error().message, path_ + ": open: No such file or directory");
}

TEST_F(SnapshotFile, ADamagedFileIsRefusedByNameAndKept) {
  std::string damaged = encode_snapshot(testing::make_snapshot(3));
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& content : {damaged, damaged.substr(0, 40), std::string(), std::string("hello")}) {
    put(content);
    const auto back = read_snapshot_file(path_);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, Code::kDataLoss);
    EXPECT_TRUE(back.error().message.starts_with(path_ + ": ")) << back.error().message;
    EXPECT_EQ(bytes(), content);
  }
}

TEST_F(SnapshotFile, AWellFormedInvalidSnapshotIsRefused) {
  Snapshot bad = testing::make_snapshot(2);
  bad.pools[0].layout.nodes[0].weight_milli = -1;
  put(encode_snapshot(bad));
  const auto back = read_snapshot_file(path_);
  EXPECT_EQ(back.error().code, Code::kInvalidArgument);
  EXPECT_EQ(back.error().message, path_ + ": pool main: node n1: weight -0.001: must be 0 to 1000");
}

TEST_F(SnapshotFile, AFileLargerThanAnySnapshotIsNotReadToItsEnd) {
  put("x");
  fs::resize_file(path_, kSnapshotBytesMax * 4);
  EXPECT_EQ(read_snapshot_file(path_).error().code, Code::kDataLoss);
}

TEST_F(SnapshotFile, AFailedWriteKeepsTheOldFile) {
  ASSERT_TRUE(write_snapshot_file(path_, testing::make_snapshot(3, 1)));
  const std::string before = bytes();
  fs::create_directory(path_ + ".new");
  const Status status = write_snapshot_file(path_, testing::make_snapshot(3, 2));
  EXPECT_EQ(status.error().code, Code::kUnavailable);
  EXPECT_EQ(bytes(), before);
  EXPECT_FALSE(write_snapshot_file((dir_ / "no" / "folder").string(), testing::make_snapshot(1)));
}

TEST_F(SnapshotFile, AFailedRenameLeavesNothingBeside) {
  fs::create_directory(path_);
  EXPECT_FALSE(write_snapshot_file(path_, testing::make_snapshot(1)));
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(read_snapshot_file(path_).error().code, Code::kUnavailable) << "a folder is no file";
}

TEST_F(SnapshotFile, ALeftoverOfACrashIsReplaced) {
  std::ofstream(path_ + ".new") << "half a snap";
  ASSERT_TRUE(write_snapshot_file(path_, testing::make_snapshot(1)));
  EXPECT_EQ(*read_snapshot_file(path_), testing::make_snapshot(1));
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace slipring
