// GPU Gems 3, previous methods: block time steps. A body's time step is a power of two times the
// shortest time step. The power depends on the body's acceleration. Only bodies whose step ends
// get new forces. The other bodies drift too, because the forces depend on all positions.
//
//   block_time_steps [BODIES]
#include "claim.h"

namespace {

constexpr int kBlock = 256;
constexpr int kLongest = 16;  // the longest time step, in units of the shortest
constexpr float kDt = 1.0f / 512, kSoftening = 0.05f, kAccuracy = 0.05f;

__device__ inline float3 acceleration(const float4* x, float4 body, int n) {
  float3 a = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) {
    const float dx = x[j].x - body.x, dy = x[j].y - body.y, dz = x[j].z - body.z;
    const float inverse_distance = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening * kSoftening);
    const float s = x[j].w * inverse_distance * inverse_distance * inverse_distance;
    a.x += s * dx;
    a.y += s * dy;
    a.z += s * dz;
  }
  return a;
}

// Returns the longest time step that the acceleration allows and that may begin at this tick.
__device__ inline int period_of(float3 a, int tick) {
  const float size = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z);
  const float wanted = kAccuracy * sqrtf(kSoftening / size) / kDt;
  int period = 1;
  while (2 * period <= kLongest && 2 * period <= wanted && tick % (2 * period) == 0) period *= 2;
  return period;
}

// A body's old time step ends with half a kick, and its new one begins with half a kick.
__global__ void kick(const float4* x, float4* v, int* periods, unsigned long long* forces, int n,
                     int tick, int last, bool equal) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n || tick % periods[i] != 0) return;
  const float3 a = acceleration(x, x[i], n);
  atomicAdd(forces, 1ull);
  float time = tick > 0 ? periods[i] * kDt / 2 : 0.0f;
  if (tick < last) {
    periods[i] = equal ? 1 : period_of(a, tick);
    time += periods[i] * kDt / 2;
  }
  v[i].x += a.x * time;
  v[i].y += a.y * time;
  v[i].z += a.z * time;
}

__global__ void drift(float4* x, const float4* v, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  x[i].x += v[i].x * kDt;
  x[i].y += v[i].y * kDt;
  x[i].z += v[i].z * kDt;
}

struct Outcome {
  std::vector<float4> x;
  double forces, seconds;
};

Outcome simulated(const std::vector<float4>& start, int ticks, bool equal) {
  const int n = static_cast<int>(start.size()), blocks = (n - 1) / kBlock + 1;
  const claim::OnDevice<float4> x(start);
  const claim::OnDevice<float4> v(std::vector<float4>(start.size(), make_float4(0, 0, 0, 0)));
  const claim::OnDevice<int> periods(std::vector<int>(start.size(), 1));
  const claim::OnDevice<unsigned long long> forces({0});
  const auto begin = std::chrono::steady_clock::now();
  for (int tick = 0; tick <= ticks; ++tick) {
    kick<<<blocks, kBlock>>>(x.get(), v.get(), periods.get(), forces.get(), n, tick, ticks, equal);
    if (tick < ticks) drift<<<blocks, kBlock>>>(x.get(), v.get(), n);
  }
  CHECKED(cudaGetLastError());
  CHECKED(cudaDeviceSynchronize());
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return {x.host(), static_cast<double>(forces.host()[0]), time.count()};
}

// The cloud is dense in the middle, so that its bodies need very different time steps.
std::vector<float4> cloud(int n) {
  claim::Random random;
  std::vector<float4> bodies;
  for (int i = 0; i < n; ++i) {
    const float x = 2 * random.next() - 1, y = 2 * random.next() - 1, z = 2 * random.next() - 1;
    const float near = random.next() * 2;
    bodies.push_back(make_float4(near * x, near * y, near * z, 1.0f / static_cast<float>(n)));
  }
  return bodies;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 16384, ticks = 16 * kLongest;
  if (n < 2) {
    std::fprintf(stderr, "block_time_steps: needs at least 2 bodies\n");
    return 2;
  }
  const auto start = cloud(n);
  const Outcome equal = simulated(start, ticks, true), blocks = simulated(start, ticks, false);
  claim::Error error;
  for (std::size_t i = 0; i < start.size(); ++i) {
    error.add(blocks.x[i].x, equal.x[i].x);
    error.add(blocks.x[i].y, equal.x[i].y);
    error.add(blocks.x[i].z, equal.x[i].z);
  }
  claim::Line line("block_time_steps");
  line.add("bodies", n);
  line.add("forces_with_equal_steps", equal.forces);
  line.add("forces_with_block_steps", blocks.forces);
  line.add("seconds_with_equal_steps", equal.seconds);
  line.add("seconds_with_block_steps", blocks.seconds);
  line.add("difference", error.rms());
  return line.print(equal.forces == static_cast<double>(n) * (ticks + 1) &&
                    blocks.forces < 0.5 * equal.forces && error.rms() < 2e-3);
}
