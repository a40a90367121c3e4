#include "io/diagnostics_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/tests/said.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

// Returns two systems of two bodies each, whose energy depends on the step.
Snapshot state(long long step) {
  Snapshot snapshot{.systems = Systems(2, 2)};
  snapshot.systems.bodies = {{-1, 0, 0, 0, 1, 0, 1},
                             {1, 0, 0, 0, -1, 0, 1},
                             {0, 0, 0, static_cast<float>(step), 0, 0, 4},
                             {0, 5, 0, 0, 0, 0, 1}};
  snapshot.softening = 0.1;
  snapshot.step = step;
  snapshot.time = 0.5 * static_cast<double>(step);
  return snapshot;
}

void write_rows(const std::filesystem::path& file, std::initializer_list<long long> steps) {
  DiagnosticsFile diagnostics(file, 2, std::nullopt);
  for (const long long step : steps) diagnostics.append(state(step));
}

std::vector<std::string> split(const std::string& text, char end) {
  std::vector<std::string> pieces;
  std::istringstream in(text);
  for (std::string piece; std::getline(in, piece, end);) pieces.push_back(piece);
  return pieces;
}
std::vector<std::string> lines_of(const std::string& text) { return split(text, '\n'); }
std::vector<std::string> cells_of(const std::string& line) { return split(line, ','); }

class DiagnosticsFileTest : public WithFolder {
 protected:
  std::string resumed(const std::string& content, long long step,
                      std::initializer_list<long long> steps) {
    const auto file = folder.with("resumed.csv", content);
    DiagnosticsFile diagnostics(file, 2, step);
    for (const long long next : steps) diagnostics.append(state(next));
    return folder.content("resumed.csv");
  }
  std::string refusal(const std::string& content) {
    return refusal_of([&] { require_continuable(folder.with("bad.csv", content), 2, 100); });
  }
};

TEST_F(DiagnosticsFileTest, HasARowForEverySystemAtEveryTime) {
  write_rows(folder / "d.csv", {0, 4});
  const auto lines = lines_of(folder.content("d.csv"));
  ASSERT_EQ(lines.size(), 5u);
  const auto names = cells_of(lines[0]), later = cells_of(lines[4]);
  ASSERT_EQ(later.size(), names.size());
  const auto value = [&](const std::string& name) {
    const auto column = std::find(names.begin(), names.end(), name) - names.begin();
    return std::stod(later.at(static_cast<std::size_t>(column)));
  };
  const double potential = -4 / std::sqrt(25.01);
  EXPECT_EQ(value("step"), 4);
  EXPECT_EQ(value("time"), 2);
  EXPECT_EQ(value("system"), 1);
  EXPECT_DOUBLE_EQ(value("kinetic"), 32);
  EXPECT_DOUBLE_EQ(value("potential"), potential);
  EXPECT_DOUBLE_EQ(value("energy"), 32 + potential);
  EXPECT_DOUBLE_EQ(value("energy_error"), 32 / -potential);
  EXPECT_EQ(value("momentum_x"), 16);
  EXPECT_EQ(value("momentum_y"), 0);
  EXPECT_EQ(value("angular_momentum_z"), 0);
  EXPECT_DOUBLE_EQ(value("virial_ratio"), 64 / -potential);
  EXPECT_EQ(value("centre_x"), 0);
  EXPECT_EQ(value("centre_y"), 1);
  EXPECT_EQ(value("r10"), 1);
  EXPECT_EQ(value("r90"), 4);
}

TEST_F(DiagnosticsFileTest, AFloat64StateIsNotRounded) {
  Snapshot exact = state(0);
  for (const Body& body : exact.systems.bodies) exact.exact.push_back(widened(body));
  exact.exact[3].vx = 1e-30;
  exact.exact[2].y = 1e-12;
  DiagnosticsFile diagnostics(folder / "d.csv", 2, std::nullopt);
  diagnostics.append(exact);
  const auto row = cells_of(lines_of(folder.content("d.csv"))[2]);
  EXPECT_DOUBLE_EQ(std::stod(row[7]), 1e-30);           // momentum_x
  EXPECT_NEAR(std::stod(row[15]), 1 + 0.8e-12, 1e-15);  // centre_y
}

// With a small budget the potential is estimated from some of the 300 bodies; with a large one, all
// pairs are summed.
TEST_F(DiagnosticsFileTest, TheBudgetDecidesWhetherThePotentialIsAnEstimate) {
  Snapshot many{.systems = Systems(1, 300)};
  for (int i = 0; i < 300; ++i) {
    const auto x = static_cast<float>(i);
    many.systems.bodies[static_cast<std::size_t>(i)] = {x, 0.01f * x * x, 0, 0, 0, 0, 1};
  }
  const auto potential_error = [&](double budget) {
    DiagnosticsFile(folder / "d.csv", 1, std::nullopt, budget).append(many);
    return std::stod(cells_of(lines_of(folder.content("d.csv"))[1]).back());
  };
  EXPECT_GT(potential_error(1e4), 0);
  EXPECT_EQ(potential_error(1e5), 0);
}

TEST_F(DiagnosticsFileTest, AResumedFileEndsWithTheSameBytes) {
  write_rows(folder / "whole.csv", {0, 2, 4, 6});
  const std::string whole = folder.content("whole.csv");
  write_rows(folder / "part.csv", {0, 2, 4});
  const std::string part = folder.content("part.csv");
  EXPECT_EQ(resumed(part, 4, {6}), whole);
  EXPECT_EQ(resumed(part, 3, {4, 6}), whole) << "a row later than the checkpoint stayed";
  EXPECT_EQ(resumed(part + "6,3,0,0.5", 4, {6}), whole) << "a row cut short stayed";
  const std::string row_of_one_system = lines_of(whole)[7] + '\n';
  EXPECT_EQ(resumed(part + row_of_one_system, 6, {6}), whole) << "a state cut short stayed";
  DiagnosticsFile begun_on_resuming(folder / "new.csv", 2, 4);
  EXPECT_FALSE(begun_on_resuming.has_rows());
}

TEST_F(DiagnosticsFileTest, WhatIsNoSuchFileIsRefusedAndKept) {
  write_rows(folder / "good.csv", {0, 2});
  const std::string good = folder.content("good.csv");
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_TRUE(says(refusal("id,m,x,y,z\n"), "bad.csv is not a diagnostics file"));
  const std::string header = lines_of(good)[0] + '\n', first = lines_of(good)[1] + '\n';
  EXPECT_TRUE(says(refusal(header + first + first), "bad.csv:3:"));
  EXPECT_TRUE(says(refusal(header + "0,zero\n"), "bad.csv:2:"));
  EXPECT_EQ(folder.content("bad.csv"), header + "0,zero\n");
}

}  // namespace
}  // namespace nbody
