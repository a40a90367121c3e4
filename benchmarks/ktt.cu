// The n-body kernel of the autotuner KTT. nvcc finds Examples/Nbody/Nbody.cu in KTT's folder, which
// is not part of this repository. Compiler options define the macros that make up a configuration.
#include "Nbody.cu"
#include "driver.h"

int main(int argc, char** argv) {
  const auto kernel_for = [](int n, float dt, float softening_squared) {
    constexpr int kBodiesPerBlock = WORK_GROUP_SIZE_X * OUTER_UNROLL_FACTOR;
    benchmarks::require_multiple(n, kBodiesPerBlock * WORK_GROUP_SIZE_Y);
    return [=](const benchmarks::State& state) {
      nbody_kernel<<<state.count / kBodiesPerBlock, dim3(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y)>>>(
          dt, state.positions, nullptr, nullptr, nullptr, nullptr, state.new_positions,
          state.velocities, nullptr, nullptr, nullptr, state.new_velocities, 1.0f,
          softening_squared, state.count);
    };
  };
  return benchmarks::measure(argc, argv, benchmarks::Velocities::twice, kernel_for);
}
