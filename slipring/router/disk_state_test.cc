// The state on disk is read back as it was written, and anything else is refused by name.
#include "slipring/router/disk_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "slipring/base/secret_file.h"

namespace slipring::router {
namespace {

DiskState sample() {
  DiskState state;
  state.snapshot.epoch = Epoch{7};
  state.snapshot.cluster_id = "0123456789abcdef";
  Pool pool;
  pool.name = "main";
  for (int i = 1; i <= 2; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.instance.address = "127.0.0.1:700" + std::to_string(i);
    pool.layout.nodes.push_back(node);
  }
  state.snapshot.pools.push_back(pool);
  state.spare = {9, "slipring-r-0123456789abcdef-r1-g9", "00112233445566778899aabbccddeeff"};
  return state;
}

class DiskStateFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/slipring-state-XXXXXX";
    dir_ = ::mkdtemp(name);
    path_ = disk_state_path(dir_, "r1");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_;
  std::string path_;
};

TEST(DiskState, DecodesToWhatWasEncoded) {
  EXPECT_EQ(*decode_disk_state(encode_disk_state(sample())), sample());
}

TEST(DiskState, RefusesEveryCutAndEveryChangedByte) {
  const std::string bytes = encode_disk_state(sample());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode_disk_state(bytes.substr(0, i)));
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    EXPECT_FALSE(decode_disk_state(changed)) << i;
  }
  EXPECT_FALSE(decode_disk_state(bytes + "x"));
}

TEST_F(DiskStateFile, IsPrivateAndReadBack) {
  ASSERT_TRUE(write_disk_state(path_, sample()));
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(*read_disk_state(path_), sample());
}

TEST_F(DiskStateFile, DamagedOrMissingIsNamedAndLeftAsItIs) {
  EXPECT_EQ(read_disk_state(path_).error().code, Code::kNotFound);
  ASSERT_TRUE(write_secret_file(path_, "SLPRRTR1 and then rubbish"));
  const auto damaged = read_disk_state(path_);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, Code::kDataLoss);
  EXPECT_TRUE(damaged.error().message.starts_with(path_));
  EXPECT_EQ(*read_secret_file(path_), "SLPRRTR1 and then rubbish");
}

}  // namespace
}  // namespace slipring::router
