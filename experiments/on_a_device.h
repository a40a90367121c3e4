// A test fixture for experiments. It skips the tests if platform() finds no device.
#pragma once

#include <gtest/gtest.h>

#include "nbody/error.h"
#include "support/platform.h"

namespace experiments {

template <nbody::Platform (*platform)(), class Base = testing::Test>
class OnADevice : public Base {
 protected:
  void SetUp() override {
    try {
      platform();
    } catch (const nbody::NoDevice& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace experiments
