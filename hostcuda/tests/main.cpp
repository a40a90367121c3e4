// A run without any test fails, because a misspelt filter must not look like success.
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& run = *testing::UnitTest::GetInstance();
  if (testing::GTEST_FLAG(list_tests)) return result;
  if (run.successful_test_count() + run.failed_test_count() == 0) {
    std::fprintf(stderr, "no test ran\n");
    return 1;
  }
  return result;
}
