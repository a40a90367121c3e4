// Makes a test program fail if it runs no test, so that a misspelt filter is noticed.
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
