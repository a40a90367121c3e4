// Writes the library's forces on the bodies of forces_of_step.cpp, from the last of four calls. The
// first calls wait until their values have been examined; the last call does not wait.
//
// usage: forces_of_library BODIES one|many direct|tree FILE
#include <string_view>

#include "forces.h"
#include "nbody.hpp"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const nbody::Systems systems =
      make_bodies(std::atoi(argv[1]), std::string_view(argv[2]) == "one");
  std::vector<float> positions, masses;
  for (const nbody::Body& body : systems.bodies) {
    positions.insert(positions.end(), {body.x, body.y, body.z});
    masses.push_back(body.mass);
  }
  nbody::gravity::Options options;
  options.device = NBODY_CUDA;
  options.method = std::string_view(argv[3]) == "tree" ? NBODY_TREE : NBODY_DIRECT;
  std::vector<float> forces;
  for (int call = 0; call < 4; ++call)
    forces = nbody::gravity::accelerations<float>({positions, {}}, masses, kSoftening, {}, options);
  return write_vectors(argv[4], forces);
}
