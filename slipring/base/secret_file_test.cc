#include "slipring/base/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace slipring {
namespace {

class SecretFile : public ::testing::Test {
 protected:
  SecretFile() {
    char name[] = "/tmp/slipring-secret-XXXXXX";
    dir_ = mkdtemp(name);
  }
  ~SecretFile() override { std::filesystem::remove_all(dir_); }
  std::string path(const std::string& name) const { return dir_ + "/" + name; }

  std::string dir_;
};

TEST_F(SecretFile, WhatIsWrittenIsReadAndOnlyTheOwnerCanReachIt) {
  ASSERT_TRUE(write_secret_file(path("a"), "one").has_value());
  ASSERT_TRUE(write_secret_file(path("a"), "two\n").has_value());
  EXPECT_EQ(read_secret_file(path("a")).value(), "two\n");
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(SecretFile, AFileThatOthersCanReachIsRefusedAndTheCureNamed) {
  ASSERT_TRUE(write_secret_file(path("a"), "one").has_value());
  for (const mode_t mode : {0640, 0604, 0660, 0644}) {
    ::chmod(path("a").c_str(), mode);
    const auto got = read_secret_file(path("a"));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, Code::kPermissionDenied);
    EXPECT_NE(got.error().message.find("chmod 600 " + path("a")), std::string::npos);
  }
}

TEST_F(SecretFile, AMissingFileADirectoryAndAHugeFileAreErrorsThatNameIt) {
  EXPECT_EQ(read_secret_file(path("none")).error().code, Code::kNotFound);
  EXPECT_EQ(read_secret_file(dir_).error().code, Code::kPermissionDenied);
  ASSERT_TRUE(write_secret_file(path("big"), std::string((1u << 20) + 1, 'x')).has_value());
  EXPECT_EQ(read_secret_file(path("big")).error().code, Code::kResourceExhausted);
  EXPECT_NE(read_secret_file(path("none")).error().message.find(path("none")), std::string::npos);
}

TEST_F(SecretFile, WritingWhereNothingCanBeWrittenSaysSo) {
  EXPECT_EQ(write_secret_file(path("no/such/dir"), "x").error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace slipring
