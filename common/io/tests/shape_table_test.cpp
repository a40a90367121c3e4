// Tests the table of ./nbody tune: the entries for a program and a device, and the files that must
// be rejected.
#include "io/shape_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/tests/said.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct Cost {
  double blocks, slots;
};
constexpr Cost kCosts[] = {{10, 100}, {20, 50}, {40, 25}};  // in the order of the rule
Cost cost_of(int rank) { return kCosts[rank]; }

class ShapeTable : public WithFolder {
 protected:
  void SetUp() override { tuning() = {}; }
  void TearDown() override { tuning() = {}; }
  Tuning read(const std::string& text, const std::string& device = "GPU") {
    std::ofstream(file_) << text;
    return read_shape_table(file_, "step", device);
  }
  std::filesystem::path file_ = folder / "shapes.json";
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

// The rule and its shapes may change between versions; an entry for an old shape must be ignored.
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

// Every message is one line that gives the place in the table, the value there, and the values that
// are allowed.
TEST_F(ShapeTable, WhatIsNoTableIsRefused) {
  const auto shape = [](const std::string& text) {
    return R"({"devices": {"GPU": {"date": "d", "shapes": [
        {"step": "step", "systems": 1, "bodies": 64, "rank": 1}, )" +
           text + "]}}}";
  };
  const std::string all = std::string(file_),
                    numbers = " is not allowed; it must be a whole number from ";
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1: not JSON; the file must be a table that ./nbody tune wrote"},
      {"{\n\n  garbage", ":3: not JSON; the file must be a table that ./nbody tune wrote"},
      {"{\"devices\": {\"\xff\": 1}}",
       ":1: not JSON; the file must be a table that ./nbody tune wrote"},
      {R"({"a": 1e400})",
       ": it holds a number beyond 1.8e308; the file must be a table that ./nbody tune wrote"},
      {"[1]", ": [1] is not allowed; it must be an object"},
      {"{}", ": there is no \"devices\"; ./nbody tune writes one"},
      {R"({"devices": 7})", ": /devices: 7 is not allowed; it must be an object"},
      {R"({"devices": {"another": 7}})",
       ": /devices/another: 7 is not allowed; it must be an object"},
      {R"({"devices": {"GPU": {"shapes": []}}})",
       ": /devices/GPU: there is no \"date\"; ./nbody tune writes one"},
      {R"({"devices": {"GPU": {"date": 1, "shapes": []}}})",
       ": /devices/GPU/date: 1 is not allowed; it must be a string"},
      {R"({"devices": {"GPU": {"date": "d", "shapes": {}}}})",
       ": /devices/GPU/shapes: {} is not allowed; it must be an array of shapes"},
      {shape("\"" + std::string(50, 'x') + "\""), ": /devices/GPU/shapes/1: \"" +
                                                      std::string(39, 'x') +
                                                      "... is not allowed; it must be an object"},
      {shape(R"({"step": "step", "systems": 1})"),
       ": /devices/GPU/shapes/1: there is no \"bodies\"; ./nbody tune writes one"},
      {shape(R"({"step": "step", "systems": 1, "bodies": 64, "rank": -1})"),
       ": /devices/GPU/shapes/1/rank: -1" + numbers + "0 to 2147483647"},
      {shape(R"({"step": "step", "systems": "1", "bodies": 64, "rank": 1})"),
       ": /devices/GPU/shapes/1/systems: \"1\"" + numbers + "1 to 2147483647"},
      {shape(R"({"step": "step", "systems": 1, "bodies": 4294967360, "rank": 1})"),
       ": /devices/GPU/shapes/1/bodies: 4294967360" + numbers + "1 to 2147483647"},
      {shape(R"({"step": "step", "systems": 1, "bodies": 64, "rank": 1.5})"),
       ": /devices/GPU/shapes/1/rank: 1.5" + numbers + "0 to 2147483647"},
      {shape(R"({"step": "step", "systems": 1, "bodies": 64, "rank": 1, "slots": null})"),
       ": /devices/GPU/shapes/1/slots: null is not allowed; it must be a number"}};
  for (const auto& [text, complaint] : cases)
    EXPECT_EQ(refusal_of([&, &text = text] { read(text); }), all + complaint) << text;
  for (const char* name : {"none.json", "."})
    EXPECT_EQ(refusal_of([&] { read_shape_table(folder / name, "step", "GPU"); }),
              (folder / name).string() + ": cannot be read");
}

TEST_F(ShapeTable, IsWhereConfigurationsAre) {
  ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(users_shape_table(), "/somewhere/nbody-steps/shapes.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/user", 1);
  EXPECT_EQ(users_shape_table(), "/home/user/.config/nbody-steps/shapes.json");
}

}  // namespace
}  // namespace nbody
