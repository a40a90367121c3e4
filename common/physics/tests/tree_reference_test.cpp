#include "physics/validation/tree_reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "physics/reference.h"
#include "scenarios/initial_conditions.h"

namespace nbody {
namespace {

constexpr double kEpsilonSquared = 0.05 * 0.05;

Systems sphere_of(int bodies) {
  return make_scenario(find_scenario("plummer"), {1, bodies, 3, 0.05}).systems;
}

// Returns the tree's root mean square error, relative to the sum of the forces' magnitudes.
double error_of_tree(const Systems& systems, TreeDesign design, float theta, int multipole) {
  const ReferenceSystem direct(systems.system(0));
  const TreeReference tree(systems.system(0), design, theta);
  double squares = 0;
  for (int i = 0; i < systems.bodies_per_system; ++i) {
    const auto exact = direct.force(i, kEpsilonSquared);
    const auto found = tree.force(i, multipole, kEpsilonSquared);
    const double error = length(found.acceleration - exact.acceleration) / exact.magnitude;
    squares += error * error;
  }
  return std::sqrt(squares / systems.bodies_per_system);
}

TEST(TreeReference, AtNoAngleIsTheDirectSum) {
  for (const int n : {2, 17, 300}) EXPECT_LT(error_of_tree(sphere_of(n), {16, 32}, 0, 2), 1e-14);
}

// Halving the angle reduces the error to about a sixteenth, or to a quarter without quadrupoles.
TEST(TreeReference, ErrsLessAtSmallerAngles) {
  const Systems systems = sphere_of(2000);
  for (const auto& [multipole, least] : {std::pair(0, 3.0), {2, 8.0}}) {
    const double at_06 = error_of_tree(systems, {1, 1}, 0.6f, multipole),
                 at_03 = error_of_tree(systems, {1, 1}, 0.3f, multipole);
    EXPECT_LT(at_06, multipole == 0 ? 2e-2 : 5e-3);
    EXPECT_GT(at_06, least * at_03);
  }
  EXPECT_GT(error_of_tree(systems, {1, 1}, 0.6f, 2), error_of_tree(systems, {16, 32}, 0.6f, 2));
}

// A distant node acts through its mass and its quadrupole; the relative error that remains falls
// with the third power of the distance.
TEST(TreeReference, ActsByItsMassAndQuadrupole) {
  double errors[2];
  for (const int k : {0, 1}) {
    Systems systems = sphere_of(200);
    for (Body& body : systems.bodies) body.y *= 0.2f, body.mass *= 1 + body.x * body.x;
    Body& far = systems.bodies.emplace_back(systems.bodies.front());
    far.x = k == 0 ? 100.0f : 200.0f, far.y = 37, far.mass = 0;
    systems.bodies_per_system = 201;
    const auto exact = ReferenceSystem(systems.system(0)).force(200, 1e-12);
    const auto found = TreeReference(systems.system(0), {1, 1}, 1).force(200, 2, 1e-12);
    errors[k] = length(found.acceleration - exact.acceleration) / exact.magnitude;
  }
  EXPECT_LT(errors[0], 1e-3);
  EXPECT_LT(errors[1], errors[0] / 4);
}

}  // namespace
}  // namespace nbody
