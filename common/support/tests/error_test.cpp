#include "nbody/error.h"

#include <gtest/gtest.h>

namespace nbody {
namespace {

TEST(UsageError, IsOneLineWhateverIsInIt) {
  EXPECT_STREQ(UsageError("a\nb\x1b[2J\x7f").what(), "a?b?[2J?");
  EXPECT_STREQ(UsageError("M\xC3\xBCller").what(), "M\xC3\xBCller");
}

TEST(UsageError, KeepsTheEndsOfALongOne) {
  const std::string text = UsageError("what" + std::string(100000, 'x') + "allowed").what();
  EXPECT_LT(text.size(), 1000u);
  EXPECT_TRUE(text.starts_with("what"));
  EXPECT_TRUE(text.ends_with("allowed"));
}

}  // namespace
}  // namespace nbody
