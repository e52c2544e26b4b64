#include "slipring/control/secret_file.h"

#include <gtest/gtest.h>

namespace slipring::control {
namespace {

TEST(NodeCredentials, TheLineOfTheAddressIsTakenBeforeTheStar) {
  const auto all = NodeCredentials::parse("# who\n\n* any p w \n10.0.0.1:6379 admin secret\r\n", "f").value();
  EXPECT_EQ(all.find("10.0.0.1:6379")->user, "admin");
  EXPECT_EQ(all.find("10.0.0.1:6379")->password, "secret");
  EXPECT_EQ(all.find("10.0.0.2:6379")->user, "any");
  EXPECT_EQ(all.find("10.0.0.2:6379")->password, "p w ");
}

TEST(NodeCredentials, WithoutALineThereIsNone) {
  const auto all = NodeCredentials::parse("10.0.0.1:6379 admin secret\n", "f").value();
  EXPECT_EQ(all.find("10.0.0.9:6379"), nullptr);
  EXPECT_TRUE(NodeCredentials::parse("", "f").value().all().empty());
}

TEST(NodeCredentials, ABadLineIsNamedByNumberAndItsTextIsNotShown) {
  for (const char* text :
       {"# a\nsecret\n", "# a\n1.2.3.4:1 secret\n", "# a\nno-port user secret\n", "# a\n* user \n"}) {
    const auto got = NodeCredentials::parse(text, "creds");
    ASSERT_FALSE(got.has_value()) << text;
    EXPECT_EQ(got.error().message, "creds:2: must be: address user password");
  }
}

TEST(NodeCredentials, WhatIsFormattedIsParsed) {
  const std::vector<NodeCredential> lines = {{"127.0.0.1:7001", "slipring-admin", "abc"}, {"*", "u", "p q"}};
  const auto all = NodeCredentials::parse(format_credentials(lines), "f").value();
  ASSERT_EQ(all.all().size(), 2u);
  EXPECT_EQ(all.find("127.0.0.1:7001")->password, "abc");
  EXPECT_EQ(all.find("x:1")->password, "p q");
}

}  // namespace
}  // namespace slipring::control
