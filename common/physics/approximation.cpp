#include "physics/approximation.h"

#include <algorithm>
#include <array>

namespace nbody {
namespace {

struct Row {
  double theta;
  ErrorLimit monopole, quadrupole;
};

// Twice the largest error found, by step15_barnes_hut with leaves of up to 16 bodies and groups of
// 32: of 150 random problems (tests/step_tests/random_ladder_test.cpp, seeds 7000 to 7149, of 20 to
// 1200 bodies), of nine scenarios with 2000 bodies, and of 40 to 500 bodies evenly spaced on lines,
// planes and bars. The latter err the most, by up to ten times the scenarios: few nodes make most
// of their forces, and all of them err alike.
constexpr std::array<Row, 7> kRows = {{
    {0.0, {0, 0}, {0, 0}},
    {0.2, {2.7e-3, 7.6e-3}, {9.6e-5, 2.3e-4}},
    {0.3, {6.5e-3, 1.8e-2}, {4.0e-4, 1.6e-3}},
    {0.4, {1.7e-2, 3.8e-2}, {2.5e-3, 5.1e-3}},
    {0.6, {3.8e-2, 1.1e-1}, {2.4e-2, 3.6e-2}},
    {0.8, {8.2e-2, 2.5e-1}, {3.9e-2, 1.4e-1}},
    {1.0, {2.7e-1, 9.7e-1}, {1.9e-1, 9.4e-1}},
}};

}  // namespace

// Between two rows, the row of the larger angle.
ErrorLimit error_limit(const Approximation& approximation) {
  const auto row = std::find_if(kRows.begin(), kRows.end() - 1, [&](const Row& candidate) {
    return approximation.theta <= static_cast<float>(candidate.theta);
  });
  return approximation.multipole == 0 ? row->monopole : row->quadrupole;
}

std::optional<Approximation> finer(const Approximation& approximation) {
  const float theta = approximation.multipole == 0 ? 0.2f : 0.3f;  // limits well below kMaxLimit
  if (approximation.theta <= theta) return std::nullopt;
  return Approximation{theta, approximation.multipole};
}

}  // namespace nbody
