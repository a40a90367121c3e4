// Tests the classes that reorder bodies, and the masses of tiles.
#include "nbody/bodies.h"

#include <gtest/gtest.h>

#include <vector>

namespace nbody {
namespace {

// Returns bodies with these masses. Each body has a different x, which identifies the body.
Systems with_masses(int count, const std::vector<float>& masses) {
  Systems systems(count, static_cast<int>(masses.size()) / count);
  for (std::size_t k = 0; k < masses.size(); ++k) {
    systems.bodies[k].x = static_cast<float>(k);
    systems.bodies[k].mass = masses[k];
  }
  return systems;
}

std::vector<float> places(const Systems& systems) {
  std::vector<float> x;
  for (const Body& body : systems.bodies) x.push_back(body.x);
  return x;
}

TEST(MassOrder, GroupsEverySystemByItselfAndPutsItBack) {
  Systems systems = with_masses(2, {1, 2, 1, 2, 3, 3, 0, 3});
  EXPECT_TRUE(MassOrder::is_needed(systems));
  MassOrder order(systems);
  EXPECT_EQ(places(systems), (std::vector<float>{0, 2, 1, 3, 4, 5, 7, 6}));
  for (Body& body : systems.bodies) body.vx = body.x;
  order.restore();
  EXPECT_EQ(places(systems), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  for (const Body& body : systems.bodies) EXPECT_EQ(body.vx, body.x);
}

TEST(MassOrder, LeavesGroupsAndManyMassesAsTheyAre) {
  for (const std::vector<float>& masses :
       {std::vector<float>{2, 2, 1, 1, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1}}) {
    Systems systems = with_masses(1, masses);
    const std::vector<float> before = places(systems);
    EXPECT_FALSE(MassOrder::is_needed(systems));
    MassOrder order(systems);
    EXPECT_EQ(places(systems), before);
    order.restore();
    EXPECT_EQ(places(systems), before);
  }
}

TEST(MassiveFirst, PutsBodiesWithoutMassBehindAndBack) {
  Systems systems = with_masses(3, {1, 0, 2, 0, 0, 3, 4, 0, 0});
  MassiveFirst order(systems);
  EXPECT_EQ(places(systems), (std::vector<float>{0, 2, 1, 5, 3, 4, 6, 7, 8}));
  EXPECT_EQ(order.sources(), 2);
  order.restore();
  EXPECT_EQ(places(systems), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8}));

  Systems heavy = with_masses(2, {1, 2, 3, 4}), light = with_masses(1, {0, 0});
  EXPECT_EQ(MassiveFirst(heavy).sources(), 2);
  EXPECT_EQ(places(heavy), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(MassiveFirst(light).sources(), 1);  // not 0: the only chunk of sources would be empty
}

TEST(MassesOfTiles, AreThoseThatAllBodiesShare) {
  EXPECT_EQ(masses_of_tiles(with_masses(2, {1, 1, 2, 1, 2, 2, 3, 3, 3, 3}), 2),
            (std::vector<float>{1, -1, -1, -1, 3, -1}));
  // Massless bodies fill up the last tile.
  EXPECT_EQ(masses_of_tiles(with_masses(1, {1, 1, 0}), 2), (std::vector<float>{1, 0}));
}

}  // namespace
}  // namespace nbody
