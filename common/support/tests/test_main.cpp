// A test program that runs no test has not passed: a filter with a spelling mistake must be seen.
#include <gtest/gtest.h>

#include <iostream>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::cerr << "no test matches the filter\n";
    return 1;
  }
  return failed;
}
