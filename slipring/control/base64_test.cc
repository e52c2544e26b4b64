#include "slipring/control/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace slipring::control {
namespace {

TEST(Base64, KnownAnswersOfTheStandard) {
  const std::pair<std::string, std::string> answers[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : answers) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
  }
}

TEST(Base64, WhatIsEncodedDecodesToItself) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) { return base64_decode(base64_encode(bytes)).value() == bytes; }));
}

TEST(Base64, AnythingElseIsRefused) {
  for (const char* text : {"Z", "Zg=", "Zg===", "Zg==Zg==", "Z g=", "Zh==", "Zm9=", "====", "Zm9v\n", "=m9v"}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace slipring::control
