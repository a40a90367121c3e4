#include "support/nearest.h"

#include <gtest/gtest.h>

#include "support/text.h"

namespace nbody {
namespace {

TEST(Nearest, EditsAreInsertedLeftOutReplacedOrSwappedLetters) {
  EXPECT_EQ(edits_between("bodies", "bodies"), 0);
  EXPECT_EQ(edits_between("bodys", "bodies"), 2);
  EXPECT_EQ(edits_between("setps", "steps"), 1);
  EXPECT_EQ(edits_between("", "dt"), 2);
}

TEST(Nearest, ANameThatIsNotNearIsNotNamed) {
  const std::vector<std::string> known{"--bodies", "--dt", "--steps", "--systems", "--diagnostics"};
  EXPECT_EQ(nearest("--bodys", known), "--bodies");
  EXPECT_EQ(nearest("--setps", known), "--steps");
  EXPECT_EQ(nearest("--diag", known), "--diagnostics");
  EXPECT_EQ(nearest("--colour", known), "");
  EXPECT_EQ(nearest("", known), "");
}

TEST(Count, IsAWholeNumberHoweverItIsWritten) {
  EXPECT_EQ(parse_count<long long>("100"), 100);
  EXPECT_EQ(parse_count<long long>("1e5"), 100000);
  EXPECT_EQ(parse_count<long long>("2.5E+6"), 2500000);
  EXPECT_EQ(parse_count<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  for (const char* wrong : {"", "1.0", "1.5", "1.25e1", "1e-3", "-1e3", "1e", "e5", " 1e5", "1e5 ",
                            "1e17", "1e400", "nan", "0x1e5"})
    EXPECT_FALSE(parse_count<long long>(wrong)) << wrong;
}

}  // namespace
}  // namespace nbody
