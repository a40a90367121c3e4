// The table of ./nbody tune: what it says of a program and a device, and what is no such table.
#include "run/shape_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "nbody/error.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct Cost {
  double blocks, slots;
};
constexpr Cost kCosts[] = {{10, 100}, {20, 50}, {40, 25}};  // in the order of the rule
Cost cost_of(int rank) { return kCosts[rank]; }

class ShapeTable : public testing::Test {
 protected:
  void SetUp() override { tuning() = {}; }
  void TearDown() override { tuning() = {}; }
  Tuning read(const std::string& text, const std::string& device = "GPU") {
    std::ofstream(file_) << text;
    return read_shape_table(file_, "step", device);
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "shapes.json";
};

TEST_F(ShapeTable, WithoutATableTheRuleHolds) {
  EXPECT_EQ(shape_origin(tuning()), "");
  EXPECT_EQ(choose_shape(1, 64, 3, cost_of), 0);
  EXPECT_EQ(shape_origin(tuning()), "rule");
  EXPECT_EQ(tuning().chosen->of, 3);
  EXPECT_EQ(tuning().chosen->slots, 100);
}

TEST_F(ShapeTable, HoldsForItsProgramDeviceAndProblem) {
  const std::string text = R"({"devices": {"GPU": {"date": "2026-11-22", "shapes": [
      {"step": "other", "systems": 1, "bodies": 64, "rank": 1},
      {"step": "step", "systems": 1, "bodies": 64, "rank": 2, "blocks": 40, "slots": 25}]}}})";
  tuning() = read(text);
  EXPECT_EQ(choose_shape(1, 64, 3, cost_of), 2);
  EXPECT_EQ(shape_origin(tuning()), "tuned on GPU, 2026-11-22");
  EXPECT_EQ(tuning().chosen->blocks, 40);
  for (const auto& [systems, bodies] : {std::pair{2, 64}, std::pair{1, 65}}) {
    EXPECT_EQ(choose_shape(systems, bodies, 3, cost_of), 0);
    EXPECT_EQ(shape_origin(tuning()), "rule");
  }
  tuning() = read(text, "another GPU");
  EXPECT_EQ(choose_shape(1, 64, 3, cost_of), 0);
}

// The rule and its shapes change from one version to the next.
TEST_F(ShapeTable, AShapeThatIsNotTheSameAnyMoreIsNotTaken) {
  for (const TunedShape& shape :
       {TunedShape{1, 64, 3}, TunedShape{1, 64, 1, 21, 50}, TunedShape{1, 64, 1, 20, 51}}) {
    tuning().shapes = {shape};
    EXPECT_EQ(choose_shape(1, 64, 3, cost_of), 0);
    EXPECT_EQ(shape_origin(tuning()), "rule");
  }
  tuning().shapes = {{1, 64, 1}};
  EXPECT_EQ(choose_shape(1, 64, 3, cost_of), 1);
}

TEST_F(ShapeTable, WhatIsNoTableIsRefused) {
  for (const char* text :
       {"", "{}", "[]", R"({"devices": {"GPU": {"shapes": []}}})",
        R"({"devices": {"GPU": {"date": "d", "shapes": [{"step": "step", "systems": 1}]}}})",
        R"({"devices": {"GPU": {"date": "d", "shapes": [
            {"step": "step", "systems": 1, "bodies": 64, "rank": -1}]}}})",
        R"({"devices": {"GPU": {"date": "d", "shapes": [
            {"step": "step", "systems": "1", "bodies": 64, "rank": 1}]}}})"}) {
    try {
      read(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("shapes.json: not a table of ./nbody tune"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(read_shape_table(folder_.path() / "none.json", "step", "GPU"), UsageError);
}

TEST_F(ShapeTable, IsWhereConfigurationsAre) {
  ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(users_shape_table(), "/somewhere/nbody-steps/shapes.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(users_shape_table(), "/home/somebody/.config/nbody-steps/shapes.json");
}

}  // namespace
}  // namespace nbody
