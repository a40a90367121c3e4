// GPU Gems 3, introduction: particle-mesh methods add masses to a periodic grid, compute the
// potential by a Fourier transform and read the forces from the grid. There is no sum over pairs.
// Details smaller than a cell are lost. The transform here is a plain sum along each axis, not an
// FFT.
//
// The check uses a lattice with at least two bodies per cell along each axis. A sine wave displaces
// the bodies. Linear theory gives the wave's force.
//
//   particle_mesh [BODIES_PER_SIDE]
#include "claim.h"

namespace {

constexpr int kSide = 32;  // cells per axis
constexpr int kCells = kSide * kSide * kSide;
constexpr int kBlock = 256;
constexpr float kPi = 3.14159265f;

struct Cell {
  int low, high;
  float of_high;  // share of the mass that the higher cell gets
};
__device__ inline Cell cell_of(float x) {
  const float place = x * kSide - 0.5f, low = floorf(place);
  const int k = static_cast<int>(low);
  return {(k + kSide) % kSide, (k + 1 + kSide) % kSide, place - low};
}
// Returns one of the eight cells around a body. Sets `share`, the part of its mass in that cell.
__device__ inline int corner(int k, Cell x, Cell y, Cell z, float& share) {
  share = (k & 1 ? x.of_high : 1 - x.of_high) * (k & 2 ? y.of_high : 1 - y.of_high) *
          (k & 4 ? z.of_high : 1 - z.of_high);
  return ((k & 4 ? z.high : z.low) * kSide + (k & 2 ? y.high : y.low)) * kSide +
         (k & 1 ? x.high : x.low);
}

// Adds each body's mass to its cells' densities (mass per volume of a cell).
__global__ void deposit(const float4* bodies, float2* grid, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const Cell x = cell_of(bodies[i].x), y = cell_of(bodies[i].y), z = cell_of(bodies[i].z);
  for (int k = 0; k < 8; ++k) {
    float share;
    const int cell = corner(k, x, y, z, share);
    atomicAdd(&grid[cell].x, bodies[i].w * share * kCells);
  }
}

// Transforms along the axis on which neighbouring cells are `distance` apart. The sign is -1 for
// the forward transform and 1 for the inverse.
__global__ void transform(const float2* from, float2* to, int distance, int sign) {
  const int cell = blockIdx.x * kBlock + threadIdx.x;
  const int place = cell / distance % kSide, first = cell - place * distance;
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < kSide; ++k) {
    const float2 value = from[first + k * distance];
    const float angle = sign * 2 * kPi * (place * k % kSide) / kSide;
    const float c = cosf(angle), s = sinf(angle);
    sum.x += value.x * c - value.y * s;
    sum.y += value.x * s + value.y * c;
  }
  to[cell] = sum;
}

__device__ inline float wave_number(int k) {
  return 2 * kPi * static_cast<float>(k <= kSide / 2 ? k : k - kSide);
}

// Turns the density into the force along one axis: multiplies it by -i k times -4 pi / k^2.
__global__ void solve(const float2* density, float2* force, int axis) {
  const int cell = blockIdx.x * kBlock + threadIdx.x;
  const float k[3] = {wave_number(cell % kSide), wave_number(cell / kSide % kSide),
                      wave_number(cell / kSide / kSide)};
  const float squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const float factor = squared > 0 ? 4 * kPi * k[axis] / squared / kCells : 0.0f;
  force[cell] = make_float2(-density[cell].y * factor, density[cell].x * factor);
}

__global__ void read(const float4* bodies, const float2* grid, float* forces, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const Cell x = cell_of(bodies[i].x), y = cell_of(bodies[i].y), z = cell_of(bodies[i].z);
  float sum = 0;
  for (int k = 0; k < 8; ++k) {
    float share;
    const int cell = corner(k, x, y, z, share);
    sum += grid[cell].x * share;
  }
  forces[i] = sum;
}

// Transforms along all axes and leaves the result in `one`.
void transform_all(float2* one, float2* other, int sign) {
  constexpr int kBlocks = kCells / kBlock;
  transform<<<kBlocks, kBlock>>>(one, other, 1, sign);
  transform<<<kBlocks, kBlock>>>(other, one, kSide, sign);
  transform<<<kBlocks, kBlock>>>(one, other, kSide * kSide, sign);
  CHECKED(cudaMemcpyAsync(one, other, kCells * sizeof(float2), cudaMemcpyDeviceToDevice));
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 128;
  if (side < 64 || side > 512 || side % 64 != 0) {
    std::fprintf(stderr, "particle_mesh: needs 64, 128, ... or 512 bodies per side\n");
    return 2;
  }
  const int n = side * side * side, blocks = (n - 1) / kBlock + 1;
  constexpr float kAmplitude = 0.002f;
  const auto displacement = [](float x) { return kAmplitude * std::sin(2 * kPi * x); };
  std::vector<float4> host;
  for (int i = 0; i < n; ++i) {
    const auto at = [side](int k) { return (static_cast<float>(k) + 0.5f) / side; };
    const float x = at(i % side);
    host.push_back(make_float4(x + displacement(x), at(i / side % side), at(i / side / side),
                               1.0f / static_cast<float>(n)));
  }
  const claim::OnDevice<float4> bodies(host);
  const std::vector<float2> zero(kCells, make_float2(0, 0));
  const claim::OnDevice<float2> density(zero), force(zero), other(zero);
  std::vector<claim::OnDevice<float>*> forces;
  for (int axis = 0; axis < 3; ++axis) {
    forces.push_back(new claim::OnDevice<float>(std::vector<float>(host.size())));
  }
  const double seconds = claim::seconds_of([&] {
    CHECKED(cudaMemset(density.get(), 0, kCells * sizeof(float2)));
    deposit<<<blocks, kBlock>>>(bodies.get(), density.get(), n);
    transform_all(density.get(), other.get(), -1);
    for (int axis = 0; axis < 3; ++axis) {
      solve<<<kCells / kBlock, kBlock>>>(density.get(), force.get(), axis);
      transform_all(force.get(), other.get(), 1);
      read<<<blocks, kBlock>>>(bodies.get(), force.get(), forces[axis]->get(), n);
    }
  });
  // Linear theory gives the force: 4 pi times the mean density (1) times the displacement along x,
  // smoothed by CIC.
  const auto x = forces[0]->host(), y = forces[1]->host();
  claim::Error error;
  double across = 0;
  for (int i = 0; i < n; ++i) {
    error.add(x[i], 4 * kPi * displacement((static_cast<float>(i % side) + 0.5f) / side));
    across = std::fmax(across, std::fabs(y[i]));
  }
  for (claim::OnDevice<float>* one : forces) delete one;
  claim::Line line("particle_mesh");
  line.add("bodies", n);
  line.add("cells", kCells);
  line.add("seconds", seconds);
  line.add("error", error.rms());
  line.add("largest_force_across", across);
  return line.print(error.rms() < 0.03 && across < 1e-3);
}
