// The kernel of NVIDIA's CUDA sample "nbody", launched as in the sample. nvcc finds
// bodysystemcuda.cu in the folder of the sample, which is not part of this repository.
#include <string>

#include "bodysystemcuda.cu"
#include "driver.h"

int main(int argc, char** argv) {
  const auto kernel_for = [](int n, float dt, float softening_squared) {
    benchmarks::require_multiple(n, BLOCK_SIZE);
    CUDA_CHECK(setSofteningSquared(static_cast<benchmarks::Real>(softening_squared)));
    return [=](const benchmarks::State& state) {
      DeviceData<benchmarks::Real> data{};
      data.dPos[0] = &state.positions->x;
      data.dPos[1] = &state.new_positions->x;
      data.dVel = &state.velocities->x;
      data.numBodies = static_cast<unsigned>(state.count);
      integrateNbodySystem<benchmarks::Real>(&data, nullptr, 0, dt, 1, data.numBodies, 1,
                                             BLOCK_SIZE, false);
    };
  };
  return benchmarks::measure(argc, argv, benchmarks::Velocities::in_place, kernel_for);
}
