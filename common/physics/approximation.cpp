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
// 64: of 150 random problems (tests/step_tests/random_ladder_test.cpp, seeds 7000 to 7149, of 20 to
// 1200 bodies) and of nine scenarios with 2000 bodies. Bodies on a line err the most, by two to
// four times the others: few nodes make most of their forces.
constexpr std::array<Row, 6> kRows = {{
    {0.0, {0, 0}, {0, 0}},
    {0.2, {2.5e-3, 7.5e-3}, {4.1e-5, 2.0e-4}},
    {0.4, {1.1e-2, 2.5e-2}, {5.1e-4, 1.5e-3}},
    {0.6, {2.7e-2, 6.9e-2}, {2.6e-3, 9.8e-3}},
    {0.8, {6.2e-2, 1.4e-1}, {1.1e-2, 3.3e-2}},
    {1.0, {7.0e-2, 1.8e-1}, {2.1e-2, 7.8e-2}},
}};

}  // namespace

// Between two rows, the row of the larger angle.
ErrorLimit error_limit(const Approximation& approximation) {
  const auto row = std::find_if(kRows.begin(), kRows.end() - 1, [&](const Row& candidate) {
    return approximation.theta <= static_cast<float>(candidate.theta);
  });
  return approximation.multipole == 0 ? row->monopole : row->quadrupole;
}

}  // namespace nbody
